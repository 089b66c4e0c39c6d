"""Figures 1 and 4: decision trees as model and explainer, and estimates by sample size."""

from typing import TYPE_CHECKING

from faithkit_paper.context import Context
from faithkit_paper.figures import (
    DATASETS,
    Split,
    draw_curves,
    estimate_curve,
    samples_needed,
    sizes_as_columns,
    split_dataset,
)
from faithkit_paper.findings import Cell, Findings, estimate_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "figure-trees"

select_shown = sizes_as_columns


def run(context: Context) -> Findings:
    """Measure trees of 2^6 to 2^11 leaves on five datasets."""
    return context.measure_each(NAME, DATASETS, measure_dataset)


def measure_dataset(context: Context, dataset: str) -> Findings:
    """Fit trees of all sizes, explain the test rows once, and draw samples of them."""
    rows = split_dataset(context, dataset, max_rows=context.pick(tiny=300, quick=35_000, full=None))
    exponents = context.pick(tiny=(3, 5), quick=range(6, 12), full=range(6, 12))
    cells = [cell for exponent in exponents for cell in measure_tree(context, dataset, rows, 2**exponent)]
    return Findings(tuple(cells), (rows.remark, REMARK))


REMARK = (
    "Runs are samples of one tree's test part. The estimate of sufficiency is that of consistency: a path "
    "applies to the rows that it explains and to no others (the CSV has both for the whole test part)."
)


def measure_tree(context: Context, dataset: str, rows: Split, leaves: int) -> list[Cell]:
    """Return the accuracy of a tree, its curve, and the sample size that it needs."""
    from sklearn.tree import DecisionTreeClassifier

    names = dataset, "tree", f"{leaves} leaves"
    model = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=context.seed_of(NAME, dataset, leaves))
    model.fit(rows.train, rows.y_train)
    result = context.evaluate(model, rows.test, "tree", background=rows.train)
    return [
        Cell(*names, "accuracy", float(model.score(rows.test, rows.y_test)), n=result.n),
        *estimate_curve(context, result, names, runs=context.pick(tiny=2, quick=5, full=5)),
        Cell(*names, "sufficiency", estimate_of(result.sufficiency), n=result.n),
        samples_needed(result, names),
    ]


def draw(findings: Findings) -> "Figure":
    """Draw the estimate against the number of samples."""
    return draw_curves(findings)
