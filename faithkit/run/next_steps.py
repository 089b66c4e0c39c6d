"""What to do next with a result: at most three sentences, computed from it and from its rows.

Every number in a sentence was found by doing what the sentence proposes: the planner forecasts rows, and
discretizers and relations are asked about the rows at hand. What cannot be found out in a short time is not
proposed, and a plugin that fails is not, either.
"""

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator, Mapping

import attrs
import pandas as pd

from faithkit.explanations.explanations import Sample
from faithkit.extension.registry import registry
from faithkit.inputs.rows import is_one_of
from faithkit.measure.estimate import UNVERIFIABLE, VERIFIABLE, Estimate
from faithkit.measure.finding import ABOVE, BELOW, NAMES_THE_LABEL, NOT_ABOVE, ONE_LABEL
from faithkit.measure.planning.forecast import FARTHEST, Pilot
from faithkit.measure.planning.plans import PilotPlan, plan_samples, rows_for_width
from faithkit.report.formats import number, outward, percent
from faithkit.run.comparisons.discretizer_variants import recommended, suitable, under, variants
from faithkit.run.components.discretization import learns
from faithkit.run.components.resolution import component
from faithkit.run.components.setup import Setup
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import Population, SavedPopulation

MOST = 3  # sentences
MOST_ROWS = 20_000  # that discretizers are asked about
MOST_RELATED = 10_000  # rows that relations are asked about, each against all
EPSILON = 0.05  # the unchecked share, and half of an interval's width, that are small enough
NOTICEABLY = 0.05  # how much more must be checked for a coarser explanation to be worth it

TOLD = {
    ONE_LABEL: "All explained predictions are the same, so nothing was tested: give rows that the model "
    "decides differently.",
    NAMES_THE_LABEL: "Each prediction has one explanation, which may be no more than its name: read them, "
    "and explain by something else if they say no more than the prediction.",
}


@attrs.frozen(eq=False)
class Stage:
    """A result, as far as steps lead on from it."""

    n: int
    measures: Mapping[str, Estimate]
    setup: Setup
    population: Population
    pool: int | None
    unexplained: int

    @property
    def consistency(self) -> Estimate:
        """The one measure that every result has."""
        return self.measures["consistency"]

    @property
    def judged(self) -> Estimate:
        """The measure of which violations are shown."""
        return self.measures.get("sufficiency", self.consistency)

    @property
    def many_unexplained(self) -> bool:
        """Whether more rows have no explanation than may stay unchecked."""
        return self.unexplained > EPSILON * self.n

    @property
    def at_hand(self) -> bool:
        """Whether there are rows, and so few that they can be asked about again in passing."""
        return not isinstance(self.population, SavedPopulation) and self.n <= MOST_ROWS


def next_steps(stage: Stage) -> list[str]:
    """Say what to do next, the most useful first.

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score(["yes"] * 3, ["a", "a", "b"]).next_steps
    ['All explained predictions are the same, so nothing was tested: give rows that the model ...']
    """
    told = TOLD.get(stage.consistency.finding or "")
    if told is not None:
        return [told]
    with warnings.catch_warnings():  # nobody asked for what is tried here
        warnings.simplefilter("ignore")
        checking = _more_rows(stage, "consistency"), _coarser(stage), _more_to_check(stage), _relation(stage)
        steps = [step for part in (_unexplained(stage), *checking) for step in _whatever_fails(part)]
    return steps[:MOST] or [_last(stage)]


def _whatever_fails(part: Iterator[str]) -> list[str]:
    """Return no steps where somebody's plugin fails even to be listed: a result can always be printed."""
    with contextlib.suppress(Exception):
        return list(part)
    return []


def _unexplained(stage: Stage) -> Iterator[str]:
    """Say that rows without an explanation stay unchecked, whatever else is done."""
    if stage.many_unexplained:
        yield (
            f"{stage.unexplained:,} of {stage.n:,} rows have no explanation, and cannot be checked: "
            "result.why_unexplained says what is known of the reasons."
        )


