"""Cells: the weight of each unit in each explanation's scope, by label. Every measure is a sum over cells.

A unit is a row, or a cluster of rows. The *scope weight* is that of rows for which the explanation holds.
The *owner weight* is that of rows that have this explanation. If the relation groups rows, both are equal.
"""

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints, sum_by


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
        The weight of those rows that have this explanation.
    n_owners : (c,) int
        The number of those rows that have this explanation.

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
    n_owners: Ints

    @classmethod
    def of(
        cls,
        explanation: Ints,
        unit: Ints,
        label: Ints,
        scope_weight: Ints,
        owner_weight: Ints,
        n_owners: Ints | None = None,
    ) -> "Cells":
        """Sum rows of one explanation, unit and label; without `n_owners`, each input counts as one row."""
        n_owners = np.ones_like(owner_weight) if n_owners is None else n_owners
        order = np.lexsort((label, unit, explanation))
        keys = explanation[order], unit[order], label[order]
        starts = np.flatnonzero(mark_run_starts(*keys))
        columns = scope_weight, owner_weight, n_owners
        sums = (np.add.reduceat(values[order], starts) for values in columns)
        return cls(*(key[starts] for key in keys), *sums)

    def __len__(self) -> int:
        return len(self.explanation)

    def take(self, mask: NDArray[np.bool_]) -> "Cells":
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


def mark_run_starts(*keys: Ints) -> NDArray[np.bool_]:
    """Return where any of the sorted keys differs from its predecessor.

    Examples
    --------
    >>> mark_run_starts(np.array([0, 0, 1]), np.array([2, 3, 3]))
    array([ True,  True,  True])
    """
    is_first = np.ones(len(keys[0]), dtype=bool)
    is_first[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return is_first
