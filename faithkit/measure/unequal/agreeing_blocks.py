"""Blocks of rows with weights and clusters: how far the rows of each agree, and without each cluster."""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Agreement, Sums
from faithkit.measure.agreement.same_label import SAME_LABEL
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

    def agreeing(self, agreement: Sums) -> NDArray[Any]:
        """Return, for each part, what other clusters of its block have that agrees with it."""
        return self._toward(self.block, agreement) - self._toward(alike(self.block, self.unit)[1], agreement)

    def _toward(self, row: Counts, agreement: Sums) -> NDArray[Any]:
        """Return, for each part, what the parts of its row have that agrees with it."""
        first, place = alike(row, self.label)
        size = summed(place, self.size, len(first))
        return agreement.over_slots(row[first], self.label[first], size)[place]


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
    """All blocks; what rows count against each other is in weights that average to 1.

    What a row has too few others for agrees as far as the `worst` that two predictions can: labels not at
    all, and numbers less than that.
    """

    parts: Parts
    cells: Parts
    place: Counts  # of each part among the cells
    step: float
    agreement: Agreement

    @classmethod
    def of(cls, parts: Parts, step: float, agreement: Agreement = SAME_LABEL) -> "Blocks":
        """Look at the blocks of some parts."""
        return cls(parts, *parts.cells(), step, agreement)

    @property
    def worst(self) -> float:
        """How far two predictions agree at least."""
        return 1.0 - self.agreement.most

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
        return _product(self.parts.size, self.parts.agreeing(self.agreement), self.step)

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
        found = ratio(self._summed(self.agreeing), self.most)
        return found + self.worst * (self.total * self.step - self.reach) if self.worst else found

    @cached_property
    def reach(self) -> Floats:
        """The same, if all of them agreed: what rows have too few others for does not count."""
        return ratio(self._sum_of_cells(self._with_others), self.most)

    @cached_property
    def _with_others(self) -> Floats:
        """Of each cell, what it counts against other cells of its block."""
        others = self.total[self.cells.block] - self.cells.size
        return _product(self.cells.size, others, self.step)

    @property
    def without(self) -> Floats:
        """What is left of the share of each cell's block without the cell."""
        block, most = self.cells.block, self._most_without
        gone = np.zeros(len(block))
        np.add.at(gone, self.place, 2.0 * self.agreeing)
        left = self._summed(self.agreeing)[block] - gone
        if not self.worst:
            return ratio(left.clip(min=0.0), most)
        reach = ratio(self._sum_of_cells(self._with_others)[block] - 2.0 * self._with_others, most)
        stays = (self._smallest[1][block] > 2) | (block == self.cells.n_blocks - 1)  # one of two moves there
        weight = np.where(stays, self.total[block] - self.cells.size, 0) * self.step
        return ratio(left, most) + self.worst * (weight - reach)

    @property
    def _most_without(self) -> Floats:
        """The most that a row of each cell's block has of others without the cell."""
        first, many = self._smallest
        block = self.cells.block
        is_smallest = np.arange(len(block)) == first[block]
        next_one = self._sizes[first[block] + is_smallest]
        return np.where(many[block] > 2, self.total[block] - self.cells.size - next_one, 0) * self.step

    @property
    def lost(self) -> Floats:
        """What each cell takes with it when it goes."""
        return self.share[self.cells.block] - self.without

    def _sum_of_cells(self, values: Floats) -> Floats:
        sums = np.zeros(self.cells.n_blocks)
        np.add.at(sums, self.cells.block, values)
        return sums

    def _summed(self, values: Floats) -> Floats:
        sums = np.zeros(self.parts.n_blocks)
        np.add.at(sums, self.parts.block, values)
        return sums


def _product(one: NDArray[Any], other: NDArray[Any], step: float) -> Floats:
    return (one * step) * (other * step)
