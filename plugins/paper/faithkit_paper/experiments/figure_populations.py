"""The figure of section 5.3: two populations of Adult, and which of four explainers is best in each.

The first population contains each test example of label ``<=50K`` with probability 0.75 and each of label
``>50K`` with 0.25; the second contains the rest. (The caption says so; the text says the opposite.) All
four explain the same rows, because the bias of an estimate depends on the number of rows. For the same reason
the populations are drawn from as many rows as the paper seems to have explained.
"""

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from faithkit_paper.context import Context
from faithkit_paper.discretization_tables import (
    PAPER_ROWS,
    ExplainedSample,
    Reading,
    as_seen_by_explainer,
    explain,
)
from faithkit_paper.experiments import table_counterfactuals, table_lime, table_shap
from faithkit_paper.figures import COLOURS, create_panels
from faithkit_paper.findings import Cell, Findings, cells_of_runs, possibly_best
from faithkit_paper.models import train_model

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
    """Measure four explainers in both populations, and report the best in each."""
    findings = context.measure_each(NAME, [DATASET], measure_dataset)
    return attrs.evolve(findings, remarks=(*findings.remarks, compare_populations(findings.cells)))


def measure_dataset(context: Context, dataset: str) -> Findings:
    """Explain one sample by all four, and draw the populations from it five times."""
    model = train_model(context, dataset)
    n = min(context.pick(tiny=40, quick=60, full=len(model.test)), len(model.test))
    y = np.asarray(model.y_test)[:n]
    size = min(PAPER_ROWS[dataset], n)
    draws = [draw_populations(context, y, size, run) for run in range(RUNS)]
    cells = []
    for name, (reading, discretizer) in EXPLAINERS.items():
        context.log(f"{NAME}: {name}")
        X = as_seen_by_explainer(context, model, reading).test[:n]
        explanations = explain(context, model, reading, X, context.seed)
        cells += measure_populations(dataset, name, explanations, reading.discretizer(discretizer), draws)
    return model.findings(
        cells,
        f"Populations are drawn {RUNS} times, each time from {size:,} of {n:,} test rows. The fewer rows, "
        "the more the explainer with the fewest distinct explanations is favoured.",
        *(f"{name}: {discretizer} of {reading}." for name, (reading, discretizer) in EXPLAINERS.items()),
    )


def draw_populations(context: Context, y: np.ndarray, size: int, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw `size` rows, and return those of each population."""
    rows = context.rng(NAME, "rows", run).permutation(len(y))[:size]
    is_first = draw_first_population(context, y[rows], run)
    return rows[is_first], rows[~is_first]


def draw_first_population(context: Context, y: np.ndarray, run: int) -> np.ndarray:
    """Draw whether each row is in the first population, by its label."""
    shares = np.array([SHARES[label] for label in y.tolist()])
    is_first: np.ndarray = context.rng(NAME, "populations", run).random(len(y)) < shares
    return is_first


def measure_populations(
    dataset: str,
    name: str,
    explanations: ExplainedSample,
    discretizer: Any,
    draws: list[tuple[np.ndarray, np.ndarray]],
) -> list[Cell]:
    """Return the consistency in each population, over several draws of them."""
    cells = []
    for population, rows_of_draws in zip(POPULATIONS, zip(*draws, strict=True), strict=True):
        results = [explanations.take(rows).score(discretizer) for rows in rows_of_draws]
        cells += cells_of_runs(dataset, name, population, results, ["consistency"])
    return cells


def compare_populations(cells: Any) -> str:
    """Return a remark on the best explainers of each population, and on whether they differ."""
    winners = {
        population: possibly_best(
            {
                cell.explainer: cell
                for cell in cells
                if cell.setting == population and cell.measure == "consistency"
            }
        )
        for population in POPULATIONS
    }
    verdict = "Not seen" if set.intersection(*map(set, winners.values())) else "Holds"
    summary = ", ".join(f"{' or '.join(names)} in {population}" for population, names in winners.items())
    return f"Claim: the best explainer differs between the populations. {verdict}: {summary}."


def draw(findings: Findings) -> "Figure":
    """Draw bars: the mean over runs, with the standard deviation."""
    figure, axes = create_panels([DATASET])
    ax, width = axes[DATASET], 0.38
    for number, population in enumerate(POPULATIONS):
        population_cells = [
            cell for cell in findings.cells if cell.setting == population and cell.measure == "consistency"
        ]
        ax.bar(
            [position + (number - 0.5) * width for position in range(len(population_cells))],
            [cell.ours or 0.0 for cell in population_cells],
            width,
            yerr=[cell.std or 0.0 for cell in population_cells],
            color=COLOURS[number],
            hatch="//" * number,
            edgecolor="white",
            label=population,
        )
    ax.set_xticks(range(len(EXPLAINERS)), list(EXPLAINERS))
    ax.set(ylim=(0, 1.02), ylabel="consistency")
    ax.legend(fontsize=7, loc="lower right")
    return figure
