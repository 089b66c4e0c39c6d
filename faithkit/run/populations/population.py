"""The interface of populations: rows in memory, rows of a log on disk, or rows of a saved result.

The pipeline uses this interface only. A population refuses an operation that it does not support, with an
error that says what to do instead.
"""

from collections.abc import Mapping
from typing import Any, NoReturn

import attrs
import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation
from faithkit.inputs.copies import Repeats
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.owners import Counts
from faithkit.measure.estimate import Estimate, estimate
from faithkit.measure.instances.local_result import LocalResult
from faithkit.measure.instances.rows import SampleRow
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.run.components.relation_rows import RelationRows
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.components.setup import Setup
from faithkit.run.components.system import System
from faithkit.run.diagnostics import ExplainedRows
from faithkit.run.populations.row_metadata import RowContent, RowIds

Parts = tuple[str, dict[Any, "Population"], dict[Any, "Population"], bool]
"""A population divided into groups: the name of the grouping, for each group its rows and all others, and
whether groups follow the predictions."""


class Population:
    """Rows with their predictions and explanations."""

    where = "here"
    remedy = "give faithkit.score the rows"

    @property
    def kind(self) -> str:
        """The kind of the explanations."""
        self.refuse("explanations are not available")

    @property
    def sample(self) -> Sample:
        """The rows and their explanations."""
        self.refuse("rows and explanations are not available")

    @property
    def encoded_labels(self) -> Labels:
        """The prediction of every row, as a code."""
        self.refuse("the predictions of rows are not available")

    @property
    def labels(self) -> list[Any]:
        """The distinct predictions, in the order of their codes."""
        self.refuse("predictions cannot be listed")

    @property
    def index(self) -> pd.Index | None:
        """The pandas index of the rows; None where there is none."""
        return None

    @property
    def ids(self) -> RowIds | None:
        """The id of each row; None where rows have none, or they are not in memory."""
        return None

    @property
    def has_no_variance(self) -> bool:
        """Whether all predictions are the same number, so that there is nothing to explain."""
        return False

    @property
    def cases(self) -> Repeats | None:
        """The rows that repeat others and count as clusters; None where there are none."""
        return None

    def with_cases(self) -> "Population":
        """Return the same rows; those that repeat each other are clusters, unless the user named cases."""
        return self

    def remarks(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """Count unexplained rows, and remarks on unexplained and on explained rows.

        Returns
        -------
        n_unexplained : int
        reasons : dict of str to int
            How many rows have no explanation, by reason.
        remarks : dict of str to int
            How many explanations have each remark.
        """
        self.refuse("explanations cannot be looked at")

    def design_fields(self, sufficiency: Count | None) -> dict[str, Any]:
        """Return the fields of a result about weights, clusters and pool; empty where there are none."""
        return {}

    @property
    def n_columns(self) -> int | None:
        """The number of columns of the instances, if they are in memory."""
        return None

    def data(self) -> dict[str, Any]:
        """Return the size and the fingerprint of the data, which needs a pass over all rows."""
        self.refuse("rows cannot be read")

    def fit_discretizer(self, discretizer: ResolvedComponent, system: System | None = None) -> None:
        """Fit a discretizer to the explanations, or to those of a system's background."""
        self.refuse(f"{discretizer.text} cannot learn from the explanations")

    def with_discretizer(self, discretizer: ResolvedComponent) -> "Population":
        """Return the same rows, with explanations whose identity a discretizer has set."""
        self.refuse("explanations cannot be discretized")

    def fit_relation(self, relation: Relation, rows: RelationRows | None) -> Relation:
        """Fit a relation to rows; None for a log that is read in pieces."""
        return relation if rows is None else rows.fit(relation)

    def count(self, relation: Relation) -> Count:
        """Count, for each explanation, the rows for which the relation holds."""
        self.refuse(f"{relation} cannot be counted")

    def statistics(self, count: Count, n_classes: int | None = None) -> MeasureStatistics:
        """Compute the value and the standard errors of a measure by the jackknife."""
        return JackknifeEstimate.of(count, n_classes).statistics

    def p_value(
        self, count: Count, statistics: MeasureStatistics, permutations: int, seed: int
    ) -> float | None:
        """Permute the predictions; None where clusters leave nothing to permute."""
        self.refuse("predictions cannot be permuted")

    def estimate(self, count: Count, setup: Setup) -> Estimate:
        """Compute a measure from its counts, with its confidence interval and p-value."""
        n_permutations, statistics = setup.permutations, self.statistics(count, setup.n_classes)
        p_value = self.p_value(count, statistics, n_permutations, setup.seed) if n_permutations else None
        estimator = setup.estimator.instance
        return estimate(count, statistics, estimator, setup.confidence, p_value, setup.n_classes)

    @property
    def row_content(self) -> RowContent:
        """The content of the rows, to check that two samples have the same rows."""
        self.refuse("rows cannot be paired", "say paired=False, or ")

    def jackknife_estimate(self, count: Count | None, n_classes: int | None = None) -> JackknifeEstimate:
        """Return the pseudo-value of every row, for a paired comparison."""
        self.refuse("rows cannot be paired", "say paired=False, or ")

    def split_by(self, groups: Any) -> Parts:
        """Divide the population into groups."""
        self.refuse("rows cannot be grouped")

    def find_pair(self, count: Count, explanation: int, label_counts: Counts) -> tuple[SampleRow, SampleRow]:
        """Return the first row that has an explanation and is contradicted, and a row that contradicts it.

        `label_counts` has the number of rows of each label for which the explanation holds.
        """
        self.refuse("rows that contradict each other cannot be shown")

    def explanation_of(self, count: Count, explanation: int, owner: SampleRow) -> Explanations:
        """Return the explanation of a row; without rows, an equivalent explanation."""
        return count.explanations.take([explanation])

    def explained_rows(self, outcome: Outcome) -> ExplainedRows:
        """Return the rows in the form that diagnostics receive."""
        self.refuse("rows and explanations are not available")

    def local(self, row: Any, counts: Mapping[str, Count], setup: Setup) -> LocalResult:
        """Measure a row of the population, or a new one."""
        self.refuse("a row cannot be looked up")

    def refuse(self, obstacle: str, instead: str = "") -> NoReturn:
        """Raise an error that says what is not possible and what to do instead."""
        raise InputError(f"{obstacle} {self.where}: {instead}{self.remedy}.")


@attrs.frozen(eq=False)
class SavedPopulation(Population):
    """The rows of a result that was loaded from a file: only their description is available."""

    description: Mapping[str, Any]

    where = "in a result that was loaded from a file"
    remedy = "evaluate or score the rows again"

    @property
    def n_columns(self) -> int | None:
        """The number of columns from the file."""
        n_columns: int | None = self.description["columns"]
        return n_columns

    def data(self) -> dict[str, Any]:
        """Return the size and the fingerprint from the file."""
        return dict(self.description)
