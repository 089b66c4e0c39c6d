"""Cells: the weight of each unit in each explanation's scope, by label. Every measure is a sum over cells.

A unit is a row, or a cluster of rows. The *scope weight* is that of rows for which the explanation holds.
The *owner weight* is that of rows that have this explanation. If the relation groups rows, both are equal.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints, sum_by
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import Bits, pack_bits, unpack_bits
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, holds_bits
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.tally import RowCount

PAIRS = 2**22  # pairs of explanation and instance per batch


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
        sums = (
            np.add.reduceat(values[order], starts) if len(starts) else values
            for values in (scope_weight, owner_weight, n_owners)
        )
        return cls(*(key[starts] for key in keys), *sums)

    def __len__(self) -> int:
        return len(self.explanation)

    def take(self, mask: NDArray[np.bool_]) -> "Cells":
        """Return the selected entries."""
        return Cells(*(values[mask] for values in attrs.astuple(self, recurse=False)))

    def with_explanations(self, explanation: Ints) -> "Cells":
        """Return the same entries with other explanations; entries with the same key are summed."""
        return Cells.of(
            explanation, self.unit, self.label, self.scope_weight, self.owner_weight, self.n_owners
        )

    @cached_property
    def cell(self) -> Ints:
        """The number of each entry's cell; a cell has the entries of one explanation and one unit."""
        return np.cumsum(mark_run_starts(self.explanation, self.unit)) - 1

    @cached_property
    def cell_weights(self) -> tuple[Ints, Ints]:
        """The scope weight and the owner weight of each cell."""
        n = int(self.cell[-1]) + 1 if len(self) else 0
        return sum_by(self.cell, self.scope_weight, n), sum_by(self.cell, self.owner_weight, n)

    @property
    def first(self) -> Ints:
        """The first entry of each cell."""
        return np.flatnonzero(mark_run_starts(self.explanation, self.unit))

    @property
    def n_units(self) -> Ints:
        """The number of units with an entry for each explanation."""
        return np.bincount(self.explanation[self.first]) if len(self) else np.zeros(0, dtype=np.int64)

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


def cells_by_batch(count: RowCount, design: Design) -> Iterator[Cells]:
    """Yield the cells of a sample in batches of explanations, in order."""
    n, owned_explanation = len(count.labels), count.owned
    if count.relation.groups:
        scope_weight = np.where(count.explanations.missing[owned_explanation], 0, design.steps)
        yield Cells.of(owned_explanation, design.unit, count.labels, scope_weight, design.steps)
        return
    for start, _, bits in count.batches():
        for first, last in spans(len(bits), max(1, PAIRS // n)):
            owning_rows = np.flatnonzero(
                (owned_explanation >= start + first) & (owned_explanation < start + last)
            )
            explanation, instance = np.nonzero(unpack_bits(bits[first:last], n))
            rows, n_pairs = np.concatenate([instance, owning_rows]), len(instance)
            is_owner = np.arange(len(rows)) >= n_pairs
            steps = design.steps[rows]
            yield Cells.of(
                np.concatenate([explanation + start + first, owned_explanation[owning_rows]]),
                design.unit[rows],
                count.labels[rows],
                scope_weight=np.where(is_owner, 0, steps),
                owner_weight=np.where(is_owner, steps, 0),
                n_owners=is_owner.astype(np.int64),
            )
        del bits  # free memory before the next batch


def joint_batches(
    relation: Relation, samples: Sequence[Sample], explanations: Explanations
) -> Iterator[tuple[int, int, Bits]]:
    """Yield a relation's matrix over several samples side by side, as bits, in batches of explanations."""
    n = sum(map(len, samples))
    for start, stop in spans(len(explanations), max(1, PAIRS // max(1, n))):
        batch = explanations.take(slice(start, stop))
        matrices = [unpack_bits(holds_bits(relation, sample, batch), len(sample)) for sample in samples]
        yield start, stop, pack_bits(np.concatenate(matrices, axis=1))
