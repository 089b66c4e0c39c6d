"""The instances of every label: as bits where many have it, as a list where few do.

A label that half of the instances have is counted 64 instances at a time. One that three of 200,000 have is
counted by looking these three up. So the time does not grow with the number of labels.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.bitsets import (
    BLOCK_WORDS,
    Bits,
    count_labels,
    get_bits,
    n_words,
    pack_bits,
    popcount,
    unpack_bits,
)
from faithkit.arrays.blocks import each_block, ranges, spans

Ints = NDArray[np.int64]

FEW = 64  # labels: so many are common, whoever has them
COMMON = 256  # with more, a label is common where at least every 256th instance has it
AT_ONCE = 2**20  # pairs, or elements of an unpacked matrix


class LabelSets:
    """Who has which label.

    Attributes
    ----------
    common : (c,) int
        The labels that are kept as bits.
    rank : (k,) int
        Where each label stands among the common ones; `len(common)` for all rare ones.

    Examples
    --------
    >>> sets = LabelSets(np.array([0, 1, 1]), 2)
    >>> bits = pack_bits(np.array([[True, True, False], [False, True, True]]))
    >>> sets.counts(bits, np.array([0, 1]), np.array([1, 1]))
    array([1, 2])
    >>> sets.table(bits)
    array([[1, 1],
           [0, 2]])
    """

    def __init__(self, labels: Ints, n_labels: int) -> None:
        self.labels = labels
        self._sizes = np.bincount(labels, minlength=n_labels)
        is_common = np.full(n_labels, True) if n_labels <= FEW else self._sizes * COMMON >= len(labels)
        self.common = np.flatnonzero(is_common)
        self.rank = np.where(is_common, np.cumsum(is_common) - 1, len(self.common))
        self._bits = np.empty((len(self.common), n_words(len(labels))), dtype=np.uint64)
        for place, label in enumerate(self.common):
            self._bits[place] = pack_bits((labels == label)[None, :])[0]
        if not self.all_common:
            self._order = np.argsort(labels, kind="stable")
            self._starts = np.cumsum(self._sizes) - self._sizes

    @property
    def all_common(self) -> bool:
        """Whether no label is rare."""
        return len(self.common) == len(self.rank)

    def table(self, bits: Bits) -> Ints:
        """Count, for every row of bits, the ones that fall on each label."""
        if self.all_common:
            return count_labels(bits, self._bits, partition=True)
        table = np.empty((len(bits), len(self.rank)), dtype=np.int64)
        for start, stop in spans(len(bits), max(1, AT_ONCE // max(1, len(self.labels)))):
            row, instance = np.nonzero(unpack_bits(bits[start:stop], len(self.labels)))
            slots = row * len(self.rank) + self.labels[instance]
            found = np.bincount(slots, minlength=(stop - start) * len(self.rank))
            table[start:stop] = found.reshape(stop - start, -1)
        return table

    def counts(self, bits: Bits, row: Ints, label: Ints) -> Ints:
        """Count the ones that fall on one label each, in one row each."""
        found = np.zeros(len(row), dtype=np.int64)
        some = np.flatnonzero(self.rank[label] < len(self.common))
        found[some] = self._common_counts(bits, row[some], self.rank[label[some]])
        for slot, instance in self.pairs(label):
            held = get_bits(bits, row[slot], instance)
            np.add.at(found, slot[held], 1)
        return found

    def _common_counts(self, bits: Bits, row: Ints, rank: Ints) -> Ints:
        if len(bits) * len(self.common) <= 2 * len(row):
            table: Ints = count_labels(bits, self._bits, partition=self.all_common)[row, rank]
            return table
        counts = np.empty(len(row), dtype=np.int64)

        def count(start: int, stop: int) -> None:
            held = bits[row[start:stop]]
            held &= self._bits[rank[start:stop]]
            counts[start:stop] = popcount(held)

        each_block(count, len(row), max(1, BLOCK_WORDS // max(1, bits.shape[1])))
        return counts

    def pairs(self, label: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield (place in `label`, instance) for all instances of each rare label in it, some at a time."""
        if self.all_common:
            return
        rare = np.flatnonzero(self.rank[label] == len(self.common))
        size = self._sizes[label[rare]]
        ends = np.cumsum(size)
        start = 0
        while start < len(rare):
            done = ends[start] - size[start]
            stop = max(start + 1, int(np.searchsorted(ends, done + AT_ONCE, side="right")))
            times = size[start:stop]
            first = self._starts[label[rare[start:stop]]]
            yield np.repeat(rare[start:stop], times), self._order[ranges(first, times)]
            start = stop
