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
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation
from faithkit.inputs.models.model_columns import seen_by
from faithkit.inputs.predictions.labels import Labels, encode
from faithkit.inputs.predictions.outcome import OF_LABELS, Outcome
from faithkit.inputs.rows import check_columns, check_X
from faithkit.measure.counting.cell_count import count_cells
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.pool import Pool
from faithkit.measure.counting.tally import Count, RowCount, count
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.measure.permutation import permutation_p_value
from faithkit.measure.witnesses import LocalResult, Witness
from faithkit.run.comparisons.row_pairing import RowNames
from faithkit.run.components.discretization import discretize, teach
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.components.setup import Setup
from faithkit.run.components.system import System
from faithkit.run.diagnostics import ExplainedRows, explained_rows
from faithkit.run.instances.contradictions import witnesses
from faithkit.run.instances.local_rows import local_row
from faithkit.run.populations.population import Parts, Population, divided
from faithkit.run.populations.row_metadata import EMPTY_METADATA, RowIds, RowMetadata
from faithkit.run.provenance import describe_data


@attrs.frozen(eq=False)
class InMemory(Population):
    """Rows with their labels and explanations; `own` is the identity before any discretizer set one.

    `design` has their weights and clusters, if they have any, `pool` further rows without explanations, and
    `beside` what else is known of rows than the model sees.

    Examples
    --------
    >>> from faithkit.inputs.predictions.labels import encode_labels
    >>> rows = InMemory.of(None, encode_labels(["yes", "no"]), Explanations.of(["a", "a"]))
    >>> rows.kind, rows.labels
    ('value', ['no', 'yes'])
    """

    sample: Sample
    coded: Labels
    own: Any = None
    design: Design | None = None
    pool: Pool | None = None
    beside: RowMetadata = EMPTY_METADATA
    _sides: "_Sides" = attrs.field(factory=lambda: _Sides(), init=False)
    row_names: RowNames = attrs.field(kw_only=True)  # kept when something else changes: words are dear

    where = "of this sample"

    @classmethod
    def of(
        cls,
        X: Any,
        labels: Labels,
        explanations: Explanations,
        design: Design | None = None,
        pool: Pool | None = None,
        beside: RowMetadata = EMPTY_METADATA,
    ) -> "InMemory":
        """Put rows, their labels and their explanations together."""
        return cls(Sample(X, explanations), labels, explanations.identity, design, pool, beside)

    @classmethod
    def explained(
        cls,
        system: System,
        X: Any,
        design: Design | None = None,
        outcome: Outcome = OF_LABELS,
        ids: RowIds | None = None,
    ) -> "InMemory":
        """Let a system predict and explain rows."""
        table = check_X(X)
        X = seen_by(system.job.predictor, table)
        check_columns(X, system.job.background)
        labels = encode(system.job.predictor.answers(X, outcome), outcome)
        return cls.of(X, labels, system.explain(X), design, beside=RowMetadata(table, ids))

    @row_names.default
    def _row_names(self) -> RowNames:
        X = self.sample.explanations.instances if self.sample.X is None else self.sample.X
        return RowNames(X, self.coded, self.design)

    @property
    def kind(self) -> str:
        """The kind of the explanations."""
        return self.sample.explanations.kind

    @property
    def labels(self) -> list[Any]:
        """The predictions that occur."""
        return self.coded.classes

    @property
    def says_nothing(self) -> bool:
        """Whether predictions are numbers without any variance."""
        return self.coded.says_nothing

    @property
    def undiscretized(self) -> Explanations:
        """The explanations as they were given."""
        return attrs.evolve(self.sample.explanations, identity=self.own)

    def remarks(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """Count what explainers remarked, on rows that have no explanation and on those that have one."""
        missing = self.sample.explanations.missing
        if self.sample.explanations.remarks is None and not missing.any():
            return 0, {}, {}
        return int(missing.sum()), self._remarked(missing), self._remarked(~missing)

    def _remarked(self, rows: NDArray[np.bool_]) -> dict[str, int]:
        told = [str(remark) for remark in self.sample.explanations.remarked[rows] if remark is not None]
        counted = Counter(remark.partition(": ")[0] for remark in told)
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    def drawn(self, sufficiency: Count | None) -> dict[str, Any]:
        """Tell what the rows are worth, how many clusters there are, and how large a pool was used."""
        used = sufficiency is not None and sufficiency.relation.instance_only
        told: dict[str, Any] = {"pool": len(self.pool)} if self.pool is not None and used else {}
        design = self.own_design
        if design is None:
            return told
        return told | design.told()

    def data(self) -> dict[str, Any]:
        """Describe the instances, or the explanations where there are none."""
        return describe_data(self.sample.explanations.values if self.sample.X is None else self.sample.X)

    def teach(self, discretizer: ResolvedComponent, system: System | None = None) -> None:
        """Fit a discretizer to the explanations, or to those of the system's background."""
        if system is not None:
            system.teach(discretizer, self.sample.X, self.undiscretized)
        else:
            teach(discretizer, self.undiscretized)

    def under(self, discretizer: ResolvedComponent) -> "InMemory":
        """Set the explanations' identity."""
        sample = Sample(self.sample.X, discretize(discretizer, self.undiscretized))
        return attrs.evolve(self, sample=sample)

    def count(self, relation: Relation) -> RowCount:
        """Tally a relation over the sample, and over a pool where the relation can be asked about it."""
        rows = relation, self.sample, self.coded.codes, self.coded.k
        pool = self.pool if relation.instance_only else None
        design = self.design if pool is not None else self.own_design
        agreement = self.coded.agreement if pool is None else self.coded.agreement_with(pool.codes)
        if design is not None:
            return count_cells(*rows, design, pool, agreement)
        return count(*rows, pool, agreement)

    @property
    def own_design(self) -> Design | None:
        """The weights and clusters of the explained rows alone."""
        if self.design is None or self.pool is None:
            return self.design
        return self.design.take(np.arange(len(self.sample)))

    def moments(self, counted: Count, n_classes: int | None = None) -> MeasureStatistics:
        """Jackknife what was counted."""
        return self.side(counted, n_classes).facts

    def p_value(self, counted: Count, facts: MeasureStatistics, permutations: int, seed: int) -> float | None:
        """Permute the labels."""
        return permutation_p_value(_of_rows(counted), facts, permutations, seed)

    def side(self, counted: Count | None, n_classes: int | None = None) -> JackknifeEstimate:
        """Compute the pseudo-values of every row, once: a measure is compared with several others."""
        rows = _of_rows(counted)
        if rows not in self._sides:
            self._sides[rows] = JackknifeEstimate.of(rows, n_classes)
        return self._sides[rows]

    @property
    def index(self) -> pd.Index | None:
        """The index of pandas that names the rows, if any does."""
        return self.beside.index

    def parts(self, groups: Any) -> Parts:
        """Divide the rows by one value each, or by a column of X, whether the model sees it or not."""
        X = self.sample.X if self.beside.table is None else self.beside.table
        return divided(groups, X, self.coded.codes, self.part)

    def part(self, some: Counts) -> "InMemory":
        """Return some of the rows, as if there were no others."""
        sample = Sample(take_rows(self.sample.X, some), self.sample.explanations.take(some))
        labels = self.coded.taken(some)
        design = None if self.design is None else self.design.take(some)  # a pool is left behind
        own = take_rows(self.own, some)
        return InMemory(sample, labels, own, design, beside=self.beside.take(some))

    def witnesses(self, counted: Count, explanation: int, held: Counts) -> tuple[Witness, Witness]:
        """Find the rows in the relation's matrix."""
        one, two = witnesses(_of_rows(counted), self.labels, explanation, held)
        return self._named(one), self._named(two)

    def _named(self, seen: Witness) -> Witness:
        place = seen.row + (len(self.sample) if seen.in_pool else 0)
        return attrs.evolve(seen, id=self.beside.name(place))

    def explained_rows(self, outcome: Outcome) -> ExplainedRows:
        """Return the rows as diagnostics see them."""
        return explained_rows(
            self.sample.explanations, self.coded.codes, self.labels, outcome, self.own_design, self.sample.X
        )

    def local(self, row: Any, counts: Mapping[str, Count], setup: Setup) -> LocalResult:
        """Measure a row of the sample by its number, or a new one."""
        counted = {name: _of_rows(one) for name, one in counts.items()}
        row = self.beside.ids.row(row) if isinstance(row, str) and self.beside.ids is not None else row
        found = local_row(row, counted, self.coded, setup)
        if self.beside.ids is None:
            return found
        own = self.beside.name(int(row) % len(self.sample)) if isinstance(row, int | np.integer) else None
        return attrs.evolve(found, id=own, shared_ids=tuple(map(self.beside.name, found.shared_by)))


class _Sides(WeakKeyDictionary[Count, JackknifeEstimate]):
    """Sides by their counts, for as long as these live; a copy of a result finds them anew."""

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return _Sides, ()


def _of_rows(counted: Count | None) -> RowCount:
    assert isinstance(counted, RowCount)
    return counted
