"""Who joins those that are alone when a cluster is left out: the other one of two that share an explanation.

The block of those that are alone then loses what it has of the cluster, and gains what that left behind.
"""

import numpy as np

from faithkit.measure.estimators import ratio
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats, Grid
from faithkit.measure.unequal.agreeing_blocks import Alone, Blocks, Parts
from faithkit.measure.unequal.counting import alike
from faithkit.measure.unequal.design import summed
from faithkit.measure.unequal.holding import sizes


def joined(own: Parts, blocks: Blocks, step: float) -> tuple[Counts, Floats]:
    """Return clusters whose absence leaves others alone, and what their absence takes besides.

    That is what is left of the block of those that are alone if nobody joined it, less what is left of it
    with those who do.
    """
    joining = _joining(own)
    gone = np.unique(joining.block)  # the clusters that are left out
    if not len(gone):
        return gone, np.zeros(0)
    alone = blocks.alone
    without = np.full(len(gone), blocks.share[-1])
    cell = _places(blocks, gone)
    without[cell >= 0] = blocks.without[cell[cell >= 0]]
    return gone, without - _Joined(alone, joining, gone, step).share()


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

    def __init__(self, alone: Alone, joining: Parts, gone: Counts, step: float) -> None:
        self.alone, self.joining, self.gone, self.step = alone, joining, gone, step
        self.place = np.searchsorted(gone, joining.block)
        of_gone = np.isin(alone.parts.unit, gone)
        self.leaving = np.searchsorted(gone, alone.parts.unit[of_gone])
        self.left_label, self.left_size = alone.parts.label[of_gone], alone.parts.size[of_gone]
        largest = float(alone.total + summed(self.place, joining.size, len(gone)).max()) * step
        self.grid = Grid.of(largest**2, 8)

    def share(self) -> Floats:
        """Return how far its rows agree."""
        agreeing = self._whole() + self._by_label() - self._by_part()
        return ratio(self.grid.floats(agreeing), self._most())

    def _whole(self) -> int:
        """Return what agrees now: Σ_y B_y² − Σ_c,y B_cy²."""
        parts, by_label = self.alone.parts, self.alone.parts.by_label()
        return int(self._steps(parts.size, by_label - parts.size).sum())

    def _by_label(self) -> Counts:
        """Return by how much Σ_y B_y² changes."""
        gone = np.concatenate([self.place, self.leaving])
        label = np.concatenate([self.joining.label, self.left_label])
        first, place = alike(gone, label)
        change = summed(place, np.concatenate([self.joining.size, -self.left_size]), len(first))
        before = _held(self.alone.parts.label, self.alone.parts.size, label[first])
        return summed(gone[first], self._steps(change, 2 * before + change), len(self.gone))

    def _by_part(self) -> Counts:
        """Return by how much Σ_c,y B_cy² changes."""
        k = int(max(self.joining.label.max(), self.alone.parts.label.max(initial=0))) + 1
        codes = self.alone.parts.unit * k + self.alone.parts.label
        before = _held(codes, self.alone.parts.size, self.joining.unit * k + self.joining.label)
        more = self._steps(self.joining.size, 2 * before + self.joining.size)
        change = summed(self.place, more, len(self.gone))
        np.subtract.at(change, self.leaving, self._steps(self.left_size, self.left_size))
        return change

    def _most(self) -> Floats:
        """Return the most that a row of it has of others: all but the smallest cluster."""
        total = np.full(len(self.gone), self.alone.total)
        np.add.at(total, self.place, self.joining.size)
        np.subtract.at(total, self.leaving, self.left_size)
        return (total - self._smallest(total)).astype(np.float64) * self.step

    def _smallest(self, total: Counts) -> Counts:
        """Return its smallest cluster: of those that change, or the first that does not."""
        cells = self.alone.cells
        first, place = alike(self.place, self.joining.unit)
        gone, unit = self.place[first], self.joining.unit[first]
        size = summed(place, self.joining.size, len(first)) + _held(cells.unit, cells.size, unit)
        smallest = total.copy()  # where nobody else is there
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

    def _steps(self, one: Counts, other: Counts) -> Counts:
        return self.grid.whole((one * self.step) * (other * self.step))


def _held(codes: Counts, size: Counts, wanted: Counts) -> Counts:
    """Return what some codes weigh together, 0 for one that is not there."""
    known, place = np.unique(codes, return_inverse=True)
    return sizes(known, summed(place, size, len(known)), wanted)
