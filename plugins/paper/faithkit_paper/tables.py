"""Tables of discretizations: six datasets, one explainer, and the same reading for all cells.

Explanations are computed once for each dataset, and scored under every discretization.
"""

from collections.abc import Mapping, Sequence

import attrs

from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings, cells_of_runs
from faithkit_paper.models import DATASETS, TrainedModel, train_model
from faithkit_paper.orderings import check_orderings
from faithkit_paper.readings import ExplainedSample, Reading, as_seen_by_explainer, background_size, explain

MEASURES = ("consistency", "uniqueness")
SHARE = 0.9
TOP = 5


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
        The number of explained rows by profile and dataset. "" stands for all other datasets, and the profile
        "compared" for comparisons of readings.
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
            remarks=(*findings.remarks, *check_orderings(findings.cells), *self.describe_reading(context)),
        )

    def describe_reading(self, context: Context) -> list[str]:
        """Return remarks on the reading of the table."""
        return [
            f"Read as {self.reading}.",
            f"That is one of {len(self.candidates)} readings, and the same for all cells; "
            f"`python -m faithkit_paper.closest {self.name}` compares them.",
            f"Explainers learn from up to {background_size(context):,} rows of the training part.",
            f"Runs are samples of {SHARE:.0%} of the rows that were explained; they overlap, and so deviate "
            "less than samples of their own would.",
        ]

    def measure_dataset(self, context: Context, dataset: str) -> Findings:
        """Measure one dataset under the table's reading."""
        trained = train_model(context, dataset)
        cells = self.measure_cells(context, dataset, self.reading)
        n, test = self.n_explained(context, trained), len(trained.test)
        explained_rows = f"all {test:,} test rows" if n == test else f"{n:,} of {test:,} test rows"
        return trained.findings(cells, f"{dataset}: {explained_rows} were explained; {cells[0].runs} runs.")

    def measure_cells(self, context: Context, dataset: str, reading: Reading) -> list[Cell]:
        """Measure the cells of one dataset under a reading."""
        trained = train_model(context, dataset)
        runs = self.draw_samples(context, trained, reading)
        return [
            cell
            for name in self.discretizers_of(as_seen_by_explainer(context, trained, reading))
            for cell in cells_of_runs(
                dataset,
                self.explainer,
                name,
                [run.score(reading.discretizer(name)) for run in runs],
                MEASURES,
            )
        ]

    def draw_samples(
        self, context: Context, trained: TrainedModel, reading: Reading
    ) -> list[ExplainedSample]:
        """Explain a sample of test rows, and draw overlapping samples of it."""
        names, size = (self.name, trained.dataset), self.n_explained(context, trained)
        X = context.sample(as_seen_by_explainer(context, trained, reading).test, size, *names)
        explained = explain(context, trained, reading, X, context.seed_of(self.name))
        runs = range(context.pick(tiny=2, quick=5, full=5))
        row_samples = [context.rng(*names, run).permutation(size)[: round(SHARE * size)] for run in runs]
        return [explained.take(rows) for rows in row_samples]

    def discretizers_of(self, prepared: TrainedModel) -> list[str]:
        """Return the discretizers for which a dataset has enough columns."""
        return [
            name for name in self.discretizers if name != "sign-of-top-5" or prepared.test.shape[1] >= TOP
        ]

    def n_explained(self, context: Context, trained: TrainedModel) -> int:
        """Return the number of explained rows."""
        rows = self.rows[context.profile]
        return min(rows.get(trained.dataset, rows[""]), len(trained.test))
