"""The figure of section 5.3: two populations of Adult, and which of four explainers is best in each.

The first population takes each test example of label ``<=50K`` with probability 0.75 and each of label
``>50K`` with 0.25; the second takes the rest. (So the figure's caption; the text words it the other way.) All
four explain the same rows: what an estimate misses depends on how many there are.
"""

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

import faithkit
from faithkit_paper.context import Context
from faithkit_paper.experiments import table_counterfactuals, table_lime, table_shap
from faithkit_paper.figures import COLOURS, panels
from faithkit_paper.findings import Cell, Findings, estimate_of, over_runs
from faithkit_paper.models import Trained, boosted
from faithkit_paper.readings import Explained, Reading, explain, seen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "figure-populations"
DATASET = "adult"
POPULATIONS = ("population 1", "population 2")
SHARES = {"<=50K": 0.75, ">50K": 0.25}
"""The probability of being in the first population, by label."""

EXPLAINERS: dict[str, tuple[Reading, str]] = {
    "anchors": (Reading("anchors:beam_size=1,batch_size=300,threshold=0.7", table="published"), "original"),
    "shap": (table_shap.TABLE.reading, "1fp"),
    "lime": (table_lime.TABLE.reading, "1fp"),
    "dice": (table_counterfactuals.TABLE.reading, "delta-sign"),
}
RUNS = 5


def run(context: Context) -> Findings:
    """Measure four explainers in both populations, and say which is best in each."""
    found = context.each(NAME, [DATASET], measured)
    return attrs.evolve(found, remarks=(*found.remarks, best(found.cells)))


def measured(context: Context, dataset: str) -> Findings:
    """Explain one sample by all four, and draw the populations from it five times."""
    trained = boosted(context, dataset)
    n = context.pick(tiny=40, quick=60, full=1_200)
    rows = context.rng(NAME).permutation(len(trained.test))[:n]
    drawn = [in_first(context, np.asarray(trained.y_test)[rows], run) for run in range(RUNS)]
    cells = []
    for name, (reading, discretizer) in EXPLAINERS.items():
        context.tell(f"{NAME}: {name}")
        explained = of_rows(context, trained, reading, rows)
        cells += populations(dataset, name, explained, reading.discretizer(discretizer), drawn)
    return trained.findings(
        cells,
        f"Populations are drawn {RUNS} times from the same {len(rows):,} test rows. The fewer rows, the more "
        "the explainer with the fewest distinct explanations is favoured.",
        *(f"{name}: {discretizer} of {reading}." for name, (reading, discretizer) in EXPLAINERS.items()),
    )


def of_rows(context: Context, trained: Trained, reading: Reading, rows: np.ndarray) -> Explained:
    """Explain some rows of the test part."""
    X = faithkit.plugin.take_rows(seen(context, trained, reading).test, rows)
    return explain(context, trained, reading, X, context.seed_of(NAME))


def in_first(context: Context, y: np.ndarray, run: int) -> np.ndarray:
    """Draw which rows are in the first population, by their label."""
    shares = np.array([SHARES[label] for label in y.tolist()])
    first: np.ndarray = context.rng(NAME, "populations", run).random(len(y)) < shares
    return first


def populations(
    dataset: str, name: str, explained: Explained, discretizer: str, drawn: list[np.ndarray]
) -> list[Cell]:
    """Return the consistency in each population, over several draws of them."""
    cells = []
    for population, wanted in zip(POPULATIONS, (True, False), strict=True):
        parts = [explained.take(np.flatnonzero(first == wanted)) for first in drawn]
        values = [estimate_of(part.score(discretizer).consistency) for part in parts]
        size = round(float(np.mean([len(part.labels) for part in parts])))
        cells.append(over_runs(dataset, name, population, "consistency", values, size))
    return cells


def best(cells: Any) -> str:
    """Say which explainer is best in each population, and whether they differ."""
    winners = []
    for population in POPULATIONS:
        found = {c.explainer: c.ours for c in cells if c.setting == population and c.measure == "consistency"}
        winners.append(max(found, key=found.__getitem__))
    said = "Holds" if len(set(winners)) > 1 else "Not seen"
    told = ", ".join(f"{name} in {population}" for name, population in zip(winners, POPULATIONS, strict=True))
    return f"Claim: the best explainer differs between the populations. {said}: {told}."


def draw(findings: Findings) -> "Figure":
    """Draw bars: the mean over runs, with the standard deviation."""
    figure, axes = panels([DATASET])
    ax, width = axes[DATASET], 0.38
    for number, population in enumerate(POPULATIONS):
        mine = [c for c in findings.cells if c.setting == population and c.measure == "consistency"]
        ax.bar(
            [place + (number - 0.5) * width for place in range(len(mine))],
            [cell.ours or 0.0 for cell in mine],
            width,
            yerr=[cell.std or 0.0 for cell in mine],
            color=COLOURS[number],
            hatch="//" * number,
            edgecolor="white",
            label=population,
        )
    ax.set_xticks(range(len(EXPLAINERS)), list(EXPLAINERS))
    ax.set(ylim=(0, 1.02), ylabel="consistency")
    ax.legend(fontsize=7, loc="lower right")
    return figure
