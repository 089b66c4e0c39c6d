"""A population whose rows are all in memory."""

from collections import Counter
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import take_rows
from faithkit.errors import warn
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation
from faithkit.inputs.copies import Repeats
from faithkit.inputs.predictions.labels import Labels
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.inputs.seeds import row_words
from faithkit.measure.baselines.permutation import permutation_p_value
from faithkit.measure.counting.count import Count, count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.pool import Pool
from faithkit.measure.instances.local_result import LocalResult
from faithkit.measure.instances.rows import SampleRow
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.run.components.discretization import discretize, fit_discretizer
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.components.setup import Setup
from faithkit.run.components.system import System
from faithkit.run.diagnostics import ExplainedRows
from faithkit.run.instances.contradictions import find_pair
from faithkit.run.instances.local_rows import measure_row
from faithkit.run.populations.population import Parts, Population
from faithkit.run.populations.row_groups import split_population
from faithkit.run.populations.row_metadata import EMPTY_METADATA, RowContent, RowIds, RowMetadata
from faithkit.run.provenance import count_columns, describe_data


class _JackknifeCache(WeakKeyDictionary[Count, JackknifeEstimate]):
    """A cache of jackknife estimates by counts, while the counts exist; a pickled copy is empty."""

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return _JackknifeCache, ()


