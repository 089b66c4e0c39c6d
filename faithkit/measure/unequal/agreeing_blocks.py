"""Blocks of rows with weights and clusters: how far the rows of each agree, and without each cluster."""

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.estimators import ratio
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats
from faithkit.measure.unequal.counting import alike
from faithkit.measure.unequal.design import summed
from faithkit.measure.unequal.holding import Cells


@attrs.frozen(eq=False)
class Parts:
    """The rows of one block, cluster and label, which weigh something; in order of these, by size.

    The order is one of content, so that sums of floats in it do not depend on the order of rows.
    """

    block: Counts
    unit: Counts
    label: Counts
    size: Counts
    n_blocks: int

    @classmethod
    def of(cls, cells: Cells) -> "Parts":
        """Take each explanation as a block."""
        cell, label = np.divmod(cells.part_codes, cells.n_labels)
        every = cls(cells.explanation[cell], cells.unit[cell], label, cells.part_size, cells.stop)
        return every.some(cells.part_size > 0)

    def some(self, which: NDArray[np.bool_]) -> "Parts":
        """Return some of the parts."""
        block, unit, label, size = self.block[which], self.unit[which], self.label[which], self.size[which]
        return Parts(block, unit, label, size, self.n_blocks)

    def merged(self, some: NDArray[np.bool_]) -> "Parts":
        """Put some of the parts into one more block, which comes last."""
        block = np.where(some, self.n_blocks, self.block)
        first, place = alike(block, self.unit, self.label)
        size = summed(place, self.size, len(first))
        order = np.lexsort((size, self.label[first], block[first]))
        first = first[order]
        return Parts(block[first], self.unit[first], self.label[first], size[order], self.n_blocks + 1)

    def cells(self) -> tuple["Parts", Counts]:
        """Put labels together: return what each cluster has of each block, and where each part stands."""
        first, place = alike(self.block, self.unit)
        size = summed(place, self.size, len(first))
        order = np.lexsort((size, self.block[first]))
        where = np.empty(len(order), dtype=np.int64)
        where[order] = np.arange(len(order))
        first = first[order]
        found = Parts(self.block[first], self.unit[first], self.label[first], size[order], self.n_blocks)
        return found, where[place]

    @cached_property
    def units_of_block(self) -> Counts:
        """The number of clusters in each block."""
        return np.bincount(self.cells()[0].block, minlength=self.n_blocks)

    def by_label(self) -> Counts:
        """Return, for each part, what its label weighs in its block."""
        first, place = alike(self.block, self.label)
        return summed(place, self.size, len(first))[place]


@attrs.frozen(eq=False)
class Alone:
    """The block of those that were alone: its clusters, the smallest first, and its parts."""

    cells: Parts
    parts: Parts

    @property
    def many(self) -> bool:
        """Whether it has more than one cluster."""
        return len(self.cells.size) > 1

    @property
    def total(self) -> int:
        """What it weighs."""
        return int(self.cells.size.sum())


@attrs.frozen(eq=False)
class Blocks:
    """All blocks; what rows count against each other is in weights that average to 1."""

    parts: Parts
    cells: Parts
    place: Counts  # of each part among the cells
    step: float

    @classmethod
    def of(cls, parts: Parts, step: float) -> "Blocks":
        """Look at the blocks of some parts."""
        return cls(parts, *parts.cells(), step)

    @property
    def alone(self) -> Alone:
        """The last block."""
        last = self.parts.n_blocks - 1
        return Alone(*(one.some(one.block == last) for one in (self.cells, self.parts)))

    @cached_property
    def total(self) -> Counts:
        """The weight of each block, in steps."""
        return summed(self.cells.block, self.cells.size, self.cells.n_blocks)

    @cached_property
    def agreeing(self) -> Floats:
        """Of each part, what it counts against other clusters of its block that agree with it."""
        return _product(self.parts.size, self.parts.by_label() - self.parts.size, self.step)

    @cached_property
    def _smallest(self) -> tuple[Counts, Counts]:
        """The first cell of each block, and the number of its cells: the smallest comes first."""
        first = np.searchsorted(self.cells.block, np.arange(self.cells.n_blocks + 1))
        return first[:-1], np.diff(first)

    @property
    def _sizes(self) -> Counts:
        """The size of each cell, and 0 behind the last one."""
        return np.append(self.cells.size, 0)

    @cached_property
    def most(self) -> Floats:
        """The most that a row of each block has of others."""
        first, many = self._smallest
        return np.where(many > 1, self.total - self._sizes[first], 0) * self.step

    @cached_property
    def share(self) -> Floats:
        """How far the rows of each block agree."""
        return ratio(self._summed(self.agreeing), self.most)

    @property
    def reach(self) -> Floats:
        """The same, if all of them agreed."""
        others = self.total[self.cells.block] - self.cells.size
        sums = np.zeros(self.cells.n_blocks)
        np.add.at(sums, self.cells.block, _product(self.cells.size, others, self.step))
        return ratio(sums, self.most)

    @property
    def without(self) -> Floats:
        """What is left of the share of each cell's block without the cell."""
        first, many = self._smallest
        block = self.cells.block
        gone = np.zeros(len(block))
        np.add.at(gone, self.place, 2.0 * self.agreeing)
        is_smallest = np.arange(len(block)) == first[block]
        next_one = self._sizes[first[block] + is_smallest]
        most = np.where(many[block] > 2, self.total[block] - self.cells.size - next_one, 0) * self.step
        return ratio((self._summed(self.agreeing)[block] - gone).clip(min=0.0), most)

    @property
    def lost(self) -> Floats:
        """What each cell takes with it when it goes."""
        return self.share[self.cells.block] - self.without

    def _summed(self, values: Floats) -> Floats:
        sums = np.zeros(self.parts.n_blocks)
        np.add.at(sums, self.parts.block, values)
        return sums


def _product(one: Counts, other: Counts, step: float) -> Floats:
    return (one * step) * (other * step)
