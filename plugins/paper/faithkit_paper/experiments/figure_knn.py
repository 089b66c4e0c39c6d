"""Figure 5: nearest neighbours as model and explainer; larger k and N give more explanations.

The explanation of an instance is the set of its k nearest prototypes, and its label is their most frequent
label, so consistency is 1. The paper states neither the distance nor its k and N. Here distances are
Euclidean between standardised columns, with ordinal codes for categories.
"""

from typing import TYPE_CHECKING

import faithkit
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
from faithkit_paper.findings import Cell, Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "figure-knn"
NEIGHBOURS = (1, 3, 5)

select_shown = sizes_as_columns


def run(context: Context) -> Findings:
    """Measure k-NN models of several k and N on five datasets."""
    return context.measure_each(NAME, DATASETS, measure_dataset)


def measure_dataset(context: Context, dataset: str) -> Findings:
    """Fit models of all k and N, explain the test rows once, and draw samples of them."""
    rows = split_dataset(context, dataset, max_rows=context.pick(tiny=250, quick=4_000, full=12_000))
    sizes = context.pick(tiny=(8, 32), quick=(100, 1_000), full=(100, 1_000, 5_000))
    cells = [
        cell
        for size in sizes
        for k in NEIGHBOURS
        for cell in measure_neighbours(context, dataset, rows, k, size)
    ]
    remark = "Runs are samples of one test part. The paper does not say its k and N, nor the distance."
    return Findings(tuple(cells), (rows.remark, remark))


def measure_neighbours(context: Context, dataset: str, rows: Split, k: int, size: int) -> list[Cell]:
    """Return the accuracy of a model, its curve, and the sample size that it needs."""
    names = dataset, "nearest-neighbor", f"k={k}, N={size:,}"
    parameters = {"k": k, "prototypes": size, "distance": "standardized", "seed": context.seed_of(NAME, size)}
    model = faithkit.plugin.registry().create("explainer", "nearest-neighbor", parameters)
    model.as_model(rows.train, rows.y_train)
    result = context.evaluate(model, rows.test, model)
    return [
        Cell(*names, "accuracy", float((model.predict(rows.test) == rows.y_test).mean()), n=result.n),
        *estimate_curve(context, result, names, runs=context.pick(tiny=2, quick=5, full=5)),
        samples_needed(result, names),
    ]


def draw(findings: Findings) -> "Figure":
    """Draw the estimate against the number of samples."""
    return draw_curves(findings)
