"""Near explanations in blocks, where rows have weights or clusters, and how far those of a block agree.

What a cluster has of a block is a cell. Two cells of weights w and w' count what they agree in over
M + W − w − w', where W is the block's weight and M the most that a cell of it could weigh. Then a block
cannot exceed the measure in expectation, even if weights tell the label; the theory page has the proof. Equal
explanations are matched in pairs. Where they weigh differently, a pair would lose much, because a heavy row
has too little to be compared with: then blocks have up to 32 explanations.
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
from faithkit.measure.matching import divide_rows, match_rows
from faithkit.measure.merging.merged import NEAR, PAIRS
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats, Grid
from faithkit.measure.unequal.agreeing_blocks import Parts
from faithkit.measure.unequal.counting import alike
from faithkit.measure.unequal.design import summed

SIZE = 32  # explanations in a block, at most; (r − 1)/32 is lost if the heaviest weighs r times the mean
NEARLY = 1e-9  # weights that differ by less count as equal
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
    how : str
        "pairs" where all explanations weigh the same, else "near blocks".
    """

    block: Counts
    unit: Counts
    size: Counts
    total: Counts
    most: Floats
    alone: Parts
    cell: Counts
    step: float
    how: str
    agreement: Agreement = SAME_LABEL

    @classmethod
    def of(
        cls, alone: Parts, identities: NDArray[Any], step: float, agreement: Agreement = SAME_LABEL
    ) -> "NearBlocks":
        """Match explanations that are alone, or where they weigh differently, divide them into blocks.

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
        >>> found.how, found.total, found.share, found.comparable
        ('pairs', array([4, 4]), array([2., 0.]), array([2., 2.]))
        """
        differ = np.diff(alone.block, prepend=-1) > 0
        place = np.cumsum(differ) - 1
        weight, unit = summed(place, alone.size, len(identities)), alone.unit[differ]
        are_equal = bool(np.ptp(weight) <= NEARLY * weight.max())
        block = _pairs_or_single(identities, unit) if are_equal else divide_rows(identities, SIZE)
        first, cell = alike(block, unit)
        n_blocks, size = int(block.max()) + 1, summed(cell, weight, len(first))
        most = np.zeros(n_blocks)
        np.maximum.at(most, block[first], np.bincount(cell) * float(weight.max()))
        total = summed(block[first], size, n_blocks)
        how = PAIRS if are_equal else NEAR
        return cls(block[first], unit[first], size, total, most, alone, cell[place], step, how, agreement)

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


def _pairs_or_single(identities: NDArray[Any], unit: Counts) -> Counts:
    """Match explanations of different clusters; each of the others is a block of its own."""
    pair = match_rows(identities, unit)
    single = pair < 0
    pair[single] = pair.max() + 1 + np.arange(int(single.sum()))
    return pair


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
