"""What is counted of a log whose rows stay on disk: tallies, their errors, and rows that bear witness."""

import attrs
import numpy as np

from faithkit.measure.bitsets import unpack_bits
from faithkit.measure.cells import Cells
from faithkit.measure.explanations import Sample
from faithkit.measure.inference import Moments, grouped_pseudo_values, moments, moments_of
from faithkit.measure.relations import Relation, holds_bits
from faithkit.measure.shards import add_tallies
from faithkit.measure.tally import Count
from faithkit.run.passes import LaterPasses, Reading


@attrs.frozen(eq=False)
class LogCount(Count):
    """A count whose instances are cells: `owned`, `labels` and `reflexive` have one entry for each."""

    cells: Cells


def count_log(reading: Reading, relation: Relation, cells: Cells) -> LogCount:
    """Tally a relation over a log whose distinct explanations are known."""
    if relation.groups:
        tally = cells.tally
    else:
        second = LaterPasses(reading, relation, cells.explanations, cells.labels)
        tally = add_tallies(reading.each(second, "tallies"), cells)
    sample = Sample(None, cells.explanations)
    place = cells.owner, cells.reflexive, cells.explanations
    return LogCount(relation, sample, cells.label, tally, *place, cells)


def log_moments(reading: Reading, counted: LogCount) -> Moments:
    """Find the standard errors of a count, for relations other than grouping by one pass more."""
    tally = counted.tally
    if counted.relation.groups:
        return moments(tally, grouped_pseudo_values(tally))
    passes = LaterPasses(reading, counted.relation, counted.explanations, counted.cells.labels, tally)
    value, disagreement = None, None
    for shard in reading.each(passes, "spreads"):
        for one, other in shard:
            value = one if value is None else value + one
            disagreement = other if disagreement is None else disagreement + other
    assert value is not None
    assert disagreement is not None

    def few() -> float:
        return tally.n / (1.0 + max(reading.each(passes, "share")))

    return moments_of(tally, value.standard_error, disagreement.standard_error, few)


def witnesses(reading: Reading, counted: LogCount, u: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the first owner of an explanation that is contradicted, and who contradicts it."""
    cells, held = counted.cells, counted.tally.counts[u]
    mine = np.flatnonzero(cells.owner == u)
    refuted = [c for c in mine if held.sum() > held[cells.label[c]]]
    owner = min(refuted, key=lambda c: int(cells.first[c]))
    label = int(cells.label[owner])
    if counted.relation.groups:
        others = [c for c in mine if cells.label[c] != label]
        other = min(others, key=lambda c: int(cells.first[c]))
        found = int(cells.first[other]), int(cells.label[other])
    else:
        found = _contradiction(reading, counted, u, label)
    return (int(cells.first[owner]), label), found


def _contradiction(reading: Reading, counted: LogCount, u: int, label: int) -> tuple[int, int]:
    """Find the first instance for which an explanation holds and whose label is another."""
    place = {known: code for code, known in enumerate(counted.cells.labels)}
    one = counted.explanations.take([u])
    for start, log in reading.logs(reading.log.table.pieces):
        sample = Sample(log.X, log.explanations)
        rows = np.flatnonzero(unpack_bits(holds_bits(counted.relation, sample, one), len(sample))[0])
        codes = np.array([place[y] for y in log.predictions.iloc[rows].tolist()], dtype=np.int64)
        if (codes != label).any():
            which = int((codes != label).argmax())
            return start + int(rows[which]), int(codes[which])
    raise AssertionError("the tally counted an instance that is not there")
