"""Figure 2: a record of Adult, its anchors at two thresholds, and the counts behind its local measures.

N^s counts the test rows that the rule covers, N^c those whose own explanation is the same rule. A rule covers
the rows that it explains, so N^c asks for the explanations of covered rows alone.

The search draws rows, and another draw finds another rule. So the two printed rules are counted too: what
they cover depends on the data and the model only.
"""

from collections import Counter
from typing import Any

import attrs
import numpy as np
import pandas as pd

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings
from faithkit_paper.models import Trained, boosted

NAME = "figure-anchor-example"
RECORD = {
    "age": 38, "workclass": "Private", "fnlwgt": 89814, "education": "HS-grad", "education-num": 9,
    "marital-status": "Married-civ-spouse", "occupation": "Farming-fishing", "relationship": "Husband",
    "race": "White", "sex": "Male", "capital-gain": 0, "capital-loss": 0, "hours-per-week": 50,
    "native-country": "United-States",
}  # fmt: skip
PRINTED_RULES = {
    0.5: {"education-num": 9},
    0.95: {"education-num": 9, "capital-gain": 0, "fnlwgt": 116736},
}
"""Each column at most so much."""


@attrs.frozen(eq=False)
class Counted:
    """How many rows there are, and how many of them the model gives the record's label."""

    n: float
    same: float

    @classmethod
    def of(cls, rows: Any, trained: Trained, label: Any, scale: float = 1.0) -> "Counted":
        """Count rows; each stands for `scale` rows where they are a sample."""
        same = 0 if len(rows) == 0 else int((trained.model.predict(rows) == label).sum())
        return cls(len(rows) * scale, same * scale)

    def cells(self, names: tuple[str, str, str], sign: str, measure: str) -> list[Cell]:
        """Return the two counts, and the local measure that is their ratio."""
        ratio = self.same / self.n if self.n else None
        return [
            Cell(*names, sign, self.n),
            Cell(*names, f"{sign} same label", self.same),
            Cell(*names, measure, ratio),
        ]


def run(context: Context) -> Findings:
    """Count for both thresholds."""
    return context.each(NAME, ["adult"], measured)


def measured(context: Context, dataset: str) -> Findings:
    """Explain the record at each threshold, and count."""
    trained = boosted(context, dataset)
    record = pd.DataFrame([RECORD]).astype(trained.test.dtypes.to_dict())
    label = trained.model.predict(record)[0]
    said = f"The record's prediction is {label}; the paper's is <=50K."
    found = [at_threshold(context, trained, record, label, threshold) for threshold in PRINTED_RULES]
    joined = Findings.joined(found)
    return trained.findings(joined.cells, said, *joined.remarks)


def at_threshold(
    context: Context, trained: Trained, record: pd.DataFrame, label: Any, threshold: float
) -> Findings:
    """Count what the record's anchor covers, who shares it, and what the printed rule covers."""
    names = trained.dataset, "anchors", f"threshold={threshold}"
    rules = searched(context, trained, record, threshold)
    covered = trained.test[rules[0].covers(trained.test)]
    some = context.sample(covered, context.pick(tiny=3, quick=30, full=60), NAME, threshold)
    sharing = some[
        np.array([rule == rules[0] for rule in explained(context, trained, some, threshold)], dtype=bool)
    ]
    printed = covering(trained.test, PRINTED_RULES[threshold])
    scale = len(covered) / max(len(some), 1)
    cells = [
        *Counted.of(sharing, trained, label, scale).cells(names, "N^c", "local consistency"),
        *Counted.of(covered, trained, label).cells(names, "N^s", "local sufficiency"),
        *Counted.of(printed, trained, label).cells(
            (names[0], "the printed rule", names[2]), "N^s", "local sufficiency"
        ),
    ]
    return Findings(tuple(cells), remarks(threshold, rules, len(some), len(covered)))


def searched(
    context: Context, trained: Trained, record: pd.DataFrame, threshold: float
) -> list[faithkit.Rule]:
    """Return the record's rule and, after it, those that searches with other draws find."""
    others = range(1, context.pick(tiny=2, quick=5, full=20))
    seeds = [context.seed, *(context.seed_of(NAME, "search", number) for number in others)]
    return [explained(context, trained, record, threshold, seed=seed, progress=False)[0] for seed in seeds]


def explained(
    context: Context, trained: Trained, rows: pd.DataFrame, threshold: float, **options: Any
) -> Any:
    """Return the anchors of some rows."""
    if len(rows) == 0:
        return []
    # one candidate at a time is what anchor-exp does, whatever it is told
    anchors = f"anchors:threshold={threshold},beam_size=1,batch_size=300"
    # a category that no training row has cannot be perturbed: such a row shares its rule with nobody
    options = {"background": trained.train, "on_error": "record", **options}
    result = context.evaluate(trained.model, rows, anchors, **options)
    return result.sample.explanations.values


def remarks(threshold: float, rules: list[faithkit.Rule], sampled: int, covered: int) -> tuple[str, ...]:
    """Say which rules were found, and whether N^c is a guess."""
    said = [f"Threshold {threshold}: our rule is “{rules[0]}”."]
    often, times = Counter(map(str, rules)).most_common(1)[0]
    said.append(
        f"Threshold {threshold}: {len(rules)} searches with other draws found {len(set(rules))} rules, "
        f"most often “{often}” ({times} times)."
    )
    if sampled < covered:
        said.append(f"Threshold {threshold}: N^c is scaled up from {sampled} of {covered:,} covered rows.")
    return tuple(said)


def covering(rows: pd.DataFrame, most: dict[str, int]) -> pd.DataFrame:
    """Return the rows in which no column is above its limit."""
    return rows[np.logical_and.reduce([rows[column] <= limit for column, limit in most.items()])]
