"""Agreement of labels: two predictions agree if they are equal.

Sums over a relation's matrix need the instances of each label. A label that half of the instances have is
stored as bits, and counted 64 instances at a time. A label that 3 of 200,000 instances have is stored as a
list, and counted by looking up these 3. The time therefore does not grow with the number of labels.
"""

from collections.abc import Iterator

import numpy as np

from faithkit.arrays import Floats, Ints
from faithkit.arrays.batches import concatenate_ranges, each_batch, spans
from faithkit.arrays.bitsets import (
    BATCH_WORDS,
    Bits,
    column_sums,
    count_labels,
    get_bits,
    n_words,
    pack_bits,
    popcount,
    unpack_bits,
)
from faithkit.measure.agreement.base import Agreement, Batch, HeldLosses
from faithkit.measure.counting.owners import Counts

ALWAYS_COMMON = 64  # up to this number of labels, all are common
COMMON = 256  # with more labels, one is common if at least 1 in 256 instances has it
BATCH_SIZE = 2**20  # pairs, or elements of an unpacked matrix, per batch


class ScopeLabels:
    """The instances of each label, for sums over a relation's matrix.

    Attributes
    ----------
    common : (c,) int
        The labels that are stored as bits.
    rank : (k,) int
        The position of each label in `common`; `len(common)` for all rare labels.

    Examples
    --------
    >>> sets = ScopeLabels(np.array([0, 1, 1]), 2)
    >>> bits = pack_bits(np.array([[True, True, False], [False, True, True]]))
    >>> sets.sums(bits, np.array([0, 1]), np.array([1, 1]))
    array([1, 2])
    >>> sets.table(bits)
    array([[1, 1],
           [0, 2]])
    """

    def __init__(self, labels: Ints, n_labels: int) -> None:
        self.labels = labels
        self._label_sizes = np.bincount(labels, minlength=n_labels)
        is_common = (
            np.full(n_labels, True)
            if n_labels <= ALWAYS_COMMON
            else self._label_sizes * COMMON >= len(labels)
        )
        self.common = np.flatnonzero(is_common)
        self.rank = np.where(is_common, np.cumsum(is_common) - 1, len(self.common))
        self._label_bits = np.empty((len(self.common), n_words(len(labels))), dtype=np.uint64)
        for position, label in enumerate(self.common):
            self._label_bits[position] = pack_bits((labels == label)[None, :])[0]
        if not self.all_common:
            self._order = np.argsort(labels, kind="stable")
            self._label_starts = np.cumsum(self._label_sizes) - self._label_sizes

    @property
    def all_common(self) -> bool:
        """Whether no label is rare."""
        return len(self.common) == len(self.rank)

    def table(self, bits: Bits) -> Ints:
        """Count, for every row of bits, the set bits of each label."""
        if self.all_common:
            return count_labels(bits, self._label_bits, partition=True)
        table = np.empty((len(bits), len(self.rank)), dtype=np.int64)
        for start, stop in spans(len(bits), BATCH_SIZE // max(1, len(self.labels))):
            row, instance = np.nonzero(unpack_bits(bits[start:stop], len(self.labels)))
            slot = row * len(self.rank) + self.labels[instance]
            slot_counts = np.bincount(slot, minlength=(stop - start) * len(self.rank))
            table[start:stop] = slot_counts.reshape(stop - start, -1)
        return table

    def sums(self, bits: Bits, row: Ints, label: Ints) -> Ints:
        """Count the set bits of `label[i]` in row `row[i]`, for every i."""
        counts = np.zeros(len(row), dtype=np.int64)
        common_slots = np.flatnonzero(self.rank[label] < len(self.common))
        counts[common_slots] = self._common_counts(bits, row[common_slots], self.rank[label[common_slots]])
        for slot, instance in self.pairs(label):
            holds = get_bits(bits, row[slot], instance)
            np.add.at(counts, slot[holds], 1)
        return counts

    def _common_counts(self, bits: Bits, row: Ints, rank: Ints) -> Ints:
        if len(bits) * len(self.common) <= 2 * len(row):
            table: Ints = count_labels(bits, self._label_bits, partition=self.all_common)[row, rank]
            return table
        counts = np.empty(len(row), dtype=np.int64)

        def count(start: int, stop: int) -> None:
            label_bits = bits[row[start:stop]]
            label_bits &= self._label_bits[rank[start:stop]]
            counts[start:stop] = popcount(label_bits)

        each_batch(count, len(row), BATCH_WORDS // max(1, bits.shape[1]))
        return counts

    def pairs(self, label: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield batches of pairs: a position in `label` of a rare label, and an instance of that label."""
        if self.all_common:
            return
        rare_slots = np.flatnonzero(self.rank[label] == len(self.common))
        all_sizes = self._label_sizes[label[rare_slots]]
        ends = np.cumsum(all_sizes)
        start = 0
        while start < len(rare_slots):
            n_before = ends[start] - all_sizes[start]
            stop = max(start + 1, int(np.searchsorted(ends, n_before + BATCH_SIZE, side="right")))
            sizes = all_sizes[start:stop]
            first = self._label_starts[label[rare_slots[start:stop]]]
            yield np.repeat(rare_slots[start:stop], sizes), self._order[concatenate_ranges(first, sizes)]
            start = stop

    def sum_losses(self, batch: Batch, losses: HeldLosses) -> Floats:
        """Sum over the explanations that hold for each instance, label by label for common labels."""
        start, stop, bits = batch
        entries = losses.span(start, stop)
        agreeing, row, label = (
            losses.agreeing[entries],
            losses.explanation[entries] - start,
            losses.label[entries],
        )
        weights = np.empty(
            (stop - start, len(self.common) + (not self.all_common), 1 + losses.further.shape[1])
        )
        weights[:, :, 0] = losses.lost[start:stop, None]
        weights[:, :, 1:] = losses.further[start:stop, None]
        common_slots = np.flatnonzero(self.rank[label] < len(self.common))
        ranks = self.rank[label[common_slots]]
        np.subtract.at(weights[:, :, 0], (row[common_slots], ranks), agreeing[common_slots])
        sums = column_sums(bits, weights, self.rank[self.labels])
        self._subtract_rare(sums[:, 0], bits, (row, label), agreeing)
        return sums

    def _subtract_rare(self, sums: Floats, bits: Bits, slots: tuple[Ints, Ints], loss: Floats) -> None:
        """Subtract, in place, the losses of rare labels from the instances with these labels."""
        row, label = slots
        for slot, instance in self.pairs(label):
            holds = get_bits(bits, row[slot], instance)
            np.subtract.at(sums, instance[holds], loss[slot[holds]])


class SameLabel(Agreement):
    """Agreement that is 1 for equal labels and 0 otherwise.

    Examples
    --------
    >>> SAME_LABEL.sum_over_slots(np.array([0, 0]), np.array([0, 1]), np.array([2, 1]))
    array([2, 1])
    """

    def sum_over_slots(
        self, row: Counts, label: Counts | None, weight: Counts, by_row: Counts | None = None
    ) -> Counts:
        """Return the weight of each slot: no other slot of its row has the same label."""
        return weight

    def scope_predictions(self, labels: Counts, n_labels: int) -> ScopeLabels:
        """Return the predictions of instances with these labels."""
        return ScopeLabels(labels, n_labels)

    def select_labels(self, labels: Counts) -> "SameLabel":
        """Return itself: agreement does not depend on the numbering of labels."""
        return self

    def disagreement(self, label: int | Counts, labels: Counts) -> Floats:
        """Return 1 for every different label."""
        differs: Floats = (labels != label).astype(np.float64)
        return differs


SAME_LABEL = SameLabel()
