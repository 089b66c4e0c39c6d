"""A table of discretizations: six datasets, one explainer, and a reading that is the same for all cells.

Explanations are made once for each dataset, and scored under every discretization.
"""

from collections.abc import Mapping, Sequence

import attrs

from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings, cells_of_runs
from faithkit_paper.models import DATASETS, Trained, boosted
from faithkit_paper.orderings import orderings
from faithkit_paper.readings import Explained, Reading, explain, learnt, seen

MEASURES = ("consistency", "uniqueness")
SHARE = 0.9
TOP = 5


@attrs.frozen(eq=False)
class Table:
    """A table of the appendix.

    Attributes
    ----------
    name : str
        The experiment's.
    explainer : str
        As the cells name it.
    discretizers : sequence of str
    reading : Reading
        The candidate that is used; the table's module says how it was chosen.
    candidates : sequence of Reading
    rows : mapping
        By profile, how many rows of each dataset are explained; "" stands for all other datasets. Those of
        "compared" are for comparing readings.
    """

    name: str
    explainer: str
    discretizers: Sequence[str]
    reading: Reading
    candidates: Sequence[Reading]
    rows: Mapping[str, Mapping[str, int]]

    def run(self, context: Context) -> Findings:
        """Measure all datasets, and say whether the paper's claims about their order hold."""
        found = context.each(self.name, DATASETS, self.measured)
        return attrs.evolve(found, remarks=(*found.remarks, *orderings(found.cells), *self.said(context)))

    def said(self, context: Context) -> list[str]:
        """Say how the table was read."""
        return [
            f"Read as {self.reading}.",
            f"That is one of {len(self.candidates)} readings, and the same for all cells; "
            f"`python -m faithkit_paper.closest {self.name}` compares them.",
            f"Explainers learn from up to {learnt(context):,} rows of the training part.",
            f"Runs are samples of {SHARE:.0%} of the rows that were explained; they overlap, and so deviate "
            "less than samples of their own would.",
        ]

    def measured(self, context: Context, dataset: str) -> Findings:
        """Measure one dataset under the table's reading."""
        trained = boosted(context, dataset)
        cells = self.cells(context, dataset, self.reading)
        n, test = self.size(context, trained), len(trained.test)
        which = f"all {test:,} test rows" if n == test else f"{n:,} of {test:,} test rows"
        return trained.findings(cells, f"{dataset}: {which} were explained; {cells[0].runs} runs.")

    def cells(self, context: Context, dataset: str, reading: Reading) -> list[Cell]:
        """Return the cells of one dataset under a reading."""
        trained = boosted(context, dataset)
        runs = self.samples(context, trained, reading)
        return [
            cell
            for name in self.discretizers_of(seen(context, trained, reading))
            for cell in cells_of_runs(
                dataset,
                self.explainer,
                name,
                [run.score(reading.discretizer(name)) for run in runs],
                MEASURES,
            )
        ]

    def samples(self, context: Context, trained: Trained, reading: Reading) -> list[Explained]:
        """Explain some rows of the test part, and draw samples of them."""
        names, size = (self.name, trained.dataset), self.size(context, trained)
        X = context.sample(seen(context, trained, reading).test, size, *names)
        explained = explain(context, trained, reading, X, context.seed_of(self.name))
        runs = range(context.pick(tiny=2, quick=5, full=5))
        drawn = [context.rng(*names, run).permutation(size)[: round(SHARE * size)] for run in runs]
        return [explained.take(rows) for rows in drawn]

    def discretizers_of(self, part: Trained) -> list[str]:
        """Return the discretizers that a dataset has columns enough for."""
        return [name for name in self.discretizers if name != "sign-of-top-5" or part.test.shape[1] >= TOP]

    def size(self, context: Context, trained: Trained) -> int:
        """Return how many rows are explained."""
        rows = self.rows[context.profile]
        return min(rows.get(trained.dataset, rows[""]), len(trained.test))