def _more_rows(stage: Stage, measure: str) -> Iterator[str]:
    """Forecast how many rows leave little unchecked, or make a wide interval narrow."""
    found, pilot, plan = stage.measures[measure], _pilot(stage, measure), _plan(stage, measure)
    if pilot is None or plan is None:
        return
    enough = plan.unverified[1]
    wide = found.low is not None and found.high is not None and found.high - found.low > 2 * EPSILON
    if found.verified < VERIFIABLE:
        if enough is not None and enough > stage.n:
            yield f"About {enough:,} rows would leave at most {percent(EPSILON)} unchecked in {measure}."
    elif wide and (narrow := rows_for_width(pilot, EPSILON)) is not None and narrow > stage.n:
        yield f"About {narrow:,} rows would narrow the interval of {measure} to ± {EPSILON:g}."


def _pilot(stage: Stage, measure: str) -> Pilot | None:
    """Return the result as its own pilot; None where rows are no independent ones that count alike.

    Many rows without an explanation are nothing to plan with, which would take them for rare explanations.
    """
    found = stage.measures[measure]
    if found.others is None or found.moments is None or stage.many_unexplained:
        return None
    return Pilot(found.others, found.moments, found.confidence)


def _plan(stage: Stage, measure: str) -> PilotPlan | None:
    """Plan with that pilot."""
    pilot = _pilot(stage, measure)
    if pilot is None:
        return None
    with contextlib.suppress(ArithmeticError, ValueError):  # a file may say what no sample could
        return plan_samples(EPSILON, pilot=pilot, measure=measure).from_pilot
    return None


def _coarser(stage: Stage) -> Iterator[str]:
    """Try the discretizers that take these explanations, and name one under which more can be checked."""
    if stage.consistency.verified >= VERIFIABLE or not stage.at_hand:
        return
    names = [*suitable(stage.population.kind), *variants(stage.population.kind)]
    own = stage.consistency
    best = _best(names, lambda text: _under(text, stage), own.verified, own)
    if best is not None:
        yield _proposed("discretizer", "--discretize", "consistency", *best)


def _under(text: str, stage: Stage) -> Estimate | None:
    """Estimate consistency under a discretizer that need not learn: then nobody has to explain again."""
    given = component("discretizer", text)
    if text == stage.setup.discretizer.text or learns(given):
        return None
    return under(given, stage.population, stage.setup, stage.consistency.verified + NOTICEABLY)


def _more_to_check(stage: Stage) -> Iterator[str]:
    """Say how sufficiency can be checked of more rows: by a pool where the relation reads instances only."""
    found, relation = stage.measures.get("sufficiency"), stage.setup.applies.relation
    if found is None:
        return
    if relation is None or not relation.instance_only or stage.pool is not None:
        yield from _more_rows(stage, "sufficiency")
    elif found.verified < VERIFIABLE:
        plan = _plan(stage, "sufficiency")
        enough = None if plan is None else plan.unverified[1]
        many = "Further rows" if enough is None or enough <= stage.n else f"About {enough - stage.n:,} rows"
        yield (
            f"{many} that nobody has to explain would let more of sufficiency be checked: give them as a "
            "pool (pool=, CLI: --pool)."
        )


def _relation(stage: Stage) -> Iterator[str]:
    """Ask the relations that take these explanations, where sufficiency says nothing yet."""
    found = stage.measures.get("sufficiency")
    known = found is not None and found.verified > UNVERIFIABLE
    if known or stage.n > MOST_RELATED or not isinstance(stage.population, InMemory):
        return
    if not _are_of_these_columns(stage.population.sample):
        return
    checked = 0.0 if found is None else found.verified
    best = _best(_relations(stage.population), lambda name: _related(name, stage), checked)
    if best is not None:
        yield _proposed("relation", "--relation", "sufficiency", *best)


def _are_of_these_columns(sample: Sample) -> bool:
    """Whether the names of vectors end in those of the columns: `phi_age` is about `age`."""
    names = sample.explanations.shared.get("names")
    if names is None or not isinstance(sample.X, pd.DataFrame):
        return True
    columns = list(map(str, sample.X.columns))
    return len(names) == len(columns) and all(map(str.endswith, map(str, names), columns))


def _relations(population: Population) -> list[str]:
    """Name the installed relations that take explanations of this kind and rows of this form."""
    known, X = registry(), population.sample.X
    pairs = zip(known.entries("relation"), known.names("relation"), strict=True)
    return [
        name
        for entry, name in pairs
        if population.kind in (entry.component.kinds or (population.kind,))
        and (X is None or is_one_of(X, entry.component.inputs))
    ]


