"""Agreement of labels: two predictions agree if they are equal."""

import numpy as np

from faithkit.arrays import Floats, Ints
from faithkit.arrays.bitsets import Bits, column_sums, get_bits
from faithkit.measure.agreement.base import Batches, Influence
from faithkit.measure.counting.label_sets import LabelSets
from faithkit.measure.counting.owners import Counts


class SameLabel:
    """Agreement that is 1 for equal labels and 0 otherwise.

    Examples
    --------
    >>> SAME_LABEL.sum_over_slots(np.array([0, 0]), np.array([0, 1]), np.array([2, 1]))
    array([2, 1])
    """

    max_disagreement = 1.0
    is_binary = True
    is_convex = True
    is_normalised = False
    is_bounded = True

    def sum_over_slots(
        self, row: Counts, label: Counts | None, weight: Counts, by_row: Counts | None = None
    ) -> Counts:
        """Return the weight of each slot: no other slot of its row has the same label."""
        return weight

    def counts(self, sums: Ints, totals: Counts, row: Counts, label: Counts) -> Counts:
        """Return the sums, which already are counts."""
        return sums

    def scope_predictions(self, labels: Counts, n_labels: int) -> "ScopeLabels":
        """Return the predictions of instances with these labels."""
        return ScopeLabels(labels, n_labels)

    def select_labels(self, labels: Counts) -> "SameLabel":
        """Return itself: agreement does not depend on the numbering of labels."""
        return self

    def disagreement(self, label: int | Counts, labels: Counts) -> Floats:
        """Return 1 for every different label."""
        differs: Floats = (labels != label).astype(np.float64)
        return differs

    def divisor_left(self, label: Counts, in_pool: bool = False) -> None:
        """Return None: there is no divisor."""
        return


SAME_LABEL = SameLabel()


class ScopeLabels:
    """Labels of instances, for sums over a relation's matrix."""

    def __init__(self, labels: Counts, n_labels: int) -> None:
        self.labels, self.sets = labels, LabelSets(labels, n_labels)

    def sums(self, bits: Bits, row: Counts, label: Counts) -> Ints:
        """Count the instances with the label of each slot."""
        return self.sets.counts(bits, row, label)

    def sum_influence(self, batches: Batches, influence: Influence) -> tuple[Floats, Floats]:
        """Sum gains and losses, label by label for common labels."""
        owners, loss, n_left_alone = influence.owners, influence.loss, influence.n_left_alone
        gain = owners.by_explanation(influence.gain)
        sums = np.zeros((len(self.labels), 2 if n_left_alone.any() else 1))
        label_ranks = self.sets.rank[self.labels]
        for start, stop, bits in batches:
            entries = owners.span(start, stop)
            slots = owners.explanation[entries] - start, owners.label[entries]
            weights = self._weights(gain[start:stop], n_left_alone[start:stop], sums.shape[1])
            common_slots = np.flatnonzero(self.sets.rank[slots[1]] < len(self.sets.common))
            ranks = self.sets.rank[slots[1][common_slots]]
            np.subtract.at(weights[:, :, 0], (slots[0][common_slots], ranks), loss[entries][common_slots])
            sums += column_sums(bits, weights, label_ranks)
            self._subtract_rare(sums[:, 0], bits, slots, loss[entries])
            del bits  # free memory before the next batch
        lone_owners = sums[:, 1] if sums.shape[1] > 1 else np.zeros_like(sums[:, 0])
        return sums[:, 0], lone_owners

    def _weights(self, gain: Floats, n_left_alone: Floats, n_columns: int) -> Floats:
        sets = self.sets
        weights = np.empty((len(gain), len(sets.common) + (not sets.all_common), n_columns))
        weights[:, :, 0] = gain[:, None]
        weights[:, :, 1:] = n_left_alone[:, None, None]  # usually 0
        return weights

    def _subtract_rare(self, sums: Floats, bits: Bits, slots: tuple[Ints, Ints], loss: Floats) -> None:
        """Subtract, in place, the losses of rare labels from the instances with these labels."""
        row, label = slots
        for slot, instance in self.sets.pairs(label):
            holds = get_bits(bits, row[slot], instance)
            np.subtract.at(sums, instance[holds], loss[slot[holds]])