@attrs.frozen(eq=False)
class InMemory(Population):
    """Rows in memory, with their labels and explanations.

    Attributes
    ----------
    sample : Sample
        The rows and their explanations.
    encoded_labels : Labels
        The prediction of every row, as a code.
    design : Design or None
        The weights and clusters of the rows; those of a pool's rows come last, even if it is not used.
    pool : Pool or None
        Further rows without explanations.
    metadata : RowMetadata
        Columns that the model does not see, and the ids of the rows.
    names_cases : bool
        Whether the user named clusters or blocks, so that repeated rows are expected.
    cases : Repeats or None
        The rows that repeat others, if they count as clusters.
    original_identity : array or None
        The identity of the explanations before a discretizer set one.

    Examples
    --------
    >>> from faithkit.inputs.predictions.labels import encode_labels
    >>> rows = InMemory(Sample(None, Explanations.of(["a", "a"])), encode_labels(["yes", "no"]))
    >>> rows.kind, rows.labels
    ('value', ['no', 'yes'])
    """

    sample: Sample
    encoded_labels: Labels
    design: Design | None = None
    pool: Pool | None = None
    metadata: RowMetadata = EMPTY_METADATA
    names_cases: bool = False
    cases: Repeats | None = None
    original_identity: Any = attrs.field(kw_only=True)
    _jackknife_cache: _JackknifeCache = attrs.field(factory=_JackknifeCache, init=False)
    row_content: RowContent = attrs.field(kw_only=True)  # kept by `attrs.evolve`: hashing the rows is slow

    where = "of this sample"

    @original_identity.default
    def _identity(self) -> Any:
        return self.sample.explanations.identity

    @row_content.default
    def _build_row_content(self) -> RowContent:
        X = self.sample.explanations.instances if self.sample.X is None else self.sample.X
        return RowContent(X, self.encoded_labels, self._design_of_units)

    @property
    def kind(self) -> str:
        """The kind of the explanations."""
        return self.sample.explanations.kind

    @property
    def labels(self) -> list[Any]:
        """The distinct predictions, in the order of their codes."""
        return self.encoded_labels.classes

    @property
    def has_no_variance(self) -> bool:
        """Whether all predictions are the same number, so that there is nothing to explain."""
        return self.encoded_labels.has_no_variance

    @property
    def ids(self) -> RowIds | None:
        """The id of each row, if there are ids."""
        return self.metadata.ids

    @property
    def original_explanations(self) -> Explanations:
        """The explanations before any discretizer."""
        return attrs.evolve(self.sample.explanations, identity=self.original_identity)

    def remarks(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """Count unexplained rows, and the explainer's remarks on unexplained and on explained rows."""
        missing = self.sample.explanations.missing
        if self.sample.explanations.remarks is None and not missing.any():
            return 0, {}, {}
        return int(missing.sum()), self._count_remarks(missing), self._count_remarks(~missing)

    def _count_remarks(self, rows: NDArray[np.bool_]) -> dict[str, int]:
        remarks = [str(remark) for remark in self.sample.explanations.remarked[rows] if remark is not None]
        counts = Counter(remark.partition(": ")[0] for remark in remarks)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def design_fields(self, sufficiency: Count | None) -> dict[str, Any]:
        """Return the effective sample size, and the numbers of clusters, blocks and pool rows, if any."""
        fields: dict[str, Any] = {}
        if self.pool is not None and sufficiency is not None and sufficiency.relation.instance_only:
            fields["pool"] = len(self.pool)
        if sufficiency is not None and sufficiency.row_numbers is not None:
            fields["owners"] = len(sufficiency.sample)
        design = self.explained_design
        return fields if design is None else fields | design.summary_fields()

    @property
    def n_columns(self) -> int | None:
        """The number of columns of the instances."""
        return count_columns(self.sample.X)

    def data(self) -> dict[str, Any]:
        """Describe the instances, or the explanations where there are none."""
        return describe_data(self.sample.explanations.values if self.sample.X is None else self.sample.X)

    def fit_discretizer(self, discretizer: ResolvedComponent, system: System | None = None) -> None:
        """Fit a discretizer to the explanations, or to those of the system's background."""
        if system is not None:
            system.fit_discretizer(discretizer, self.sample.X, self.original_explanations)
        else:
            fit_discretizer(discretizer, self.original_explanations)

    def with_discretizer(self, discretizer: ResolvedComponent) -> "InMemory":
        """Return the same rows, with explanations whose identity a discretizer has set."""
        sample = Sample(self.sample.X, discretize(discretizer, self.original_explanations))
        return attrs.evolve(self, sample=sample)

    def with_cases(self) -> "InMemory":
        """Return the same rows; those that repeat each other are clusters, unless the user named cases."""
        repeats = None if self.names_cases or self.cases is not None else self.row_content.repeats
        if repeats is None or not repeats.are_cases or len(np.unique(repeats.group)) < 2:
            return self
        n = len(self.sample) + (0 if self.pool is None else len(self.pool))
        n = n if self.design is None else len(self.design)
        n_cases = int(repeats.group.max()) + 1
        unit = np.append(repeats.group, n_cases + np.arange(n - len(self.sample)))
        design = Design.equal(n) if self.design is None else self.design
        return attrs.evolve(self, design=design.with_clusters(unit), cases=repeats)

    def count(self, relation: Relation) -> Count:
        """Tally a relation over the sample, and over the pool if the relation reads instances only.

        A relation may have a largest number of owners. Of more rows, so many chosen by content are compared
        with all rows.
        """
        if relation.max_owners is not None and len(self.sample) > relation.max_owners:
            return self._count_some(relation, relation.max_owners)
        rows = relation, self.sample, self.encoded_labels.codes, self.encoded_labels.k
        pool = self.pool if relation.instance_only else None
        design = self.design if pool is not None else self.explained_design
        agreement = (
            self.encoded_labels.agreement if pool is None else self.encoded_labels.agreement_with(pool.codes)
        )
        return count(*rows, pool, agreement, design)

    def choose_rows(self, n_rows: int) -> Counts:
        """Return at most so many rows, chosen by their content, in the order of the sample."""
        if len(self.sample) <= n_rows:
            return np.arange(len(self.sample))
        words = row_words(self.sample.instances("a choice of rows"), seed=0)
        return np.sort(np.lexsort((self.encoded_labels.codes, words))[:n_rows])

    def _count_some(self, relation: Relation, n_owners: int) -> Count:
        """Tally a relation whose explanations some rows own; the others are the first rows of the pool."""
        owners = self.choose_rows(n_owners)
        others = np.setdiff1d(np.arange(len(self.sample)), owners)
        other_rows, codes = take_rows(self.sample.X, others), self.encoded_labels.codes[others]
        pool = Pool.of(other_rows, codes) if self.pool is None else self.pool.after(other_rows, codes)
        rows, design = np.concatenate([owners, others]), self.design
        if design is not None:
            design = design.take(np.append(rows, np.arange(len(rows), len(design))))
        some = attrs.evolve(
            self._take(owners), pool=pool, design=design, encoded_labels=self.encoded_labels.at(owners)
        )
        return attrs.evolve(some.count(relation), row_numbers=rows)

    @property
    def explained_design(self) -> Design | None:
        """The weights and clusters of the explained rows, without those of the pool."""
        n = len(self.sample)
        return self.design if self.design is None or len(self.design) == n else self.design.take(np.arange(n))

    @property
    def _design_of_units(self) -> Design | None:
        """The design with independent units as clusters, whether the user named clusters or blocks."""
        design = self.explained_design
        return None if design is None else design.of_independent_units

    def statistics(self, count: Count, n_classes: int | None = None) -> MeasureStatistics:
        """Compute the value and the standard errors of a measure by the jackknife."""
        return self.jackknife_estimate(count, n_classes).statistics

    def p_value(
        self, count: Count, statistics: MeasureStatistics, permutations: int, seed: int
    ) -> float | None:
        """Return the p-value of a permutation test."""
        return permutation_p_value(count, statistics, permutations, seed)

    def jackknife_estimate(self, count: Count | None, n_classes: int | None = None) -> JackknifeEstimate:
        """Jackknife the rows, and cache the result: several comparisons use it."""
        assert count is not None
        if count not in self._jackknife_cache:
            self._jackknife_cache[count] = JackknifeEstimate.of(count, n_classes)
        return self._jackknife_cache[count]

    @property
    def index(self) -> pd.Index | None:
        """The pandas index of the rows; None where there is none."""
        return self.metadata.index

    def split_by(self, groups: Any) -> Parts:
        """Divide the rows by one value per row, or by a column of X, even if the model does not use it."""
        if self.pool is not None and len(np.unique(self.encoded_labels.codes)) == 1:
            warn(
                "groups are measured without the pool, and all explained rows have one prediction: nothing "
                "is tested in them. Select the rows of a group and of its pool, and score each group.",
            )
        X = self.sample.X if self.metadata.table is None else self.metadata.table
        return split_population(groups, X, self.encoded_labels.codes, self._take)

    def _take(self, rows: Counts) -> "InMemory":
        """Return the population of selected rows, without the pool."""
        return InMemory(
            Sample(take_rows(self.sample.X, rows), self.sample.explanations.take(rows)),
            self.encoded_labels.take(rows),
            None if self.design is None else self.design.take(rows),
            metadata=self.metadata.take(rows),
            names_cases=self.names_cases,
            cases=self.cases,
            original_identity=take_rows(self.original_identity, rows),
        )

    def find_pair(self, count: Count, explanation: int, label_counts: Counts) -> tuple[SampleRow, SampleRow]:
        """Find two rows that contradict each other in the relation's matrix."""
        first, second = find_pair(count, self.labels, explanation, label_counts)
        return self._with_id(first), self._with_id(second)

    def explanation_of(self, count: Count, explanation: int, owner: SampleRow) -> Explanations:
        """Return the explanation of a row."""
        return self.sample.explanations.take([owner.row])

    def _with_id(self, sample_row: SampleRow) -> SampleRow:
        if self.metadata.ids is None:
            return sample_row
        row = sample_row.row + (len(self.sample) if sample_row.in_pool else 0)
        return attrs.evolve(sample_row, id=self.metadata.ids.name(row))

    def explained_rows(self, outcome: Outcome) -> ExplainedRows:
        """Return the rows in the form that diagnostics receive."""
        return ExplainedRows.of(
            self.sample.explanations,
            self.encoded_labels.codes,
            self.labels,
            outcome=outcome,
            design=self._design_of_units,
            X=self.sample.X,
        )

    def local(self, row: Any, counts: Mapping[str, Count], setup: Setup) -> LocalResult:
        """Measure a row of the sample by its number or id, or a new row."""
        ids = self.metadata.ids
        row = ids.row(row) if isinstance(row, str) and ids is not None else row
        result = measure_row(row, counts, self.encoded_labels, setup)
        if ids is None:
            return result
        row_id = ids.name(int(row) % len(self.sample)) if isinstance(row, int | np.integer) else None
        shared_ids = tuple(map(ids.name, result.shared_by))
        contradicted_by = tuple(map(self._with_id, result.contradicted_by))
        return attrs.evolve(result, id=row_id, shared_ids=shared_ids, contradicted_by=contradicted_by)
