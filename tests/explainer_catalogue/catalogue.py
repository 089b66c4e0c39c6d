"""The whole catalogue: all entries, what their runs show, and what must be true of them."""

from collections import Counter
from pathlib import Path

import attrs
import explainer_catalogue.honest  # each of the three registers its entries
import explainer_catalogue.lying
import explainer_catalogue.useless  # noqa: F401
import numpy as np
from explainer_catalogue.entry import ENTRIES, HONEST, KINDS
from explainer_catalogue.truth import find_truth

FILE = Path(__file__).parents[2] / "docs" / "catalogue.csv"
SEEDS = tuple(range(10))
FAITHFUL, NOT_FAITHFUL, ABOVE_ITS_CONTROL = "faithful", "not faithful", "better than its control"
BY_OBJECTION = "not faithful (objection)"
FEW_IN_SCOPE = "better than its control (few rows in scope)"

TRUE, MAX_CHANCE, LEAST_ROWS, LEAST_SHARE = 0.87, 0.8, 300, 0.95
CHECKED = 0.95  # what cannot be checked cannot be called faithful, however true it is

entries = sorted(ENTRIES, key=lambda entry: KINDS.index(entry.kind))


@attrs.frozen
class Runs:
    """What the runs of one entry show.

    Attributes
    ----------
    chance, checked : float
        Means over runs, of sufficiency, or of consistency where that alone was tested.
    verdicts : Counter
        How often each verdict was reached. "not faithful" although sufficiency may reach the level is
        counted apart: something else speaks against the explanations.
    """

    entry: object
    truth: float
    chance: float
    checked: float
    verdicts: Counter

    @property
    def n_runs(self):
        return self.verdicts.total()

    @property
    def is_expected_faithful(self):
        """Whether the verdict "faithful" is expected: honest, true, not true by chance, and large enough.

        Explanations that hold for no other row, or for fewer than ten, need more rows: the rules say so.
        """
        entry = self.entry
        return (
            entry.kind == HONEST
            and entry.reads_instances
            and entry.n >= LEAST_ROWS
            and self.truth >= TRUE
            and self.chance <= MAX_CHANCE
            and self.checked >= CHECKED
            and not self.verdicts[FEW_IN_SCOPE]
        )


def run_entry(entry, seeds=SEEDS, truth=None):
    """Evaluate an entry with its defaults, once for each seed; the truth is found by brute force if not given."""
    chances, shares, verdicts = [], [], Counter()
    for seed in seeds:
        result = entry.make(seed).evaluate(seed)
        sufficiency = result.sufficiency
        measure = result.consistency if sufficiency is None else sufficiency
        name = result.verdict.name
        if name == NOT_FAITHFUL and (measure.high is None or measure.high >= result.verdict.level):
            name = BY_OBJECTION
        if name == ABOVE_ITS_CONTROL and any(one.name == "scope" for one in result.objections):
            name = FEW_IN_SCOPE
        verdicts[name] += 1
        chances.append(np.nan if measure.chance is None else measure.chance)
        shares.append(measure.verified)
    truth = find_truth(entry)[0] if truth is None else truth
    chance = np.nan if np.isnan(chances).all() else float(np.nanmean(chances))
    return Runs(entry, truth, chance, float(np.mean(shares)), verdicts)


def broken_rules(all_runs):
    """Return a sentence for each rule of the verdict that these runs break."""
    broken = [
        f"{runs.entry.name} ({runs.entry.kind}) is called faithful in {runs.verdicts[FAITHFUL]} of {runs.n_runs} runs"
        for runs in all_runs
        if runs.entry.kind != HONEST and not runs.entry.uncatchable and runs.verdicts[FAITHFUL]
    ]
    broken += [
        f"{runs.entry.name} (honest) is not faithful by an objection in {runs.verdicts[BY_OBJECTION]} runs"
        for runs in all_runs
        if runs.entry.kind == HONEST and runs.verdicts[BY_OBJECTION]
    ]
    expected = [runs for runs in all_runs if runs.is_expected_faithful]
    n_runs, n_faithful = (
        sum(runs.n_runs for runs in expected),
        sum(runs.verdicts[FAITHFUL] for runs in expected),
    )
    if n_faithful < LEAST_SHARE * n_runs:
        worst = ", ".join(
            f"{runs.entry.name} {dict(runs.verdicts)}"
            for runs in expected
            if runs.verdicts[FAITHFUL] < runs.n_runs
        )
        broken.append(f"only {n_faithful} of {n_runs} honest runs are faithful; not all of: {worst}")
    return broken


HEADER = (
    *("entry", "kind", "explains by", "form", "rows", "truth", "chance", "checked"),
    *("faithful", "other verdicts", "not catchable because of"),
)


def _rounded(number):
    return "–" if np.isnan(number) else f"{number:.2f}"


def table_row(runs):
    """Return the line of the committed table: two digits, and how often each verdict was reached."""
    entry, others = runs.entry, runs.verdicts - Counter({FAITHFUL: runs.n_runs})
    return [
        *(entry.name, entry.kind, entry.family, entry.form, str(entry.n)),
        *(_rounded(runs.truth), _rounded(runs.chance), _rounded(runs.checked)),
        str(runs.verdicts[FAITHFUL]),
        "; ".join(f"{name} {count}" for name, count in sorted(others.items())),
        entry.uncatchable,
    ]
