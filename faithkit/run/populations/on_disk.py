"""A population whose rows stay on disk: a log that is read in pieces, once for each pass."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.batches import spans
from faithkit.errors import InputError
from faithkit.explanations.explanations import Sample, object_array
from faithkit.explanations.precision import Original
from faithkit.explanations.relations import Relation, SameExplanation
from faithkit.inputs.predictions.labels import class_list, encode_labels, no_variance_error
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.inputs.rows import Rows
from faithkit.measure.counting import scans
from faithkit.measure.counting.census import Census
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.tally import Count, Tally
from faithkit.measure.instances.contradiction_search import find_contradiction
from faithkit.measure.instances.rows import RowId, SampleRow
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.jackknife.summary import measure_totals, relation_statistics
from faithkit.run.components.discretization import discretize
from faithkit.run.components.relation_rows import learns_from_rows
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.diagnostics import ExplainedRows
from faithkit.run.instances.contradictions import rows_in_scope
from faithkit.run.instances.readable_rows import values_of
from faithkit.run.populations.log_passes import LogReader, RelationPasses, find_label_codes, take_census
from faithkit.run.populations.population import Parts, Population
from faithkit.run.populations.row_groups import split_population


@attrs.frozen(eq=False, kw_only=True)
class LogCount(Count):
    """Counts over a log; `census` has the number of rows by explanation and label."""

    reader: LogReader
    census: Census

    @cached_property
    def with_sorted_labels(self) -> "LogCount":
        """The same counts with each distinct prediction once, in order."""
        if not self.relation.groups or isinstance(self.census.labels, list):
            return self
        census = census_by_prediction(self.census.with_sorted_labels, self.reader.outcome)
        return attrs.evolve(
            self,
            census=census,
            n_labels=len(census.labels),
            owners=census.owners,
            agreement=census.agreement,
        )

    def tallies(self) -> Iterator[Tally]:
        """Yield the tally in the form that estimators receive."""
        yield from Count.tallies(self.with_sorted_labels)

    def label_counts(self, explanations: Counts) -> Counts:
        """Count the rows of each label for which selected explanations hold, labels in order."""
        return Count.label_counts(self.with_sorted_labels, explanations)

    def owned_rows(self) -> tuple[Counts, Counts, Counts, Counts]:
        """Return explanation, label, first row and count of each pair of explanation and label."""
        census = self.with_sorted_labels.census
        return census.owner, census.label, census.first, census.count

    def scan_label_counts(self, explanations: Counts) -> Counts:
        """Evaluate the relation for selected explanations and all rows, in passes over the log."""
        blocks = spans(len(explanations), scans.DENSE // self.n_labels)
        return np.concatenate([self._scan_table(explanations[start:stop]) for start, stop in blocks])

    def _scan_table(self, explanations: Counts) -> Counts:
        target = scans.ScanTarget(self.explanations.take(explanations), self.n_labels)
        table = RelationPasses(self.reader, self.relation, target, self.census.labels).scan().table
        assert table is not None  # the block is small enough for a table
        return table


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
        owners, table = census.owners, None
        if not relation.groups:
            target = census.scan_target
            scan = RelationPasses(self.reader, relation, target, census.labels).scan()
            owners, table = scan.owners(target, census.sorted_slots[2]), scan.table
        return LogCount(
            relation=relation,
            explanations=census.explanations,
            n_labels=len(census.labels),
            owners=owners,
            agreement=census.agreement,
            table=table,
            reader=self.reader,
            census=census,
        )

    def statistics(self, count: Count, n_classes: int | None = None) -> MeasureStatistics:
        """Compute the value and the standard errors by the jackknife; other relations need more passes."""
        if count.relation.groups:
            return super().statistics(count, n_classes)
        log_count, owners = _as_log_count(count), count.owners
        totals, census = measure_totals(log_count, n_classes), log_count.census
        passes = RelationPasses(self.reader, count.relation, census.scan_target, census.labels)
        moments = passes.pseudo_value_moments(owners, totals)

        def min_trials() -> float:
            return owners.n / (1.0 + passes.max_influence(owners))

        return relation_statistics(log_count, totals, moments, min_trials)

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

    def find_pair(self, count: Count, explanation: int, label_counts: Counts) -> tuple[SampleRow, SampleRow]:
        """Find two rows that contradict each other: in the census, or in a pass that ends at the first."""
        log_count = _as_log_count(count).with_sorted_labels
        census = log_count.census
        slots = np.flatnonzero(census.owner == explanation)
        slots = slots[np.argsort(census.first[slots], kind="stable")]
        rows, labels = census.first[slots], census.label[slots]
        position, contradicts = find_contradiction(log_count.agreement, labels, label_counts)
        if log_count.relation.groups:
            slot = int(contradicts[labels].argmax())
            second = int(rows[slot]), int(labels[slot])
        else:
            second = _find_contradicting_row(log_count, explanation, contradicts)
        return self._read_row(int(rows[position]), int(labels[position])), self._read_row(*second)

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


def _as_log_count(count: Count) -> LogCount:
    assert isinstance(count, LogCount)
    return count


def _find_contradicting_row(
    count: LogCount, explanation: int, contradicts: NDArray[np.bool_]
) -> tuple[int, int]:
    """Return the number and the label of the first row that contradicts an explanation.

    `contradicts` says of each label whether it contradicts the explanation.
    """
    reader, contradicted = count.reader, count.explanations.take([explanation])
    for start, log in reader.logs(reader.log.table.pieces):
        rows = rows_in_scope(count.relation, Sample(log.X, log.explanations), contradicted)
        codes = find_label_codes(count.census.labels, log.predictions, reader.outcome)[rows]
        if contradicts[codes].any():
            position = int(contradicts[codes].argmax())
            return start + int(rows[position]), int(codes[position])
    raise AssertionError("the tally counted a row that is not in the log")
