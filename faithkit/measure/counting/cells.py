"""Cells: what each unit has of each explanation, label by label. All that is measured is a sum over them.

A unit is a row, or a cluster of rows. A cell has what is *held*, the rows for which the explanation holds,
and what is *owned*, those whose explanation it is. Where explanations group rows, both are the same.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints, sum_by
from faithkit.arrays.bitsets import Bits, pack_bits, unpack_bits
from faithkit.arrays.blocks import spans
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, holds_bits
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.tally import RowCount

PAIRS = 2**22  # of explanation and instance that are looked at together


@attrs.frozen(eq=False, slots=False)
class Cells:
    """What each unit has of each explanation, label by label.

    Attributes
    ----------
    explanation, unit, label : (c,) int
        In order; each triple occurs once.
    held : (c,) int
        What the unit's rows of that label weigh for which the explanation holds.
    owned : (c,) int
        What those weigh whose explanation it is.
    owners : (c,) int
        How many these are.

    Examples
    --------
    >>> rows = np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> Cells.of(*rows, held=np.array([1, 1, 2]), owned=np.array([1, 1, 2])).weights[0]
    array([2, 2])
    """

    explanation: Ints
    unit: Ints
    label: Ints
    held: Ints
    owned: Ints
    owners: Ints

    @classmethod
    def of(
        cls, explanation: Ints, unit: Ints, label: Ints, held: Ints, owned: Ints, owners: Ints | None = None
    ) -> "Cells":
        """Add up rows that are of one explanation, unit and label; without `owners`, each of them is one."""
        owners = np.ones_like(owned) if owners is None else owners
        order = np.lexsort((label, unit, explanation))
        keys = explanation[order], unit[order], label[order]
        first = np.flatnonzero(differ(*keys))
        sums = (np.add.reduceat(one[order], first) if len(first) else one for one in (held, owned, owners))
        return cls(*(key[first] for key in keys), *sums)

    def __len__(self) -> int:
        return len(self.explanation)

    def take(self, some: NDArray[np.bool_]) -> "Cells":
        """Return some of the cells."""
        return Cells(*(values[some] for values in attrs.astuple(self, recurse=False)))

    def keyed(self, explanation: Ints) -> "Cells":
        """Return the same cells under other explanations, those that fall together added up."""
        return Cells.of(explanation, self.unit, self.label, self.held, self.owned, self.owners)

    @cached_property
    def cell(self) -> Ints:
        """The number of each entry's cell: entries of one explanation and one unit."""
        return np.cumsum(differ(self.explanation, self.unit)) - 1

    @cached_property
    def weights(self) -> tuple[Ints, Ints]:
        """What each cell holds for, and what it owns."""
        n = int(self.cell[-1]) + 1 if len(self) else 0
        return sum_by(self.cell, self.held, n), sum_by(self.cell, self.owned, n)

    @property
    def first(self) -> Ints:
        """The first entry of each cell."""
        return np.flatnonzero(differ(self.explanation, self.unit))

    @property
    def n_units(self) -> Ints:
        """The number of units that have something of each explanation."""
        return np.bincount(self.explanation[self.first]) if len(self) else np.zeros(0, dtype=np.int64)

    @property
    def extent(self) -> tuple[int, int]:
        """The weights of the smallest and the largest cell, of those for which an explanation holds."""
        weight = self.weights[0][self.weights[0] > 0]
        return (int(weight.min()), int(weight.max())) if len(weight) else (0, 0)


def differ(*keys: Ints) -> NDArray[np.bool_]:
    """Say where any of some sorted keys differs from the one before.

    Examples
    --------
    >>> differ(np.array([0, 0, 1]), np.array([2, 3, 3]))
    array([ True,  True,  True])
    """
    found = np.ones(len(keys[0]), dtype=bool)
    found[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return found


def cells_by_block(counted: RowCount, design: Design) -> Iterator[Cells]:
    """Yield the cells of a sample, those of some explanations at a time, in order."""
    n, owned = len(counted.labels), counted.owned
    if counted.relation.groups:
        held = np.where(counted.explanations.missing[owned], 0, design.steps)
        yield Cells.of(owned, design.unit, counted.labels, held, design.steps)
        return
    for start, _, bits in counted.blocks():
        for first, last in spans(len(bits), max(1, PAIRS // n)):
            mine = np.flatnonzero((owned >= start + first) & (owned < start + last))
            explanation, instance = np.nonzero(unpack_bits(bits[first:last], n))
            rows, size = np.concatenate([instance, mine]), len(instance)
            is_owner = np.arange(len(rows)) >= size
            steps = design.steps[rows]
            yield Cells.of(
                np.concatenate([explanation + start + first, owned[mine]]),
                design.unit[rows],
                counted.labels[rows],
                held=np.where(is_owner, 0, steps),
                owned=np.where(is_owner, steps, 0),
                owners=is_owner.astype(np.int64),
            )
        del bits  # before the next block is made


def joint_blocks(
    relation: Relation, samples: Sequence[Sample], explanations: Explanations
) -> Iterator[tuple[int, int, Bits]]:
    """Yield a relation's matrix over several samples side by side, in blocks of explanations, as bits."""
    n = sum(map(len, samples))
    for start, stop in spans(len(explanations), max(1, PAIRS // max(1, n))):
        some = explanations.take(slice(start, stop))
        held = [unpack_bits(holds_bits(relation, sample, some), len(sample)) for sample in samples]
        yield start, stop, pack_bits(np.concatenate(held, axis=1))
