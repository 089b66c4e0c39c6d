"""What is counted of a log whose rows stay on disk: tallies, their errors, and rows that bear witness."""

from functools import reduce
from operator import add

import attrs
import numpy as np

from faithkit.measure import asking
from faithkit.measure.bitsets import unpack_bits
from faithkit.measure.blocks import spans
from faithkit.measure.cells import Cells
from faithkit.measure.explanations import Sample
from faithkit.measure.inference import Moments, agreement, moments, moments_of
from faithkit.measure.jackknife import Spread, grouped_pseudo_values
from faithkit.measure.owned import Counts
from faithkit.measure.relations import Relation, holds_bits
from faithkit.measure.shards import Whole
from faithkit.measure.tally import Count
from faithkit.run.passes import LaterPasses, Reading


@attrs.frozen(eq=False)
class LogCount(Count):
    """A count over a log: `owned`, `labels` and `reflexive` have one entry for each of the gathered cells."""

    reading: Reading = attrs.field(kw_only=True)
    gathered: Cells = attrs.field(kw_only=True)

    def label_counts(self, some: Counts) -> Counts:
        """Count the instances of every label for which some explanations hold, in passes over the log."""
        if self.relation.groups or self.table is not None:
            return super().label_counts(some)
        parts = spans(len(some), max(1, asking.DENSE // self.n_labels))
        return np.concatenate([self._asked_counts(some[start:stop]) for start, stop in parts])

    def _asked_counts(self, some: Counts) -> Counts:
        whole = Whole(self.explanations.take(some), self.n_labels)
        table = _asked(self.reading, self.relation, whole, self.gathered).table
        assert table is not None  # so few explanations are asked for
        return table


def _asked(reading: Reading, relation: Relation, whole: Whole, cells: Cells) -> asking.Asked:
    passes = LaterPasses(reading, relation, whole, cells.labels)
    return reduce(add, reading.each(passes, "asked"))


def count_log(reading: Reading, relation: Relation, cells: Cells) -> LogCount:
    """Count a relation over a log whose distinct explanations are known."""
    table = None
    if relation.groups:
        found = cells.grouped
    else:
        asked = _asked(reading, relation, Whole.of(cells), cells)
        found, table = asked.cells(*cells.ordered), asked.table
    return LogCount(
        relation=relation,
        sample=Sample(None, cells.explanations),
        labels=cells.label,
        n_labels=len(cells.labels),
        owned=cells.owner,
        reflexive=cells.reflexive,
        explanations=cells.explanations,
        cells=found,
        table=table,
        reading=reading,
        gathered=cells,
    )


def log_moments(counted: LogCount) -> Moments:
    """Find the standard errors of a count, for relations other than grouping by one pass more."""
    reading, cells = counted.reading, counted.cells
    if counted.relation.groups:
        return moments(cells, grouped_pseudo_values(cells))
    passes = LaterPasses(
        reading, counted.relation, Whole.of(counted.gathered), counted.gathered.labels, cells
    )
    found: list[tuple[Spread, Spread]] = list(reading.each(passes, "spreads"))
    value, disagreement = (reduce(add, part) for part in zip(*found, strict=True))

    def few() -> float:
        return cells.n / (1.0 + max(reading.each(passes, "share")))

    errors = value.standard_error, disagreement.standard_error
    return moments_of(cells.n, agreement(cells), errors, few)


def witnesses(counted: LogCount, u: int, held: Counts) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the first owner of an explanation that is contradicted, and who contradicts it.

    `held` says how many instances of each label the explanation holds for.
    """
    cells = counted.gathered
    mine = np.flatnonzero(cells.owner == u)
    refuted = [c for c in mine if held.sum() > held[cells.label[c]]]
    owner = min(refuted, key=lambda c: int(cells.first[c]))
    label = int(cells.label[owner])
    if counted.relation.groups:
        others = [c for c in mine if cells.label[c] != label]
        other = min(others, key=lambda c: int(cells.first[c]))
        found = int(cells.first[other]), int(cells.label[other])
    else:
        found = _contradiction(counted, u, label)
    return (int(cells.first[owner]), label), found


def _contradiction(counted: LogCount, u: int, label: int) -> tuple[int, int]:
    """Find the first instance for which an explanation holds and whose label is another."""
    place = {known: code for code, known in enumerate(counted.gathered.labels)}
    reading, one = counted.reading, counted.explanations.take([u])
    for start, log in reading.logs(reading.log.table.pieces):
        sample = Sample(log.X, log.explanations)
        rows = np.flatnonzero(unpack_bits(holds_bits(counted.relation, sample, one), len(sample))[0])
        codes = np.array([place[y] for y in log.predictions.iloc[rows].tolist()], dtype=np.int64)
        if (codes != label).any():
            which = int((codes != label).argmax())
            return start + int(rows[which]), int(codes[which])
    raise AssertionError("the tally counted an instance that is not there")
