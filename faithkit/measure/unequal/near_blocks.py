"""Near explanations in blocks, where rows have weights or clusters, and how far those of a block agree.

What a cluster has of a block is a cell. Two cells of weights w and w' count what they agree in over
M + W − w − w', where W is the block's weight and M the most that a cell of it could weigh. Then a block
cannot exceed the measure in the mean, even if weights tell the label; the theory page has the proof. Of equal
cells that is what others count, b − 1. Of others small blocks lose much: a heavy row has too little beside
it, and two rows of one cluster have nothing. So blocks are doubled until they lose little, which no label
decides.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.blocks import ranges
from faithkit.measure.merging.pairs import near_pairs
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats, Grid
from faithkit.measure.unequal.agreeing_blocks import Parts
from faithkit.measure.unequal.counting import alike
from faithkit.measure.unequal.design import summed

ENOUGH = 0.9  # of the weight of rows that are alone must be comparable
LARGEST = 2**8  # explanations in a block: in the mean over weights of which one is fifty times as large
AT_ONCE = 2**20  # pairs in memory


@attrs.frozen(eq=False)
class NearBlocks:
    """Blocks of near explanations, each of which only one cluster has.

    Attributes
    ----------
    parts, cells : Parts
        What a cluster has of a block, by label and in all.
    place : (p,) int
        Where the cell of each part stands.
    most : (b,) float
        The most that a cell of each block could weigh: so many explanations of one cluster, each of them as
        heavy as the heaviest of all. What its rows do weigh may tell their labels.
    step : float
        What a step of weight is worth.
    explanations : int
        The number of explanations in each block but the last, which may have up to twice as many.
    """

    parts: Parts
    cells: Parts
    place: Counts
    most: Floats
    step: float
    explanations: int

    @classmethod
    def of(cls, alone: Parts, identities: NDArray[Any], step: float) -> "NearBlocks | None":
        """Put explanations that are alone into the smallest blocks that lose little; None if all lose more.

        Parameters
        ----------
        alone : Parts
            By explanation.
        identities : (m, d) array
            Of these explanations, in order of their numbers.
        step : float

        Examples
        --------
        >>> alone = Parts(*np.array([[0, 1, 2, 3], [0, 1, 2, 3], [0, 0, 1, 0], [2, 2, 2, 2]]), 4)
        >>> found = NearBlocks.of(alone, np.array([[0.1], [0.2], [0.8], [0.9]]), step=0.5)
        >>> found.explanations, found.total, found.share, found.reach
        (2, array([4, 4]), array([2., 0.]), array([2., 2.]))
        """
        pair = near_pairs(identities)
        n_pairs = int(pair.max()) + 1
        half = 1
        while half <= min(LARGEST // 2, n_pairs):
            found = cls._of(alone, np.minimum(pair // half, n_pairs // half - 1), step, 2 * half)
            if found._loses_little:
                return found
            half *= 2
        return None

    @classmethod
    def _of(cls, alone: Parts, block: Counts, step: float, explanations: int) -> "NearBlocks":
        """Put each explanation into a block."""
        known, first, place = np.unique(alone.block, return_index=True, return_inverse=True)
        n_blocks, heaviest = int(block.max()) + 1, float(summed(place, alone.size, len(known)).max())
        cell, where = alike(block, alone.unit[first])
        most = np.zeros(n_blocks)
        np.maximum.at(most, block[cell], np.bincount(where) * heaviest)
        parts = alone.merged(block[place], n_blocks)
        return cls(parts, *parts.cells(), most, step, explanations)

    @property
    def _loses_little(self) -> bool:
        whole = float(self.total.sum()) * self.step
        return float(self._grid.floats(self._reach).sum()) >= ENOUGH * whole

    @cached_property
    def total(self) -> Counts:
        """The weight of each block, in steps."""
        return summed(self.cells.block, self.cells.size, self.cells.n_blocks)

    @property
    def share(self) -> Floats:
        """How far each block agrees, in weights that average to 1: at most what it weighs."""
        order, place = self._ordered(self.parts.block, self.parts.label)
        size, cell = self.parts.size[order], self.place[order]
        return self._grid.floats(self._summed(place, size, cell))

    @property
    def reach(self) -> Floats:
        """The same, if all of its cells agreed."""
        return self._grid.floats(self._reach)

    @cached_property
    def _reach(self) -> Counts:
        order, place = self._ordered(self.cells.block)
        return self._summed(place, self.cells.size[order], order)

    @cached_property
    def _grid(self) -> Grid:
        return Grid.of(float(self.total.sum()) * self.step, 4)

    @staticmethod
    def _ordered(*keys: Counts) -> tuple[Counts, Counts]:
        """Put those of one kind side by side: return the order, and the kind of each in it."""
        _, place = alike(*keys)
        order = np.argsort(place, kind="stable")
        return order, place[order]

    def _summed(self, kind: Counts, size: Counts, cell: Counts) -> Counts:
        """Add up, for each block, what two of one kind count: both ways, so twice."""
        weight, block = self.cells.size[cell], self.cells.block[cell]
        most = self.total[block] + self.most[block]
        sums = np.zeros(self.cells.n_blocks, dtype=np.int64)
        for one, other in _pairs(kind):
            left = most[one] - (weight[one] + weight[other]).astype(np.float64)
            both = (size[one] * self.step) * (size[other] * self.step)  # the same bits in either order
            np.add.at(sums, block[one], 2 * self._grid.whole(both / (left * self.step)))
        return sums


def _pairs(kind: Counts) -> Iterator[tuple[Counts, Counts]]:
    """Yield pairs of places whose kind is the same, some at a time; those of one kind stand side by side."""
    after = np.searchsorted(kind, kind, side="right") - np.arange(len(kind)) - 1
    ends = np.cumsum(after)
    start = 0
    while start < len(kind):
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] - after[start] + AT_ONCE, side="right")))
        some = np.arange(start, stop)
        yield np.repeat(some, after[some]), ranges(some + 1, after[some])
        start = stop
