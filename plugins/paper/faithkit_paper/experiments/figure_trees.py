"""Figures 1 and 4: decision trees as model and explainer, and the samples it takes to see that it is 1."""

from typing import TYPE_CHECKING

from faithkit_paper.context import Context
from faithkit_paper.curves import DATASETS, Split, by_size, curve, draw_curves, needed, split
from faithkit_paper.findings import Cell, Findings, estimate_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "figure-trees"

shown = by_size


def run(context: Context) -> Findings:
    """Measure trees of 2^6 to 2^11 leaves on five datasets."""
    return context.each(NAME, DATASETS, measured)


def measured(context: Context, dataset: str) -> Findings:
    """Fit trees of all sizes, explain the test part once, and take samples of it."""
    rows = split(context, dataset, most=context.pick(tiny=300, quick=35_000, full=200_000))
    exponents = context.pick(tiny=(3, 5), quick=range(6, 12), full=range(6, 12))
    cells = [cell for exponent in exponents for cell in of_tree(context, dataset, rows, 2**exponent)]
    return Findings(tuple(cells), (rows.remark, REMARK))


REMARK = (
    "Runs are samples of one tree's test part. The estimate of sufficiency is that of consistency: a path "
    "applies to the rows that it explains and to no others (the CSV has both for the whole test part)."
)


def of_tree(context: Context, dataset: str, rows: Split, leaves: int) -> list[Cell]:
    """Return the accuracy of a tree, its curve, and the samples it needs."""
    from sklearn.tree import DecisionTreeClassifier

    names = dataset, "tree", f"{leaves} leaves"
    model = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=context.seed_of(NAME, dataset, leaves))
    model.fit(rows.train, rows.y_train)
    result = context.evaluate(model, rows.test, "tree", background=rows.train)
    return [
        Cell(*names, "accuracy", float(model.score(rows.test, rows.y_test)), n=result.n),
        *curve(context, result, names, runs=context.pick(tiny=2, quick=5, full=5)),
        Cell(*names, "sufficiency", estimate_of(result.sufficiency), n=result.n),
        needed(result, names),
    ]


def draw(findings: Findings) -> "Figure":
    """Draw the estimate against the number of samples."""
    return draw_curves(findings)
