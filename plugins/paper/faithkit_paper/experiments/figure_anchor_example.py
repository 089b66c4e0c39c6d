"""Figure 2: a record of Adult, its anchors at two thresholds, and the counts behind its local measures.

N^s counts the test rows that the rule covers, and N^c those that are explained by the same rule. A rule
covers the rows that it explains, so N^c only needs the explanations of covered rows.

The search is random, so another seed may find another rule. The two printed rules are therefore counted as
well: their counts depend only on the data and the model.
"""

from collections import Counter
from typing import Any

import attrs
import numpy as np
import pandas as pd

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings
from faithkit_paper.models import TrainedModel, train_model

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
"""By threshold, the upper limit of each column."""


@attrs.frozen(eq=False)
class LabelCounts:
    """The number of rows, and of those that have the predicted label of the record."""

    n: float
    same: float

    @classmethod
    def of(cls, rows: Any, model: TrainedModel, label: Any, scale: float = 1.0) -> "LabelCounts":
        """Count rows. In a sample, each row stands for `scale` rows."""
        same = 0 if len(rows) == 0 else int((model.model.predict(rows) == label).sum())
        return cls(len(rows) * scale, same * scale)

    def cells(self, names: tuple[str, str, str], sign: str, measure: str) -> list[Cell]:
        """Return the two counts, and their ratio, which is the local measure."""
        ratio = self.same / self.n if self.n else None
        return [
            Cell(*names, sign, self.n),
            Cell(*names, f"{sign} same label", self.same),
            Cell(*names, measure, ratio),
        ]


def run(context: Context) -> Findings:
    """Count for both thresholds."""
    return context.measure_each(NAME, ["adult"], measure_dataset)


def measure_dataset(context: Context, dataset: str) -> Findings:
    """Explain the record at each threshold, and count covered rows."""
    model = train_model(context, dataset)
    record = pd.DataFrame([RECORD]).astype(model.test.dtypes.to_dict())
    label = model.model.predict(record)[0]
    remark = f"The record's prediction is {label}; the paper's is <=50K."
    findings = [at_threshold(context, model, record, label, threshold) for threshold in PRINTED_RULES]
    joined = Findings.concatenate(findings)
    return model.findings(joined.cells, remark, *joined.remarks)


def at_threshold(
    context: Context, model: TrainedModel, record: pd.DataFrame, label: Any, threshold: float
) -> Findings:
    """Count the rows that the anchor covers, that share it, and that the printed rule covers."""
    names = model.dataset, "anchors", f"threshold={threshold}"
    rules = search_rules(context, model, record, threshold)
    scope_rows = model.test[rules[0].covers(model.test)]
    sampled = context.sample(scope_rows, context.pick(tiny=3, quick=30, full=2_000), NAME, threshold)
    sharing = sampled[
        np.array([rule == rules[0] for rule in explain_rows(context, model, sampled, threshold)], dtype=bool)
    ]
    printed = rows_within_limits(model.test, PRINTED_RULES[threshold])
    scale = len(scope_rows) / max(len(sampled), 1)
    cells = [
        *LabelCounts.of(sharing, model, label, scale).cells(names, "N^c", "local consistency"),
        *LabelCounts.of(scope_rows, model, label).cells(names, "N^s", "local sufficiency"),
        *LabelCounts.of(printed, model, label).cells(
            (names[0], "the printed rule", names[2]), "N^s", "local sufficiency"
        ),
    ]
    return Findings(tuple(cells), remarks(threshold, rules, len(sampled), len(scope_rows)))


def search_rules(
    context: Context, model: TrainedModel, record: pd.DataFrame, threshold: float
) -> list[faithkit.Rule]:
    """Return the rule of the record, followed by the rules that other seeds find."""
    numbers = range(1, context.pick(tiny=2, quick=5, full=20))
    seeds = [context.seed, *(context.seed_of(NAME, "search", number) for number in numbers)]
    return [explain_rows(context, model, record, threshold, seed=seed, progress=False)[0] for seed in seeds]


def explain_rows(
    context: Context, model: TrainedModel, rows: pd.DataFrame, threshold: float, **options: Any
) -> Any:
    """Return the anchors of rows."""
    if len(rows) == 0:
        return []
    # anchor-exp keeps one candidate, whatever its options say
    anchors = f"anchors:threshold={threshold},beam_size=1,batch_size=300"
    # a row with a category that is not in training cannot be perturbed, and shares its rule with no row
    options = {"background": model.train, "on_error": "record", **options}
    result = context.evaluate(model.model, rows, anchors, **options)
    return result.rows.explanations.values


def remarks(threshold: float, rules: list[faithkit.Rule], sampled: int, scope_rows: int) -> tuple[str, ...]:
    """Return remarks on the rules, and on whether N^c is an extrapolation."""
    lines = [f"Threshold {threshold}: our rule is “{rules[0]}”."]
    most_frequent, times = Counter(map(str, rules)).most_common(1)[0]
    lines.append(
        f"Threshold {threshold}: {len(rules)} searches with other draws found {len(set(rules))} rules, "
        f"most often “{most_frequent}” ({times} times)."
    )
    if sampled < scope_rows:
        lines.append(
            f"Threshold {threshold}: N^c is scaled up from {sampled} of {scope_rows:,} covered rows."
        )
    return tuple(lines)


def rows_within_limits(rows: pd.DataFrame, limits: dict[str, int]) -> pd.DataFrame:
    """Return the rows in which no column is above its limit."""
    return rows[np.logical_and.reduce([rows[column] <= limit for column, limit in limits.items()])]
