"""Rows in memory that contradict an explanation: who was given it, and who shows that it does not hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats
from faithkit.explanations.explanations import Explanations
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.witnesses import Witness, contradicted
from faithkit.run.instances.readable_rows import cells_of
from faithkit.run.instances.scope import all_held, held

NOBODY = "the tally counted an instance that is not there"


def witness(counted: RowCount, classes: list[Any], row: int) -> Witness:
    """Show a row of the sample."""
    return Witness(row, classes[counted.labels[row]], cells_of(counted.sample.X, row))


def witnesses(
    counted: RowCount, classes: list[Any], explanation: int, table: Counts
) -> tuple[Witness, Witness]:
    """Find the first owner of an explanation that is contradicted, and the first who contradicts it.

    Where predictions agree more or less, these are the two that agree least. `table` says how many instances
    of each label the explanation holds for.
    """
    if isinstance(counted, CellCount):
        return _of_two_clusters(counted, classes, explanation)
    one = counted.explanations.take([explanation])
    owners = np.flatnonzero(counted.owned == explanation)
    place, wanted = contradicted(counted.agreement, counted.labels[owners], table)
    return witness(counted, classes, int(owners[place])), _first(counted, classes, one, wanted)


def _first(counted: RowCount, classes: list[Any], one: Explanations, wanted: NDArray[np.bool_]) -> Witness:
    """Show the first row that an explanation holds for and whose label is wanted; a pool's come last."""
    rows = held(counted.relation, counted.sample, one)
    rows = rows[wanted[counted.labels[rows]]]
    if len(rows):
        return witness(counted, classes, int(rows[0]))
    start = 0
    for sample, codes in counted.pool or ():
        rows = held(counted.relation, sample, one)
        rows = rows[wanted[codes[rows]]]
        if len(rows):
            row = int(rows[0])
            return Witness(start + row, classes[codes[row]], cells_of(sample.X, row), in_pool=True)
        start += len(sample)
    raise AssertionError(NOBODY)


def _of_two_clusters(counted: CellCount, classes: list[Any], explanation: int) -> tuple[Witness, Witness]:
    """Find two rows that count, of different clusters: the others are no evidence."""
    unit, labels, steps = counted.design.unit, counted.labels, counted.design.steps
    rows, _ = all_held(counted, counted.explanations.take([explanation]))
    rows = rows[steps[rows] > 0]
    owners = np.flatnonzero((counted.owned == explanation) & (steps > 0))
    if not counted.agreement.is_whole:
        owners = owners[[_share(counted)[owners].argmin()]]  # who agrees least with the others
    for owner in owners.tolist():
        others = rows[unit[rows] != unit[owner]]
        apart = counted.agreement.apart(int(labels[owner]), labels[others])
        if apart.any():
            return witness(counted, classes, owner), _anywhere(counted, classes, int(others[apart.argmax()]))
    raise AssertionError(NOBODY)


def _share(counted: CellCount) -> Floats:
    """Return how far each explained row agrees with others; 2 where it has none, more than any share."""
    owners = counted.owners
    return np.where(owners.others > 0, owners.scores, 2.0)[counted.place]


def _anywhere(counted: CellCount, classes: list[Any], row: int) -> Witness:
    """Show a row of the sample, or of the pool behind it."""
    n = len(counted.sample)
    if row < n:
        return witness(counted, classes, row)
    place = row - n
    for sample in counted.more:
        if place < len(sample):
            return Witness(row - n, classes[counted.labels[row]], cells_of(sample.X, place), in_pool=True)
        place -= len(sample)
    raise AssertionError(NOBODY)