def _related(name: str, stage: Stage) -> Estimate | None:
    relation = component("relation", name).instance
    if relation.groups:  # that is consistency, or a coarser one
        return None
    asked = stage.population.fitted(relation, stage.setup.background)
    setup = attrs.evolve(stage.setup, permutations=0)
    return stage.population.estimate(stage.population.count(asked), setup)


def _best(
    names: list[str], ask: Callable[[str], Estimate | None], checked: float, own: Estimate | None = None
) -> tuple[str, Estimate] | None:
    """Return what to recommend of all that lets noticeably more be checked.

    If there is any such, it finds more than chance, halves what is unchecked, and is as good as one's own.
    """
    found: list[tuple[str, Estimate]] = []
    for name in names:
        with contextlib.suppress(Exception):  # what fails is no step to propose
            one = ask(name)
            if one is not None and one.verified >= checked + NOTICEABLY:
                found.append((name, one))
    found = [pair for pair in found if pair[1].finding == ABOVE] or found
    found = [pair for pair in found if pair[1].verified >= (1 + checked) / 2] or found
    tried = [one for _, one in found]
    place = recommended(tried if own is None else [*tried, own])
    if place == len(tried):
        place = recommended(tried)
    return None if place is None else found[place]


def _proposed(argument: str, flag: str, measure: str, text: str, found: Estimate) -> str:
    level = f"the estimate of {measure} is {number(found.estimate)}"
    if found.low is not None:
        level += f" (interval {outward(found.low, found.high)})"
    if found.finding != ABOVE:
        level += ", which is not shown to be above chance"
    return (
        f"With {argument}={text!r} (CLI: {flag} {text}), {percent(found.verified)} of these rows could be "
        f"checked, and {level}. It was chosen on these rows: report it on others."
    )


def _last(stage: Stage) -> str:
    """Say what is left to do where no number of rows and nothing that is installed would help."""
    if stage.judged.verified < VERIFIABLE:
        return _by_hand(stage)
    worst = "result.violations() (CLI: --violations 5) shows"
    if isinstance(stage.population, SavedPopulation):
        worst = "evaluate or score the rows again, and violations() (CLI: --violations 5) shows"
    if stage.judged.finding == BELOW:
        return f"Explanations tell less of the prediction than chance: {worst} which contradict it."
    if stage.judged.finding == NOT_ABOVE:
        more = "More rows may show more than chance" if _may_be_shown(stage.judged) else _as_chance(stage.n)
        return f"{more}; {worst} explanations that contradict each other."
    measured = "sufficiency" if "sufficiency" in stage.measures else "consistency"
    if stage.judged.bracket[1] < 1:
        shown = f"{worst} the explanations that hold for different predictions"
        return f"Of {measured} no more has to be measured: {shown}."
    return f"Of {measured} no more has to be measured: whatever could be checked agrees."


def _may_be_shown(found: Estimate) -> bool:
    """Whether eight times the rows would lift the lower end above chance, were the estimate to stay."""
    if found.low is None or found.chance is None:
        return False
    return found.estimate - (found.estimate - found.low) / math.sqrt(FARTHEST) > found.chance


def _as_chance(rows: int) -> str:
    return f"As far as {rows:,} rows show, explanations tell no more of the prediction than chance"


def _by_hand(stage: Stage) -> str:
    if stage.at_hand:
        return (
            "Nothing that is installed lets more be checked: give a function from explanations to coarser "
            f"ones (discretizer=){_by_rows(stage)}."
        )
    named = "name a discretizer (discretizer=, CLI: --discretize)"
    tried = (
        ""
        if isinstance(stage.population, SavedPopulation)
        else ", which faithkit.try_discretizers(result) tries"
    )
    return f"Of coarser explanations more can be checked: {named}{tried}{_by_rows(stage)}."


def _by_rows(stage: Stage) -> str:
    """Say what the forecast rules out, where it cannot tell how many rows would do."""
    plan, left = _plan(stage, "consistency"), f"{percent(EPSILON)} unchecked"
    if plan is None:
        return ""
    few = plan.unverified[0]
    if few is None:
        return f"; even {FARTHEST} times the rows would leave more than {left}"
    if few > stage.n:
        return f"; or more rows: at least {few:,} are needed to leave {left}"
    return f"; or more rows: these are too few to tell how many leave {left}"
