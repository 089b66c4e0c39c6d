"""Cells: the weight of each unit in each explanation's scope, by label. Every measure is a sum over cells.

A unit is a row, or a cluster of rows. The *scope weight* is that of rows for which the explanation holds.
The *owner weight* is that of rows that have this explanation. If the relation groups rows, both are equal.
"""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints, sum_by
from faithkit.measure.counting.owners import sort_runs

MAX_KEY = 2**62


@attrs.frozen(eq=False, slots=False)
class Cells:
    """Weights by explanation, unit and label.

    Attributes
    ----------
    explanation, unit, label : (c,) int
        The key of each entry, sorted; each triple occurs once.
    held : (c,) int
        The weight of the unit's rows of that label for which the explanation holds.
    owned : (c,) int
        The weight of the unit's rows of that label that have this explanation.
    outside : (c,) int
        The weight of those of them for which the explanation does not hold.
    n_owners : (c,) int
        The number of the unit's rows of that label that have this explanation.
    times : (c,) int or None
        How many equal units an entry stands for, each of which has this entry alone; None if one.

    Examples
    --------
    >>> rows = np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> Cells.of(*rows, held=np.array([1, 1, 2]), owned=np.array([1, 1, 2])).cell_weights[0]
    array([2, 2])
    """

    explanation: Ints
    unit: Ints
    label: Ints
    held: Ints
    owned: Ints
    outside: Ints
    n_owners: Ints
    times: Ints | None = None

    @classmethod
    def of(
        cls,
        explanation: Ints,
        unit: Ints,
        label: Ints,
        held: Ints,
        owned: Ints,
        outside: Ints | None = None,
        n_owners: Ints | None = None,
    ) -> "Cells":
        """Sum rows of one explanation, unit and label.

        By default, explanations hold for their owners, and each input counts as one row.
        """
        outside = np.zeros_like(owned) if outside is None else outside
        n_owners = np.ones_like(owned) if n_owners is None else n_owners
        order, starts = _sort_keys(explanation, unit, label)
        first = order[starts]
        columns = held, owned, outside, n_owners
        sums = (np.add.reduceat(values[order], starts) for values in columns)
        return cls(explanation[first], unit[first], label[first], *sums)

    def __len__(self) -> int:
        return len(self.explanation)

    def take(self, mask: NDArray[Any] | slice) -> "Cells":
        """Return the selected entries."""
        *columns, times = attrs.astuple(self, recurse=False)
        selected = (values[mask] for values in columns)
        return attrs.evolve(Cells(*selected), times=None if times is None else times[mask])

    def with_explanations(self, explanation: Ints) -> "Cells":
        """Return the same entries with other explanations; entries with the same key are summed."""
        columns = self.unit, self.label, self.held, self.owned, self.outside, self.n_owners
        return Cells.of(explanation, *columns)

    def merge_equal(self, explanation: Ints) -> "tuple[Cells, Ints]":
        """Return equal cells with other explanations, one for each label, and the new cell of each entry."""
        codes = explanation * (int(self.label.max(initial=0)) + 1) + self.label
        _, first, cell = np.unique(codes, return_index=True, return_inverse=True)
        merged = self.take(first)
        times = sum_by(cell, np.ones_like(cell) if self.times is None else self.times, len(first))
        number = np.arange(len(first))
        return attrs.evolve(merged, explanation=explanation[first], unit=number, times=times), cell

    @cached_property
    def cell(self) -> Ints:
        """The number of each entry's cell; a cell has the entries of one explanation and one unit."""
        return np.cumsum(mark_run_starts(self.explanation, self.unit)) - 1

    @cached_property
    def cell_weights(self) -> tuple[Ints, Ints]:
        """The scope weight and the owner weight of each cell."""
        return sum_by(self.cell, self.held), sum_by(self.cell, self.owned)

    @property
    def first(self) -> Ints:
        """The first entry of each cell."""
        return np.flatnonzero(np.diff(self.cell, prepend=-1))

    @property
    def n_units(self) -> Ints:
        """The number of units with an entry for each explanation."""
        return np.bincount(self.explanation[self.first])

    @property
    def weight_range(self) -> tuple[int, int]:
        """The scope weights of the smallest and the largest cell, without empty ones."""
        weight = self.cell_weights[0][self.cell_weights[0] > 0]
        return (int(weight.min()), int(weight.max())) if len(weight) else (0, 0)


def _sort_keys(explanation: Ints, unit: Ints, label: Ints) -> tuple[Ints, Ints]:
    """Return the order of rows by these keys, and the start of each run of equal ones in it."""
    n_units, n_labels = int(unit.max(initial=0)) + 1, int(label.max(initial=0)) + 1
    if (int(explanation.max(initial=0)) + 1) * n_units * n_labels < MAX_KEY:
        keys = (explanation * n_units + unit) * n_labels + label
        if (keys[1:] > keys[:-1]).all():
            return np.arange(len(keys)), np.arange(len(keys))
        return sort_runs(keys)
    order = np.lexsort((label, unit, explanation))
    return order, np.flatnonzero(mark_run_starts(explanation[order], unit[order], label[order]))


def mark_run_starts(*keys: Ints) -> NDArray[np.bool_]:
    """Return where any of the sorted keys differs from its predecessor.

    Examples
    --------
    >>> mark_run_starts(np.array([0, 0, 1]), np.array([2, 3, 3]))
    array([ True,  True,  True])
    """
    is_first = np.ones(len(keys[0]), dtype=bool)
    np.not_equal(keys[0][1:], keys[0][:-1], out=is_first[1:])
    for key in keys[1:]:
        is_first[1:] |= key[1:] != key[:-1]
    return is_first
