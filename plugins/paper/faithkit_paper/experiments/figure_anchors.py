"""Figures 3 and 6: anchors on gradient boosted trees, and what the threshold does to them.

Consistency compares the explained rows with each other. Sufficiency only needs the labels of the rows that a
rule covers, so it is measured on all test rows.
"""

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from faithkit_paper.context import Context
from faithkit_paper.discretization_tables import Reading, as_seen_by_explainer, background
from faithkit_paper.figures import create_panels, draw_line
from faithkit_paper.findings import Cell, Findings, cells_of_runs, check_trend, with_interval
from faithkit_paper.models import DATASETS, TrainedModel, train_model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "figure-anchors"
MEASURES = ("consistency", "sufficiency", "uniqueness", "n_explanations")
EXPLAINER = "anchors:beam_size=1,batch_size=300,threshold={}"
"""anchor-exp, the authors' code, really uses a beam of one. Larger batches suit slow models."""

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
PUBLISHED = Reading(EXPLAINER, table="published")
TINY = {"": 2, "bank-marketing": 12}
QUICK = {"": 10, "bank-marketing": 40, "chess": 4, "avila": 4, "covtype": 2}
FULL = {"": 2_000}


def run(context: Context) -> Findings:
    """Measure every threshold on six datasets, and check the paper's trends."""
    findings = context.measure_each(NAME, DATASETS, measure_dataset)
    trends = [
        check_trend(findings.cells, measure, rises, threshold_of)
        for measure, rises in (("sufficiency", True), ("uniqueness", True), ("consistency", False))
    ]
    return attrs.evolve(findings, remarks=(*findings.remarks, *trends))


def measure_dataset(context: Context, dataset: str) -> Findings:
    """Measure anchors of every threshold on the same rows."""
    model = train_model(context, dataset)
    seen_model = as_seen_by_explainer(context, model, PUBLISHED)
    X = seen_model.test[: size(context, dataset)]  # the split is in random order
    options = {"background": background(context, seen_model)}
    cells: list[Cell] = []
    ends = THRESHOLDS[:: len(THRESHOLDS) - 1]  # both ends show the trend
    for threshold in context.pick(tiny=(0.5, 0.6), quick=ends, full=THRESHOLDS):
        result = context.evaluate(seen_model.model, X, EXPLAINER.format(threshold), **options)
        names = dataset, "anchors", f"threshold={threshold}"
        consistency, *remaining = cells_of_runs(
            *names, [result], ("consistency", "uniqueness", "n_explanations")
        )
        cells += [
            consistency,
            mean_precision(names, precisions(result, seen_model)),
            *remaining,
        ]
    remark = f"{dataset}: {len(X):,} of {len(seen_model.test):,} test rows were explained."
    return model.findings(cells, remark, "Sufficiency: each anchor is checked on all test rows.")


def mean_precision(names: tuple[str, str, str], shares: np.ndarray) -> Cell:
    """Return the sufficiency with its interval: the mean over the explained rows."""
    cell = Cell(*names, "sufficiency", float(shares.mean()), n=len(shares))
    return with_interval(cell, [float(shares.std(ddof=1) / np.sqrt(len(shares)))])


def precisions(result: Any, seen_model: TrainedModel) -> np.ndarray:
    """Return for each anchor the share of other covered rows that have the label of its row."""
    labels = np.asarray(seen_model.model.predict(seen_model.test))
    row_labels = np.asarray(result.rows.row_predictions)
    shares = []
    for rule, label in zip(result.rows.explanations.values, row_labels, strict=True):
        scope_labels = labels[:0] if rule is None else labels[rule.covers(seen_model.test)]
        shares.append(
            (np.sum(scope_labels == label) - 1) / (len(scope_labels) - 1) if len(scope_labels) > 1 else 0.0
        )
    return np.array(shares)


def size(context: Context, dataset: str) -> int:
    """Return the number of explained rows, which is smaller for slow models."""
    rows = context.pick(tiny=TINY, quick=QUICK, full=FULL)
    return rows.get(dataset, rows[""])


def threshold_of(cell: Cell) -> float:
    """Return the threshold of a cell."""
    return float(cell.setting.partition("=")[2])


def draw(findings: Findings) -> "Figure":
    """Draw the measures against the threshold, a panel for each dataset."""
    cells = [cell for cell in findings.cells if cell.measure in MEASURES[:3]]
    figure, axes = create_panels(list(dict.fromkeys(cell.dataset for cell in cells)))
    for dataset, ax in axes.items():
        for number, measure in enumerate(MEASURES[:3]):
            panel_cells = [cell for cell in cells if (cell.dataset, cell.measure) == (dataset, measure)]
            draw_line(
                ax,
                number,
                measure if measure != "uniqueness" else "distinct explanations / n",
                [threshold_of(cell) for cell in panel_cells],
                [cell.ours or 0.0 for cell in panel_cells],
            )
        ax.set(ylim=(0, 1.02), xlabel="threshold")
        ax.legend(fontsize=6, loc="best")
    return figure
