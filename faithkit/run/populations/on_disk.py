"""A population whose rows stay on disk: a log that is read in pieces, once for each pass."""

from functools import cached_property, partial
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays import Ints
from faithkit.errors import InputError
from faithkit.explanations.explanations import Sample, object_array
from faithkit.explanations.precision import Original
from faithkit.explanations.relations import Relation, SameExplanation
from faithkit.inputs.predictions.labels import class_list, encode_labels, no_variance_error
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.inputs.rows import Rows
from faithkit.measure.counting.bits import RowBits
from faithkit.measure.counting.census import Census
from faithkit.measure.counting.count import Count, Source
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.groups import Groups
from faithkit.measure.instances.contradiction_search import find_contradiction
from faithkit.measure.instances.rows import RowId, SampleRow
from faithkit.run.components.discretization import discretize
from faithkit.run.components.relation_rows import learns_from_rows
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.diagnostics import ExplainedRows
from faithkit.run.instances.contradictions import rows_in_scope
from faithkit.run.instances.readable_rows import values_of
from faithkit.run.populations.log_passes import LogReader, find_label_codes, read_pieces, take_census
from faithkit.run.populations.population import Parts, Population
from faithkit.run.populations.row_groups import split_population


@attrs.frozen(eq=False)
class CensusRows:
    """The rows of a log by explanation and label, from its census."""

    census: Census
    outcome: Outcome

    def sort_labels(self, count: Count) -> Count:
        """Return the same counts with each distinct prediction once, in order."""
        if not count.relation.groups or isinstance(self.census.labels, list):
            return count
        census = census_by_prediction(self.census.with_sorted_labels, self.outcome)
        return count_census(census, count.relation, self.outcome)

    def owned_rows(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return explanation, label, first row and number of rows of each pair of explanation and label."""
        census = self.census
        if not isinstance(census.labels, list):
            census = census_by_prediction(census.with_sorted_labels, self.outcome)
        return census.owner, census.label, census.first, census.count


def count_census(
    census: Census, relation: Relation, outcome: Outcome, reader: LogReader | None = None
) -> Count:
    """Count a log by its census; a relation other than grouping takes a pass with its reader."""
    no_rows = np.zeros(0, dtype=np.int64)
    source: Source
    if reader is None:
        owners, labels, owned = census.owners, no_rows, no_rows
        source = Groups.of_owners(owners)
    else:
        map_pieces = partial(read_pieces, reader, relation, census)
        rows = list(map_pieces(lambda piece: (piece.labels, piece.owned)))
        labels, owned = (np.concatenate(columns) for columns in zip(*rows, strict=True))
        source = RowBits.count(relation, census.slots, map_pieces, np.ones(1, dtype=np.int64))
        owners = source.owners
    explanations = census.explanations
    return Count(
        relation=relation,
        explanations=explanations,
        n_labels=len(census.labels),
        agreement=census.agreement,
        design=Design.equal(len(labels)),
        owners=owners,
        source=source,
        sample=Sample(None, explanations.take(slice(0, 0))),
        labels=labels,
        owned=owned,
        logged_rows=CensusRows(census, outcome),
    )


@attrs.frozen(eq=False, slots=False)
class OnDisk(Population):
    """A log on disk, or one group of its rows.

    Attributes
    ----------
    reader : LogReader
        The log and how to read it.
    known_census : Census or None
        The census by explanation and prediction, if it is known. Otherwise it takes a pass over the log.
    is_group : bool
        Whether these are the rows of one group, which is known by its census alone.
    """

    reader: LogReader
    known_census: Census | None = None
    is_group: bool = False

    where = "in a log that was read in pieces"
    remedy = "read the log into memory and give faithkit.score its columns"

    @property
    def kind(self) -> str:
        """The kind of the explanations."""
        return self.reader.example.kind

    @cached_property
    def raw_census(self) -> Census:
        """The number of rows by explanation and prediction, and by group if the log has groups."""
        return take_census(self.reader, SameExplanation()) if self.known_census is None else self.known_census

    @cached_property
    def census(self) -> Census:
        """The number of rows by explanation and prediction, predictions in order."""
        return census_by_prediction(self.raw_census.with_sorted_labels, self.reader.outcome)

    @property
    def has_no_variance(self) -> bool:
        """Whether all predictions are the same number, so that there is nothing to explain."""
        return self.reader.outcome.is_normalised and not self.raw_census.labels_vary

    @property
    def labels(self) -> list[Any]:
        """The distinct predictions, in the order of their codes."""
        return class_list(self.census.labels)

    def remarks(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """Return the number of unexplained rows, its reason, and the counts of remarks."""
        census = self.raw_census
        missing = census.explanations.missing
        n_missing = int(census.count[missing[census.owner]].sum()) if missing.any() else 0
        reasons = {"no explanation": n_missing} if n_missing else {}
        return n_missing, reasons, self.reader.log.remarks()

    def data(self) -> dict[str, Any]:
        """Describe the log, in one more pass over it."""
        try:
            return self.reader.log.fingerprint()
        except (TypeError, ValueError):
            return {"rows": int(self.raw_census.count.sum()), "columns": None, "fingerprint": None}

    def with_discretizer(self, discretizer: ResolvedComponent) -> "OnDisk":
        """Return the same log with another discretizer.

        If the discretizer reads explanations only, it needs the distinct ones and no new pass.
        """
        if discretizer is self.reader.discretizer:
            return self
        reader = attrs.evolve(self.reader, discretizer=discretizer)
        if isinstance(self.reader.discretizer.instance, Original) and not reader.log.roles.features:
            discretized = discretize(discretizer, self.raw_census.explanations)
            census = self.raw_census.coarsen(SameExplanation(), discretized)
            return attrs.evolve(self, reader=reader, known_census=census)
        if self.is_group:
            self.refuse(f"{discretizer.text} cannot be applied inside a group")
        return OnDisk(reader)

    def fit_relation(self, relation: Relation, background: Rows | None) -> Relation:
        """Refuse relations that must be fitted."""
        if learns_from_rows(relation):
            self.refuse(f"{relation} learns from all rows at once, which is impossible")
        return relation

    def explained_rows(self, outcome: Outcome) -> ExplainedRows:
        """Return the rows in the form that diagnostics receive, from the census and without a pass."""
        census = self.census
        explanations = census.explanations.take(np.repeat(census.owner, census.count))
        codes = np.repeat(census.label, census.count)
        return ExplainedRows.of(explanations, codes, class_list(census.labels), outcome=outcome)

    def count(self, relation: Relation) -> Count:
        """Tally a relation: grouping in one pass, any other relation in two."""
        census = self.raw_census
        if not isinstance(relation, SameExplanation):
            if self.is_group:
                self.refuse(f"{relation} cannot be counted inside a group")
            census = take_census(self.reader, relation)
        census = census_by_prediction(
            census if relation.groups else census.with_sorted_labels, self.reader.outcome
        )
        return count_census(census, relation, self.reader.outcome, None if relation.groups else self.reader)

    def split_by(self, groups: Any) -> Parts:
        """Divide the log by the column of groups that it was read with."""
        if self.is_group or groups is None or groups != self.reader.log.roles.by:
            raise InputError(f"the log was not read with the groups {groups!r}: name their column with --by.")
        census = self.raw_census
        values = object_array(census.groups)[census.group]
        column = pd.Series(values, name=groups, dtype=object)
        return split_population(
            column,
            None,
            census.label,
            lambda slots: OnDisk(self.reader, census.take(slots), is_group=True),
        )

    def find_pair(self, count: Count, explanation: int, label_counts: Ints) -> tuple[SampleRow, SampleRow]:
        """Find two rows that contradict each other: in the census, or in a pass that ends at the first."""
        count = count.with_sorted_labels
        owner, labels, rows, _ = count.owned_rows()
        slots = np.flatnonzero(owner == explanation)
        slots = slots[np.argsort(rows[slots], kind="stable")]
        rows, labels = rows[slots], labels[slots]
        position, contradicts = find_contradiction(count.agreement, labels, label_counts)
        if count.relation.groups:
            slot = int(contradicts[labels].argmax())
            second = int(rows[slot]), int(labels[slot])
        else:
            second = self._find_contradicting_row(count, explanation, contradicts)
        return self._read_row(int(rows[position]), int(labels[position])), self._read_row(*second)

    def _find_contradicting_row(
        self, count: Count, explanation: int, contradicts: NDArray[np.bool_]
    ) -> tuple[int, int]:
        """Return the number and the label of the first row that contradicts an explanation.

        `contradicts` says of each label whether it contradicts the explanation.
        """
        contradicted = count.explanations.take([explanation])
        for start, log in self.reader.logs(self.reader.log.table.pieces):
            rows = rows_in_scope(count.relation, Sample(log.X, log.explanations), contradicted)
            codes = find_label_codes(self.census.labels, log.predictions, self.reader.outcome)[rows]
            if contradicts[codes].any():
                position = int(contradicts[codes].argmax())
                return start + int(rows[position]), int(codes[position])
        raise AssertionError("the tally counted a row that is not in the log")

    def _read_row(self, row: int, label: int) -> SampleRow:
        log = self.reader.log
        X = log.table.select(log.roles.features).row(row).frame() if log.roles.features else None
        return SampleRow(row, self.labels[label], values_of(X, 0), id=self._read_id(row))

    def _read_id(self, row: int) -> RowId | None:
        log, name = self.reader.log, self.reader.log.roles.id
        value = None if name is None else log.table.select([name]).row(row).labels(name).iloc[0]
        return None if name is None or pd.isna(value) else RowId(name, value)


def census_by_prediction(census: Census, outcome: Outcome) -> Census:
    """Return a census without groups, with its labels in their usual order."""
    ungrouped = census.without_groups()
    if isinstance(ungrouped.labels, list):
        encoded = encode_labels(ungrouped.labels)
        return ungrouped.relabel(encoded.codes, encoded.classes)
    label_counts = ungrouped.by_label
    if outcome.is_normalised and not ungrouped.labels_vary:
        raise no_variance_error(int(label_counts.sum()), class_list(ungrouped.labels)[0])
    return attrs.evolve(ungrouped, agreement=outcome.agreement(ungrouped.labels, label_counts))
