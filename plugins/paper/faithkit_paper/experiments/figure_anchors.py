"""Figures 3 and 6: anchors on gradient boosted trees, and what the threshold does to them."""

from typing import TYPE_CHECKING

import attrs

from faithkit_paper.context import Context
from faithkit_paper.figures import half_width, line, panels
from faithkit_paper.findings import Cell, Findings, cells_of_runs
from faithkit_paper.models import DATASETS, boosted
from faithkit_paper.orderings import trend
from faithkit_paper.readings import background

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "figure-anchors"
MEASURES = ("consistency", "sufficiency", "uniqueness", "n_explanations")
EXPLAINER = "anchors:beam_size=1,batch_size=300,threshold={}"
"""A beam of one is what anchor-exp, the authors' own code, really does; larger batches suit slow models."""

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def run(context: Context) -> Findings:
    """Measure every threshold on six datasets, and say whether the paper's trends show."""
    found = context.each(NAME, DATASETS, measured)
    trends = [
        trend(found.cells, measure, rises, threshold_of)
        for measure, rises in (("sufficiency", True), ("uniqueness", True), ("consistency", False))
    ]
    return attrs.evolve(found, remarks=(*found.remarks, *trends))


def measured(context: Context, dataset: str) -> Findings:
    """Measure anchors of every threshold on the same rows."""
    trained = boosted(context, dataset)
    thresholds = context.pick(tiny=(0.5, 0.6), quick=(0.5, 0.6, 0.7), full=THRESHOLDS)
    runs, rows = context.pick(tiny=1, quick=1, full=2), size(context, dataset)
    samples = [context.sample(trained.test, rows, NAME, dataset, run) for run in range(runs)]
    known = background(context, trained)
    cells: list[Cell] = []
    for threshold in thresholds:
        explainer = EXPLAINER.format(threshold)
        results = [
            context.evaluate(
                trained.model, X, explainer, background=known, seed=context.seed_of(NAME, dataset, run)
            )
            for run, X in enumerate(samples)
        ]
        cells += cells_of_runs(dataset, "anchors", f"threshold={threshold}", results, MEASURES)
    told = f"{dataset}: {runs} sample{'s' if runs > 1 else ''} of {len(samples[0]):,} test rows."
    return trained.findings(cells, told)


def size(context: Context, dataset: str) -> int:
    """Return how many rows a run has: fewer where the model has many classes, and takes long to answer."""
    many = dataset in ("chess", "avila", "covtype")
    return context.pick(tiny=2, quick=12 if many else 30, full=300 if many else 1_000)


def threshold_of(cell: Cell) -> float:
    """Return the threshold of a cell."""
    return float(cell.setting.partition("=")[2])


def draw(findings: Findings) -> "Figure":
    """Draw the measures against the threshold, a panel for each dataset."""
    cells = [cell for cell in findings.cells if cell.measure in MEASURES[:3]]
    figure, axes = panels(list(dict.fromkeys(cell.dataset for cell in cells)))
    for dataset, ax in axes.items():
        for number, measure in enumerate(MEASURES[:3]):
            mine = [cell for cell in cells if (cell.dataset, cell.measure) == (dataset, measure)]
            line(
                ax,
                number,
                measure if measure != "uniqueness" else "distinct explanations / n",
                [threshold_of(cell) for cell in mine],
                [cell.ours or 0.0 for cell in mine],
                [half_width(cell.std, cell.runs) for cell in mine],
            )
        ax.set(ylim=(0, 1.02), xlabel="threshold")
        ax.legend(fontsize=6, loc="best")
    return figure
