"""Figures 3 and 6: anchors on gradient boosted trees, and what the threshold does to them.

A search takes up to seconds, so few rows are explained. Consistency compares these with each other.
Sufficiency asks of a rule only where it applies, and of the rows there only their labels: it is measured on
the whole test part.
"""

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from faithkit_paper.boosters import BY_HISTOGRAM
from faithkit_paper.context import Context
from faithkit_paper.figures import line, panels
from faithkit_paper.findings import Cell, Findings, cells_of_runs
from faithkit_paper.models import DATASETS, Trained, boosted
from faithkit_paper.orderings import trend
from faithkit_paper.readings import Reading, background, seen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "figure-anchors"
MEASURES = ("consistency", "sufficiency", "uniqueness", "n_explanations")
EXPLAINER = "anchors:beam_size=1,batch_size=300,threshold={}"
"""A beam of one is what anchor-exp, the authors' own code, really does; larger batches suit slow models."""

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
PUBLISHED = Reading(EXPLAINER, table="published")
TINY = {"": 2, "bank-marketing": 12}
QUICK = {"": 10, "bank-marketing": 60, "chess": 6, "avila": 6, "covtype": 2}
FULL = {"": 40, "bank-marketing": 120, "adult": 60, "chess": 50, "covtype": 5}


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
    part = seen(context, trained, PUBLISHED)
    X = context.sample(part.test, size(context, dataset), NAME, dataset)
    given = {"background": background(context, part), "seed": context.seed_of(NAME, dataset)}
    cells: list[Cell] = []
    # the ends tell the trend, and where a row takes seconds there is no time for more
    few = THRESHOLDS[:: len(THRESHOLDS) - 1]
    full = few if dataset in BY_HISTOGRAM else THRESHOLDS
    for threshold in context.pick(tiny=(0.5, 0.6), quick=few, full=full):
        result = context.evaluate(part.model, X, EXPLAINER.format(threshold), **given)
        names = dataset, "anchors", f"threshold={threshold}"
        first, *others = cells_of_runs(*names, [result], ("consistency", "uniqueness", "n_explanations"))
        cells += [first, Cell(*names, "sufficiency", sufficiency(result, part), n=result.n), *others]
    told = f"{dataset}: {len(X):,} of {len(part.test):,} test rows were explained."
    return trained.findings(cells, told, "Sufficiency: each anchor is checked on all test rows.")


def sufficiency(result: Any, part: Trained) -> float:
    """Return the share of other rows under a row's anchor that have its label: the mean over anchors."""
    labels = np.asarray(part.model.predict(part.test))
    own = np.asarray(result.labels.classes)[result.labels.codes]
    shares = []
    for rule, label in zip(result.sample.explanations.values, own, strict=True):
        met = labels[:0] if rule is None else labels[rule.covers(part.test)]
        shares.append((np.sum(met == label) - 1) / (len(met) - 1) if len(met) > 1 else 0.0)
    return float(np.mean(shares))


def size(context: Context, dataset: str) -> int:
    """Return how many rows are explained: fewer where the model takes long to answer."""
    rows = context.pick(tiny=TINY, quick=QUICK, full=FULL)
    return rows.get(dataset, rows[""])


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
            )
        ax.set(ylim=(0, 1.02), xlabel="threshold")
        ax.legend(fontsize=6, loc="best")
    return figure
