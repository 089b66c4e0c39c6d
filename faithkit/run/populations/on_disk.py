"""A population whose rows stay on disk: a log that is read in pieces, as often as a question needs."""

from collections.abc import Iterator
from functools import cached_property, reduce
from operator import add
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.blocks import spans
from faithkit.errors import InputError
from faithkit.explanations.discretizers import Original
from faithkit.explanations.explanations import Explanations, Sample, object_array
from faithkit.explanations.relations import Relation, SameExplanation
from faithkit.inputs.predictions.labels import encode_labels, listed, nothing_to_explain
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.counting import scans
from faithkit.measure.counting.census import Census
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.tally import Count, Tally
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.jackknife.deletions import added
from faithkit.measure.jackknife.summary import GroupedJackknife, level_of, related_moments
from faithkit.measure.witnesses import RowId, Witness, contradicted
from faithkit.run.components.discretization import discretize
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.diagnostics import ExplainedRows, explained_rows
from faithkit.run.instances.readable_rows import cells_of
from faithkit.run.instances.scope import held
from faithkit.run.populations.log_passes import FirstPass, LaterPasses, LogReading, label_places
from faithkit.run.populations.population import Parts, Population, divided


@attrs.frozen(eq=False, kw_only=True)
class LogCount(Count):
    """Counts over a log; `census` says who has which explanation."""

    reading: LogReading
    census: Census

    @cached_property
    def settled(self) -> "LogCount":
        """The same with every prediction once, and in order."""
        if not self.relation.groups or isinstance(self.census.labels, list):
            return self
        census = by_prediction(self.census.settled, self.reading.outcome)
        return attrs.evolve(
            self,
            census=census,
            n_labels=len(census.labels),
            owners=census.grouped,
            agreement=census.agreement,
        )

    def tallies(self) -> Iterator[Tally]:
        """Yield the tally as estimators get it."""
        yield from Count.tallies(self.settled)

    def label_counts(self, some: Counts) -> Counts:
        """Count the instances of every label, in order."""
        return Count.label_counts(self.settled, some)

    def asked(self, some: Counts) -> Counts:
        """Ask the relation about some explanations and all rows, in passes over the log."""
        parts = spans(len(some), max(1, scans.DENSE // self.n_labels))
        return np.concatenate([self._table(some[start:stop]) for start, stop in parts])

    def _table(self, some: Counts) -> Counts:
        whole = scans.ScanTarget(self.explanations.take(some), self.n_labels)
        table = _asked(self.reading, self.relation, whole, self.census).table
        assert table is not None  # so few explanations are asked for
        return table


def _asked(
    reading: LogReading, relation: Relation, whole: scans.ScanTarget, census: Census
) -> scans.ScanCounts:
    passes = LaterPasses(reading, relation, whole, census.labels)
    return reduce(add, reading.each(passes, "asked"))


@attrs.frozen(eq=False, slots=False)
class OnDisk(Population):
    """A log, and how its explanations get their identity; of a group, also who belongs to it.

    What is known of its `original` explanations spares reading it again for others.
    """

    reading: LogReading
    members: Census | None = None
    original: Census | None = None

    where = "in a log that was read in pieces"
    remedy = "read the log into memory and give faithkit.score its columns"

    @cached_property
    def example(self) -> Explanations:
        """What explanations of this log look like, without any."""
        log = self.reading.log
        return log.roles.log(log.table.empty()).explanations

    @property
    def kind(self) -> str:
        """The kind of the explanations."""
        return self.example.kind

    @cached_property
    def gathered(self) -> Census:
        """Who has which explanation; with groups, a label is a pair of group and prediction."""
        if self.members is not None:
            return self.members
        if self.original is not None:
            identified = discretize(self.reading.discretizer, self.original.explanations)
            return self.original.coarser(SameExplanation(), identified)
        return FirstPass(self.reading, SameExplanation()).run()

    @cached_property
    def census(self) -> Census:
        """Who has which explanation, by prediction, in order."""
        return by_prediction(self.gathered.settled, self.reading.outcome)

    @property
    def says_nothing(self) -> bool:
        """Whether predictions are numbers without any variance."""
        return self.reading.outcome.is_divided and not self.gathered.varies

    @property
    def labels(self) -> list[Any]:
        """The predictions that occur."""
        return listed(self.census.labels)

    def remarks(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """Count the rows without an explanation, of which a log does not say why, and what was remarked."""
        census = self.gathered
        missing = census.explanations.missing
        gone = int(census.count[missing[census.owner]].sum()) if missing.any() else 0
        return gone, {"no explanation": gone} if gone else {}, self.reading.log.remarks()

    def data(self) -> dict[str, Any]:
        """Describe the log, reading it once more."""
        try:
            return self.reading.log.fingerprint()
        except (TypeError, ValueError):
            return {"rows": int(self.gathered.count.sum()), "columns": None, "fingerprint": None}

    def under(self, discretizer: ResolvedComponent) -> "OnDisk":
        """Read the log with another discretizer, or look once more at the distinct explanations.

        With instances beside them there may be more to look at.
        """
        if discretizer is self.reading.discretizer:
            return self
        reading = attrs.evolve(self.reading, discretizer=discretizer)
        return OnDisk(reading, original=None if reading.log.roles.features else self._gathered_original())

    def _gathered_original(self) -> Census | None:
        """Return who has which explanation as it was logged, if that is known already."""
        if self.members is not None or not isinstance(self.reading.discretizer.instance, Original):
            return None
        return vars(self).get("gathered")

    def fitted(self, relation: Relation, background: Any) -> Relation:
        """Refuse relations that learn."""
        if learns_from_rows(relation):
            self.refuse(f"{relation} learns from all rows, which cannot be had at once")
        return relation

    def explained_rows(self, outcome: Outcome) -> ExplainedRows:
        """Return the rows as diagnostics see them; nothing is read, as explanations are in memory."""
        census = self.census
        rows = census.explanations.take(np.repeat(census.owner, census.count))
        codes = np.repeat(census.label, census.count)
        return explained_rows(rows, codes, listed(census.labels), outcome)

    def count(self, relation: Relation) -> LogCount:
        """Tally a relation: grouping in one pass, any other in two."""
        found = self.gathered
        if not isinstance(relation, SameExplanation):
            if self.members is not None:
                self.refuse(f"{relation} cannot be counted inside a group")
            found = FirstPass(self.reading, relation).run()
        census = by_prediction(found if relation.groups else found.settled, self.reading.outcome)
        owners, table = census.grouped, None
        if not relation.groups:
            asked = _asked(self.reading, relation, census.whole, census)
            owners, table = asked.owners(census.whole, census.ordered[2]), asked.table
        return LogCount(
            relation=relation,
            explanations=census.explanations,
            n_labels=len(census.labels),
            owners=owners,
            agreement=census.agreement,
            table=table,
            reading=self.reading,
            census=census,
        )

    def moments(self, counted: Count, n_classes: int | None = None) -> MeasureStatistics:
        """Jackknife what was counted; for relations other than grouping by one pass more."""
        counted, owners = _of_log(counted), counted.owners
        if counted.relation.groups:
            return GroupedJackknife.of(counted, n_classes).moments(counted)
        level, census = level_of(counted, owners, n_classes), counted.census
        passes = LaterPasses(self.reading, counted.relation, census.whole, census.labels, owners, level)
        spreads = added(self.reading.each(passes, "spreads"))
        return related_moments(
            counted, level, spreads, lambda: owners.n / (1.0 + max(self.reading.each(passes, "share")))
        )

    def parts(self, groups: Any) -> Parts:
        """Divide the log by the column that it was read with."""
        if self.members is not None or groups is None or groups != self.reading.log.roles.by:
            raise InputError(f"the log was not read with the groups {groups!r}: name their column with --by.")
        pairs = self.gathered
        values = object_array(pairs.groups)[pairs.group]
        return divided(pd.Series(values, name=groups, dtype=object), None, pairs.label, self._part)

    def _part(self, some: Counts) -> "OnDisk":
        return OnDisk(self.reading, self.gathered.taken(some))

    def witnesses(self, counted: Count, explanation: int, held: Counts) -> tuple[Witness, Witness]:
        """Find the rows among those that were noted, or by a pass that ends at the first."""
        counted = _of_log(counted).settled
        census = counted.census
        mine = np.flatnonzero(census.owner == explanation)
        mine = mine[np.argsort(census.first[mine], kind="stable")]
        rows, labels = census.first[mine], census.label[mine]
        place, wanted = contradicted(counted.agreement, labels, held)
        if counted.relation.groups:
            other = int(wanted[labels].argmax())
            seen = int(rows[other]), int(labels[other])
        else:
            seen = _contradiction(counted, explanation, wanted)
        return self._witness(int(rows[place]), int(labels[place])), self._witness(*seen)

    def _witness(self, row: int, label: int) -> Witness:
        log = self.reading.log
        X = log.table.using(log.roles.features).row(row).frame() if log.roles.features else None
        prediction = self.labels[label]
        return Witness(row, prediction, cells_of(X, 0), id=self._id(row))

    def _id(self, row: int) -> RowId | None:
        log, name = self.reading.log, self.reading.log.roles.id
        value = None if name is None else log.table.using([name]).row(row).labels(name).iloc[0]
        return None if name is None or pd.isna(value) else RowId(name, value)


def by_prediction(census: Census, outcome: Outcome) -> Census:
    """Return a census by prediction, labels in the order that they have everywhere: without groups."""
    found = census.together()
    if isinstance(found.labels, list):
        coded = encode_labels(found.labels)
        return found.relabelled(coded.codes, coded.classes)
    times = found.by_label
    if outcome.is_divided and not found.varies:
        raise nothing_to_explain(int(times.sum()), listed(found.labels)[0])
    return attrs.evolve(found, agreement=outcome.agreement(found.labels, times))


def learns_from_rows(relation: Relation) -> bool:
    """Whether a relation is fitted to the rows it is asked about, and so needs all of them at once."""
    return type(relation).fit is not Relation.fit


def _of_log(counted: Count) -> LogCount:
    assert isinstance(counted, LogCount)
    return counted


def _contradiction(counted: LogCount, explanation: int, wanted: NDArray[np.bool_]) -> tuple[int, int]:
    """Find the first instance for which an explanation holds and whose label is wanted."""
    reading, one = counted.reading, counted.explanations.take([explanation])
    for start, log in reading.logs(reading.log.table.pieces):
        rows = held(counted.relation, Sample(log.X, log.explanations), one)
        codes = label_places(counted.census.labels, log.predictions)[rows]
        if wanted[codes].any():
            which = int(wanted[codes].argmax())
            return start + int(rows[which]), int(codes[which])
    raise AssertionError("the tally counted an instance that is not there")
