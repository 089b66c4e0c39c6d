"""Figure 5: nearest neighbours as model and explainer; larger k and N make more explanations.

The explanation of an instance is the set of its k nearest prototypes, and its label the most frequent of
theirs, so consistency is 1. The paper names neither the distance nor its k and N: here distances are
Euclidean between standardised columns, categories as ordinal codes.
"""

from typing import TYPE_CHECKING

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.curves import DATASETS, Split, by_size, curve, draw_curves, needed, split
from faithkit_paper.findings import Cell, Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "figure-knn"
NEIGHBOURS = (1, 3, 5)

shown = by_size


def run(context: Context) -> Findings:
    """Measure k-NN models of several k and N on five datasets."""
    return context.each(NAME, DATASETS, measured)


def measured(context: Context, dataset: str) -> Findings:
    """Fit models of all k and N, explain the test part once, and take samples of it."""
    rows = split(context, dataset, most=context.pick(tiny=250, quick=4_000, full=12_000))
    sizes = context.pick(tiny=(8, 32), quick=(100, 1_000), full=(100, 1_000, 5_000))
    cells = [
        cell for size in sizes for k in NEIGHBOURS for cell in of_neighbours(context, dataset, rows, k, size)
    ]
    said = "Runs are samples of one test part. The paper does not say its k and N, nor the distance."
    return Findings(tuple(cells), (rows.remark, said))


def of_neighbours(context: Context, dataset: str, rows: Split, k: int, size: int) -> list[Cell]:
    """Return the accuracy of a model, its curve, and the samples it needs."""
    names = dataset, "nearest-neighbor", f"k={k}, N={size:,}"
    parameters = {"k": k, "prototypes": size, "distance": "standardized", "seed": context.seed_of(NAME, size)}
    model = faithkit.plugin.registry().create("explainer", "nearest-neighbor", parameters)
    model.as_model(rows.train, rows.y_train)
    result = context.evaluate(model, rows.test, model)
    return [
        Cell(*names, "accuracy", float((model.predict(rows.test) == rows.y_test).mean()), n=result.n),
        *curve(context, result, names, runs=context.pick(tiny=2, quick=5, full=5)),
        needed(result, names),
    ]


def draw(findings: Findings) -> "Figure":
    """Draw the estimate against the number of samples."""
    return draw_curves(findings)
