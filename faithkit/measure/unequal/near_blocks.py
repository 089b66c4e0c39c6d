"""Near explanations in blocks, where rows have weights or clusters, and how far those of a block agree.

What a cluster has of a block is a cell. Two cells of weights w and w' count what they agree in over
M + W − w − w', where W is the block's weight and M the most that a cell of it could weigh. Then a block
cannot exceed the measure in the mean, even if weights tell the label; the theory page has the proof. Of equal
cells that is what others count, b − 1. Of others small blocks lose much: a heavy row has too little beside
it, and two rows of one cluster have nothing. So blocks are doubled until they lose no more than the share of
explanations that they or √m of m are, which no label decides: the fewer there are, the less near are those of
larger blocks.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.blocks import ranges
from faithkit.measure.merging.pairs import near_pairs
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats, Grid
from faithkit.measure.unequal.agreeing_blocks import Parts
from faithkit.measure.unequal.counting import alike
from faithkit.measure.unequal.design import summed

LITTLE = 0.02  # of the weight: blocks that lose so little are never doubled
MUCH = 0.4  # the largest blocks must not lose more; else all explanations form one
LARGEST = 2**8  # explanations in a block
SEEN = 2**21  # pairs, by which it is decided whether blocks are large enough
AT_ONCE = 2**20  # pairs in memory


@attrs.frozen(eq=False)
class NearBlocks:
    """Blocks of near explanations, each of which only one cluster has.

    Attributes
    ----------
    block, unit, size : (c,) int
        Of each cell: its block, in order, its cluster, and its weight.
    total : (b,) int
        The weight of each block.
    most : (b,) float
        The most that a cell of each block could weigh: so many explanations of one cluster, each of them as
        heavy as the heaviest of all. What its rows do weigh may tell their labels.
    alone : Parts
        What these explanations have of each label.
    cell : (p,) int
        The cell of each part.
    step : float
        What a step of weight is worth.
    explanations : int
        The number of explanations in each block but the last, which may have up to twice as many.
    """

    block: Counts
    unit: Counts
    size: Counts
    total: Counts
    most: Floats
    alone: Parts
    cell: Counts
    step: float
    explanations: int
    agreement: Agreement = SAME_LABEL

    @classmethod
    def of(
        cls, alone: Parts, identities: NDArray[Any], step: float, agreement: Agreement = SAME_LABEL
    ) -> "NearBlocks | None":
        """Put explanations that are alone into the smallest blocks that lose little; None if all lose much.

        Parameters
        ----------
        alone : Parts
            By explanation, in order.
        identities : (m, d) array
            Of these explanations.
        step : float
        agreement : Agreement

        Examples
        --------
        >>> alone = Parts(*np.array([[0, 1, 2, 3], [0, 1, 2, 3], [0, 0, 1, 0], [2, 2, 2, 2]]), 4)
        >>> found = NearBlocks.of(alone, np.array([[0.1], [0.2], [0.8], [0.9]]), step=0.5)
        >>> found.explanations, found.total, found.share, found.comparable
        (2, array([4, 4]), array([2., 0.]), array([2., 2.]))
        """
        pair, found = near_pairs(identities), None
        m, n_pairs, half = len(pair), int(pair.max()) + 1, 1
        while half <= min(LARGEST // 2, max(1, n_pairs // 2)):
            block = np.minimum(pair // half, n_pairs // half - 1)
            found = attrs.evolve(cls._of(alone, block, step, 2 * half), agreement=agreement)
            if found._lost * agreement.most <= min(MUCH, max(LITTLE, 2 * half / m, m**-0.5)):
                return found
            half *= 2
        return found if found is not None and found._lost <= MUCH else None

    @classmethod
    def _of(cls, alone: Parts, block: Counts, step: float, explanations: int) -> "NearBlocks":
        """Put each explanation into a block."""
        differ = np.diff(alone.block, prepend=-1) > 0
        place = np.cumsum(differ) - 1
        weight, unit = summed(place, alone.size, len(block)), alone.unit[differ]
        first, cell = alike(block, unit)
        n_blocks, size = int(block.max()) + 1, summed(cell, weight, len(first))
        most = np.zeros(n_blocks)
        np.maximum.at(most, block[first], np.bincount(cell) * float(weight.max()))
        total = summed(block[first], size, n_blocks)
        return cls(block[first], unit[first], size, total, most, alone, cell[place], step, explanations)

    @property
    def _lost(self) -> float:
        """The share of the weight that is lost: from some of the blocks, where there are many."""
        every = max(1, len(self.block) * self.explanations // SEEN)
        some = np.flatnonzero(self.block % every == 0)
        found = self._grid.floats(self._summed(self.block[some], self.size[some], some))
        return 1.0 - float(found.sum() / (self.total[::every].sum() * self.step))

    @cached_property
    def share(self) -> Floats:
        """How far each block agrees, in weights that average to 1: at most what it weighs.

        What a block loses agrees as far as the worst two predictions do: labels not at all.
        """
        block, label = self.block[self.cell], self.alone.label
        _, kind = alike(block, label) if self.agreement is SAME_LABEL else alike(block)
        order = np.argsort(kind, kind="stable")
        rows = kind[order], self.alone.size[order], self.cell[order], label[order]
        found = self._grid.floats(self._summed(*rows))
        lost = self.total * self.step - self.comparable
        return found - (self.agreement.most - 1.0) * lost if self.agreement.most != 1.0 else found

    @cached_property
    def comparable(self) -> Floats:
        """The same, if all of its cells agreed: what a block weighs, but for what it loses."""
        return self._grid.floats(self._summed(self.block, self.size, np.arange(len(self.block))))

    @property
    def others(self) -> Floats:
        """The weight of those that have others in their block."""
        return np.where(np.bincount(self.block) > 1, self.total * self.step, 0.0)

    @property
    def _grid(self) -> Grid:
        return Grid.of(float(self.total.sum()) * self.step * max(1.0, self.agreement.most), 4)

    def _summed(self, kind: Counts, size: Counts, cell: Counts, label: Counts | None = None) -> Counts:
        """Add up, for each block, what two of one kind in different cells count: both ways, so twice.

        Those with labels count as far as these agree.
        """
        grid, block, weight = self._grid, self.block[cell], self.size[cell]
        most = self.total[block] + self.most[block]
        sums = np.zeros(len(self.total), dtype=np.int64)
        for one, other in _pairs(kind):
            apart = cell[one] != cell[other]
            i, j = one[apart], other[apart]
            left = (most[i] - (weight[i] + weight[j]).astype(np.float64)) * self.step
            both = (size[i] * self.step) * (size[j] * self.step)  # the same bits in either order
            if label is not None:
                both *= 1.0 - self.agreement.apart(label[i], label[j])
            np.add.at(sums, block[i], 2 * grid.whole(both / left))
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
