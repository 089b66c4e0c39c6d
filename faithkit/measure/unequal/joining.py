"""Who joins those that are alone when a cluster is left out: the other one of two that share an explanation.

The block of those that are alone then loses what it has of the cluster, and gains what that left behind.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Always, Sums
from faithkit.measure.estimators import ratio
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats, Grid
from faithkit.measure.unequal.agreeing_blocks import Blocks, Parts
from faithkit.measure.unequal.counting import alike
from faithkit.measure.unequal.design import summed
from faithkit.measure.unequal.holding import agreeing, sizes


def joined(own: Parts, blocks: Blocks) -> tuple[Counts, Floats]:
    """Return clusters whose absence leaves others alone, and what their absence takes besides.

    That is what is left of the block of those that are alone if nobody joined it, less what is left of it
    with those who do.
    """
    joining = _joining(own)
    gone = np.unique(joining.block)  # the clusters that are left out
    if not len(gone):
        return gone, np.zeros(0)
    without = np.full(len(gone), blocks.share[-1])
    cell = _places(blocks, gone)
    without[cell >= 0] = blocks.without[cell[cell >= 0]]
    return gone, without - _Joined(blocks, joining, gone).share()


def _places(blocks: Blocks, unit: Counts) -> Counts:
    """Return which cell of the last block some clusters have, −1 where they have none."""
    last = np.flatnonzero(blocks.cells.block == blocks.cells.n_blocks - 1)
    order = last[np.argsort(blocks.cells.unit[last])]
    place = np.searchsorted(blocks.cells.unit[order], unit).clip(max=max(0, len(order) - 1))
    if not len(order):
        return np.full(len(unit), -1)
    return np.where(blocks.cells.unit[order[place]] == unit, order[place], -1)


def _joining(own: Parts) -> Parts:
    """Return who is left alone: of explanations that two clusters share, each part by who is left out."""
    two = own.units_of_block[own.block] == 2
    parts = [one[two] for one in (own.block, own.unit, own.label, own.size)]
    both = np.zeros(own.n_blocks, dtype=np.int64)
    first, _ = alike(parts[0], parts[1])
    np.add.at(both, parts[0][first], parts[1][first])
    gone = both[parts[0]] - parts[1]
    kept, place = alike(gone, parts[1], parts[2])
    size = summed(place, parts[3], len(kept))
    return Parts(gone[kept], parts[1][kept], parts[2][kept], size, int(gone.max(initial=-1)) + 1)


class _Joined:
    """The block of those that are alone, without each of some clusters and with who joins it then."""

    def __init__(self, blocks: Blocks, joining: Parts, gone: Counts) -> None:
        alone = blocks.alone
        self.alone, self.joining, self.gone = alone, joining, gone
        self.step, self.agreement, self.worst = blocks.step, blocks.agreement, blocks.worst
        self.place = np.searchsorted(gone, joining.block)
        of_gone = np.isin(alone.parts.unit, gone)
        self.leaving = np.searchsorted(gone, alone.parts.unit[of_gone])
        self.left_label, self.left_size = alone.parts.label[of_gone], alone.parts.size[of_gone]
        self.k = int(max(joining.label.max(), alone.parts.label.max(initial=0))) + 1
        self.total = np.full(len(gone), alone.total)
        np.add.at(self.total, self.place, joining.size)
        np.subtract.at(self.total, self.leaving, self.left_size)
        largest = float(alone.total + summed(self.place, joining.size, len(gone)).max()) * self.step
        self.grid = Grid.of(largest**2 * max(1.0, blocks.agreement.most), 16)

    def share(self) -> Floats:
        """Return how far its rows agree."""
        most = self._most()
        found = ratio(self._agreeing(self.agreement), most)
        if not self.worst:
            return found
        return found + self.worst * (self.total * self.step - ratio(self._agreeing(Always()), most))

    def _agreeing(self, how: Sums) -> Floats:
        """Add up what rows of different clusters agree in: of all rows, less of those of one cluster."""
        parts = self.alone.parts
        now = int(self._steps(parts.size, parts.agreeing(how)).sum())
        return self.grid.floats(now + self._of_all(how) - self._of_one_cluster(how))

    def _of_all(self, how: Sums) -> Counts:
        """Return by how much all pairs change: F(B + J − L) for those who join and those who leave."""
        parts, joining = self.alone.parts, self.joining
        everybody = np.zeros_like(parts.label)
        coming = self._pairs(how, (self.place, joining.label, joining.size))
        going = self._pairs(how, (self.leaving, self.left_label, self.left_size))
        before, mine = (everybody, parts.label, parts.size), (self.place, joining.label, joining.size)
        change = coming + going
        for sign, where, label, size in (
            (2, self.place, joining.label, joining.size),
            (-2, self.leaving, self.left_label, self.left_size),
        ):
            toward = self._toward(how, before, np.zeros_like(label), label)
            change += sign * summed(where, self._steps(size, toward), len(self.gone))
        toward = self._toward(how, mine, self.leaving, self.left_label)
        return change - 2 * summed(self.leaving, self._steps(self.left_size, toward), len(self.gone))

    def _of_one_cluster(self, how: Sums) -> Counts:
        """Return by how much pairs of one cluster change."""
        parts, joining = self.alone.parts, self.joining
        kept = (parts.unit, parts.label, parts.size)
        toward = self._toward(how, kept, joining.unit, joining.label)
        change = 2 * summed(self.place, self._steps(joining.size, toward), len(self.gone))
        cell = alike(self.place, joining.unit)[1]
        toward = self._toward(how, (cell, joining.label, joining.size), cell, joining.label)
        change += summed(self.place, self._steps(joining.size, toward), len(self.gone))
        return change - self._pairs(how, (self.leaving, self.left_label, self.left_size))

    def _pairs(self, how: Sums, rows: tuple[Counts, Counts, Counts]) -> Counts:
        """Return what all pairs of each row agree in."""
        row, label, size = rows
        return summed(row, self._steps(size, self._toward(how, rows, row, label)), len(self.gone))

    def _toward(
        self, how: Sums, rows: tuple[Counts, Counts, Counts], row: Counts, label: Counts
    ) -> NDArray[Any]:
        """Return, for some rows and labels, what is in that row that agrees with that label."""
        known, place = np.unique(rows[0] * self.k + rows[1], return_inverse=True)
        size = summed(place, rows[2], len(known))
        return agreeing(how, known, size, row * self.k + label, self.k)

    def _most(self) -> Floats:
        """Return the most that a row of it has of others: all but the smallest cluster."""
        return (self.total - self._smallest()).astype(np.float64) * self.step

    def _smallest(self) -> Counts:
        """Return its smallest cluster: of those that change, or the first that does not."""
        cells = self.alone.cells
        first, place = alike(self.place, self.joining.unit)
        gone, unit = self.place[first], self.joining.unit[first]
        size = summed(place, self.joining.size, len(first)) + _held(cells.unit, cells.size, unit)
        smallest = self.total.copy()  # where nobody else is there
        np.minimum.at(smallest, gone, size)
        rank = {int(one): place for place, one in enumerate(cells.unit)}
        changing: list[set[int]] = [{rank.get(int(one), -1)} for one in self.gone]
        for one, who in zip(gone.tolist(), unit.tolist(), strict=True):
            changing[one].add(rank.get(who, -1))
        for one, ranks in enumerate(changing):
            unchanged = next(place for place in range(len(ranks) + 1) if place not in ranks)
            if unchanged < len(cells.size):
                smallest[one] = min(smallest[one], cells.size[unchanged])
        return smallest

    def _steps(self, one: Counts, other: NDArray[Any]) -> Counts:
        return self.grid.whole((one * self.step) * (other * self.step))


def _held(codes: Counts, size: Counts, wanted: Counts) -> Counts:
    """Return what some codes weigh together, 0 for one that is not there."""
    known, place = np.unique(codes, return_inverse=True)
    return sizes(known, summed(place, size, len(known)), wanted)
