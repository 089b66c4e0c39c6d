"""Tables of discretizations: six datasets, one explainer, and the same reading for all cells.

Explanations are computed once for each dataset, and scored under every discretization.
"""

from collections.abc import Mapping, Sequence

import attrs

from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings, cells_of_runs
from faithkit_paper.models import DATASETS, TrainedModel, train_model
from faithkit_paper.orderings import check_orderings
from faithkit_paper.readings import ExplainedSample, Reading, as_seen_by_explainer, explain

MEASURES = ("consistency", "uniqueness")
TOP = 5
RUNS = 5
PAPER_ROWS = {"chess": 2_750, "avila": 6_200}
"""How many rows the paper can have explained, where its numbers rule out the whole test part.

Six weights without ties have at most 192 signs of the top five and 64 signs. For LIME on Chess the paper
prints a uniqueness of 0.07 and 0.02: at most 192 / 0.065 = 2,953 rows and, if every sign occurs, at least
64 / 0.025 = 2,560. Ten weights have 1,024 signs, and Avila's 0.17 allows at most 1,024 / 0.165 = 6,206 rows.
"""


@attrs.frozen(eq=False)
class Table:
    """A table of the appendix.

    Attributes
    ----------
    name : str
        The name of the experiment.
    explainer : str
        The name of the explainer in cells.
    discretizers : sequence of str
    reading : Reading
        The selected candidate. The module of the table says how it was selected.
    candidates : sequence of Reading
    rows : mapping
        The number of explained rows by profile and dataset, by default all test rows. "" stands for all other
        datasets.
    """

    name: str
    explainer: str
    discretizers: Sequence[str]
    reading: Reading
    candidates: Sequence[Reading]
    rows: Mapping[str, Mapping[str, int]]

    def run(self, context: Context) -> Findings:
        """Measure all datasets, and check the paper's claims about their order."""
        findings = context.measure_each(self.name, DATASETS, self.measure_dataset)
        return attrs.evolve(
            findings,
            remarks=(*findings.remarks, *check_orderings(findings.cells), *self.describe_reading()),
        )

    def describe_reading(self) -> list[str]:
        """Return remarks on the reading of the table."""
        return [
            f"Read as {self.reading}.",
            f"That is one of {len(self.candidates)} readings, and the same for all cells; "
            f"`python -m faithkit_paper.closest_reading {self.name}` compares them.",
            "Intervals are those of the estimate: 1.96 standard errors to each side.",
        ]

    def measure_dataset(self, context: Context, dataset: str) -> Findings:
        """Measure one dataset under the table's reading."""
        model = train_model(context, dataset)
        cells = self.measure_cells(context, dataset, self.reading)
        n, test = self.n_explained(context, model), len(model.test)
        explained_rows = f"all {test:,} test rows" if n == test else f"{n:,} of {test:,} test rows"
        measured_rows = f"{cells[0].runs} samples of {cells[0].n:,} were" if cells[0].runs > 1 else "all were"
        return model.findings(
            cells, f"{dataset}: {explained_rows} were explained, of which {measured_rows} measured."
        )

    def measure_cells(self, context: Context, dataset: str, reading: Reading) -> list[Cell]:
        """Measure the cells of one dataset under a reading."""
        model = train_model(context, dataset)
        runs = self.draw_samples(context, model, reading)
        return [
            cell
            for name in self.discretizers_of(as_seen_by_explainer(context, model, reading))
            for cell in cells_of_runs(
                dataset,
                self.explainer,
                name,
                [run.score(reading.discretizer(name)) for run in runs],
                MEASURES,
            )
        ]

    def draw_samples(self, context: Context, model: TrainedModel, reading: Reading) -> list[ExplainedSample]:
        """Explain test rows, and draw samples of the paper's size from them if that is smaller."""
        names, n = (self.name, model.dataset), self.n_explained(context, model)
        X = as_seen_by_explainer(context, model, reading).test[:n]  # the split is in random order
        explanations = explain(context, model, reading, X, context.seed)
        size = PAPER_ROWS.get(model.dataset, n)
        if size >= n:
            return [explanations]
        return [explanations.take(context.rng(*names, run).permutation(n)[:size]) for run in range(RUNS)]

    def discretizers_of(self, model: TrainedModel) -> list[str]:
        """Return the discretizers for which a dataset has enough columns."""
        return [name for name in self.discretizers if name != "sign-of-top-5" or model.test.shape[1] >= TOP]

    def n_explained(self, context: Context, model: TrainedModel) -> int:
        """Return the number of explained rows."""
        rows, n_test = self.rows[context.profile], len(model.test)
        return min(rows.get(model.dataset, rows.get("", n_test)), n_test)
