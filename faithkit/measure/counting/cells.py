"""Cells: the weight of each unit in each explanation's scope, by label. Every measure is a sum over cells.

A unit is a row, or a cluster of rows. The *scope weight* is that of rows for which the explanation holds.
The *owner weight* is that of rows that have this explanation. If the relation groups rows, both are equal.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints, sum_by
from faithkit.arrays.bitsets import Bits, get_bits, unpack_bits
from faithkit.measure.counting.owners import index_codes, sort_runs

MAX_KEY = 2**62


@attrs.frozen(eq=False, slots=False)
class Cells:
    """Weights by explanation, unit and label.

    Attributes
    ----------
    explanation, unit, label : (c,) int
        The key of each entry, sorted; each triple occurs once.
    scope_weight : (c,) int
        The weight of the unit's rows of that label for which the explanation holds.
    owner_weight : (c,) int
        The weight of the unit's rows of that label that have this explanation.
    outside_weight : (c,) int
        The weight of those of them for which the explanation does not hold.
    n_owners : (c,) int
        The number of the unit's rows of that label that have this explanation.

    Examples
    --------
    >>> rows = np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> Cells.of(*rows, scope_weight=np.array([1, 1, 2]), owner_weight=np.array([1, 1, 2])).cell_weights[0]
    array([2, 2])
    """

    explanation: Ints
    unit: Ints
    label: Ints
    scope_weight: Ints
    owner_weight: Ints
    outside_weight: Ints
    n_owners: Ints

    @classmethod
    def of(
        cls,
        explanation: Ints,
        unit: Ints,
        label: Ints,
        scope_weight: Ints,
        owner_weight: Ints,
        outside_weight: Ints | None = None,
        n_owners: Ints | None = None,
    ) -> "Cells":
        """Sum rows of one explanation, unit and label.

        By default, explanations hold for their owners, and each input counts as one row.
        """
        outside_weight = np.zeros_like(owner_weight) if outside_weight is None else outside_weight
        n_owners = np.ones_like(owner_weight) if n_owners is None else n_owners
        order, starts = _sort_keys(explanation, unit, label)
        first = order[starts]
        columns = scope_weight, owner_weight, outside_weight, n_owners
        sums = (np.add.reduceat(values[order], starts) for values in columns)
        return cls(explanation[first], unit[first], label[first], *sums)

    def batches(self, size: int) -> "Iterator[Cells]":
        """Yield the entries in order, at most `size` at a time or those of one explanation."""
        starts = np.append(np.flatnonzero(mark_run_starts(self.explanation)), len(self)).tolist()
        first = 0
        for start, stop in pairwise(starts):
            if stop - first > size and start > first:
                yield self.take(slice(first, start))
                first = start
        if first < len(self):
            yield self.take(slice(first, len(self)))

    def __len__(self) -> int:
        return len(self.explanation)

    def take(self, mask: NDArray[np.bool_] | slice) -> "Cells":
        """Return the selected entries."""
        return Cells(*(values[mask] for values in attrs.astuple(self, recurse=False)))

    def with_explanations(self, explanation: Ints) -> "Cells":
        """Return the same entries with other explanations; entries with the same key are summed."""
        _, *columns = attrs.astuple(self, recurse=False)
        return Cells.of(explanation, *columns)

    @cached_property
    def cell(self) -> Ints:
        """The number of each entry's cell; a cell has the entries of one explanation and one unit."""
        return np.cumsum(mark_run_starts(self.explanation, self.unit)) - 1

    @cached_property
    def cell_weights(self) -> tuple[Ints, Ints]:
        """The scope weight and the owner weight of each cell."""
        return sum_by(self.cell, self.scope_weight), sum_by(self.cell, self.owner_weight)

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


@attrs.frozen(eq=False)
class MatrixColumns:
    """The columns of a relation's matrix, in the order of their units and labels.

    `order` has the row of each column, and `place` the number of its unit and label; `first_column` has the
    first column of each place, and `place_of_row` the place of each row.
    """

    steps: Ints
    order: Ints
    unit: Ints
    label: Ints
    place: Ints
    first_column: Ints
    place_of_row: Ints

    @classmethod
    def of(cls, unit: Ints, label: Ints, steps: Ints) -> "MatrixColumns":
        """Sort rows by unit and label; `steps` are their weights."""
        n_labels = int(label.max(initial=0)) + 1
        keys = unit * n_labels + label
        order = np.arange(len(keys)) if (keys[1:] >= keys[:-1]).all() else sort_runs(keys)[0]
        keys = keys[order]
        starts = mark_run_starts(keys)
        place = np.cumsum(starts) - 1
        place_of_row = np.empty_like(place)
        place_of_row[order] = place
        sorted_unit, sorted_label = np.divmod(keys, n_labels)
        return cls(steps, order, sorted_unit, sorted_label, place, np.flatnonzero(starts), place_of_row)

    def cells(self, bits: Bits, start: int, owners: Ints, owned_explanation: Ints) -> Cells:
        """Return the cells of a batch of explanations, of which the first has the number `start`.

        `owners` are the rows that have one of them, and `owned_explanation` is the one that each row has.
        """
        n, n_places = len(self.order), len(self.first_column)
        matrix = unpack_bits(bits, n)
        held = np.flatnonzero(matrix if (self.order[1:] > self.order[:-1]).all() else matrix[:, self.order])
        explanation = held // n
        column = held - explanation * n
        keys, scope_weight = explanation * n_places + self.place[column], self.steps[self.order[column]]
        starts = np.flatnonzero(mark_run_starts(keys))
        if len(starts) < len(keys):
            keys, scope_weight = keys[starts], np.add.reduceat(scope_weight, starts)
        row = owned_explanation - start
        owner_keys, n_owners, owner = index_codes(row * n_places + self.place_of_row[owners])
        steps = self.steps[owners]
        outside = np.where(get_bits(bits, row, owners), 0, steps)
        owned = [sum_by(owner, values, len(owner_keys)) for values in (steps, outside)]
        position = np.searchsorted(keys, owner_keys)
        is_new = np.append(keys, -1)[position] != owner_keys  # the explanation does not hold there
        if is_new.any():
            keys = np.insert(keys, position[is_new], owner_keys[is_new])
            scope_weight = np.insert(scope_weight, position[is_new], 0)
            position = np.searchsorted(keys, owner_keys)
        by_entry = np.zeros((3, len(keys)), dtype=np.int64)
        by_entry[:, position] = *owned, n_owners
        explanation = keys // n_places
        first = self.first_column[keys - explanation * n_places]
        return Cells(explanation + start, self.unit[first], self.label[first], scope_weight, *by_entry)
