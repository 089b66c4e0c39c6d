"""Labels: two predictions agree if they are the same."""

import numpy as np

from faithkit.arrays import Floats, Ints
from faithkit.arrays.bitsets import Bits, column_sums, get_bits
from faithkit.measure.agreement.base import Blocks, Influence
from faithkit.measure.counting.label_sets import LabelSets
from faithkit.measure.counting.owners import Counts


class SameLabel:
    """Two predictions agree if they are the same label.

    Examples
    --------
    >>> SAME_LABEL.over_slots(np.array([0, 0]), np.array([0, 1]), np.array([2, 1]))
    array([2, 1])
    """

    most = 1.0
    is_whole = True
    is_convex = True
    is_divided = False
    is_bounded = True

    def over_slots(
        self, row: Counts, label: Counts | None, weight: Counts, by_row: Counts | None = None
    ) -> Counts:
        """Return the weight of each slot: no other one has its label."""
        return weight

    def counts(self, sums: Ints, totals: Counts, row: Counts, label: Counts) -> Counts:
        """Return the counts, which are what was added up."""
        return sums

    def held(self, labels: Counts, n_labels: int) -> "ScopeLabels":
        """Look at instances with these labels, of so many."""
        return ScopeLabels(labels, n_labels)

    def taken(self, labels: Counts) -> "SameLabel":
        """Return itself: what labels are called does not matter."""
        return self

    def apart(self, label: int | Counts, labels: Counts) -> Floats:
        """Return 1 for every other label."""
        return (labels != label).astype(np.float64)

    def lost(self, label: Counts, in_pool: bool = False) -> None:
        """Return None: nothing is divided."""
        return


SAME_LABEL = SameLabel()


class ScopeLabels:
    """Who has which label, for a relation's matrix over them."""

    def __init__(self, labels: Counts, n_labels: int) -> None:
        self.labels, self.sets = labels, LabelSets(labels, n_labels)

    def sums(self, bits: Bits, row: Counts, label: Counts) -> Ints:
        """Count the instances of each slot's label."""
        return self.sets.counts(bits, row, label)

    def lost(self, blocks: Blocks, influence: Influence) -> tuple[Floats, Floats]:
        """Add up gains and losses, label by label where many instances have it."""
        owners, loss, lone = influence.owners, influence.loss, influence.lone
        gain = owners.by_explanation(influence.gain)
        sums = np.zeros((len(self.labels), 2 if lone.any() else 1))
        groups = self.sets.rank[self.labels]
        for start, stop, bits in blocks:
            mine = owners.span(start, stop)
            where = owners.explanation[mine] - start, owners.label[mine]
            weights = self._weights(gain[start:stop], lone[start:stop], sums.shape[1])
            common = np.flatnonzero(self.sets.rank[where[1]] < len(self.sets.common))
            np.subtract.at(
                weights[:, :, 0], (where[0][common], self.sets.rank[where[1][common]]), loss[mine][common]
            )
            sums += column_sums(bits, weights, groups)
            self._subtract_rare(sums[:, 0], bits, where, loss[mine])
            del bits  # before the next block is made
        lost = sums[:, 1] if sums.shape[1] > 1 else np.zeros_like(sums[:, 0])
        return sums[:, 0], lost

    def _weights(self, gain: Floats, lone: Floats, columns: int) -> Floats:
        sets = self.sets
        weights = np.empty((len(gain), len(sets.common) + (not sets.all_common), columns))
        weights[:, :, 0] = gain[:, None]
        weights[:, :, 1:] = lone[:, None, None]  # seldom anything but 0
        return weights

    def _subtract_rare(self, sums: Floats, bits: Bits, where: tuple[Ints, Ints], loss: Floats) -> None:
        """Subtract, in place, what rare labels have lost from the instances that have them."""
        row, label = where
        for slot, instance in self.sets.pairs(label):
            held = get_bits(bits, row[slot], instance)
            np.subtract.at(sums, instance[held], loss[slot[held]])
