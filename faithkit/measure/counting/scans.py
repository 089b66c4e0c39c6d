"""One pass over a relation's matrix: who is held, label by label, and who is held by its own explanation."""

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.bitsets import Bits, get_bits, n_words, popcount
from faithkit.arrays.blocks import spans
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, holds_bits
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL, ScopeLabels
from faithkit.measure.counting.owners import Counts, Owners

BLOCK_BYTES = 32 * 2**20  # of packed bits at a time, whatever the number of explanations
DENSE = 2**22  # entries of a table over all labels; a larger one is not kept
NOBODY = np.zeros(0, dtype=np.int64)  # where no slots are told apart


def bit_blocks(
    relation: Relation, sample: Sample, explanations: Explanations
) -> Iterator[tuple[int, int, Bits]]:
    """Yield a relation's matrix in blocks of explanations: start, stop and packed bits."""
    size = max(1, BLOCK_BYTES // max(1, 8 * n_words(len(sample))))
    for start, stop in spans(len(explanations), size):
        yield start, stop, holds_bits(relation, sample, explanations.take(slice(start, stop)))


@attrs.frozen(eq=False)
class ScanTarget:
    """What instances are counted against: explanations, and the slots of those that are to be told apart.

    `row` and `label` say which explanation and which label each slot stands for, in order, and `agreement`
    how far two labels agree.
    """

    explanations: Explanations
    n_labels: int
    row: Counts = NOBODY
    label: Counts = NOBODY
    agreement: Agreement = SAME_LABEL


@attrs.frozen(eq=False)
class ScanCounts:
    """What a pass over some instances has counted; that of two pieces adds up.

    Attributes
    ----------
    totals : (m,) int
        The instances for which each explanation holds.
    sums : (c,) or (m, …) int
        For each slot, those of them that agree with it, or for each explanation what that is made of.
    itself : (c,) int
        For each slot, the owners for whom their own explanation holds.
    table : (m, k) int or None
        The instances of each label for which each explanation holds; None where it would be too large.
    reflexive : (n,) bool
        Whether each instance's own explanation holds for it.
    """

    totals: Counts
    sums: Counts
    itself: Counts
    table: Counts | None
    reflexive: NDArray[np.bool_]

    def owners(self, whole: ScanTarget, rows: Counts) -> Owners:
        """Return the owners of what was asked about; each slot has so many rows."""
        alike = whole.agreement.counts(self.sums, self.totals, whole.row, whole.label)
        by_own = np.column_stack([rows - self.itself, self.itself])
        slot, own = np.nonzero(by_own)
        entries = whole.row[slot], whole.label[slot], by_own[slot, own], alike[slot]
        return Owners(*entries, self.totals, own)

    def __add__(self, other: "ScanCounts") -> "ScanCounts":
        return ScanCounts(
            self.totals + other.totals,
            self.sums + other.sums,
            self.itself + other.itself,
            None if self.table is None or other.table is None else self.table + other.table,
            np.empty(0, dtype=bool),  # nobody asks pieces for it
        )


def ask(relation: Relation, sample: Sample, labels: Counts, whole: ScanTarget, place: Counts) -> ScanCounts:
    """Count every block of a relation's matrix.

    Parameters
    ----------
    relation : Relation
    sample : Sample
    labels : (n,) int
    whole : ScanTarget
    place : (n,) int
        The slot in which each instance stands, −1 for one without an explanation.
    """
    held, row, label = whole.agreement.held(labels, whole.n_labels), whole.row, whole.label
    owned = np.where(place < 0, -1, row[place]) if len(row) else place
    m, k = len(whole.explanations), whole.n_labels
    nothing = np.empty((0, n_words(len(labels))), dtype=np.uint64)
    totals, sums = np.zeros(m, dtype=np.int64), [held.sums(nothing, NOBODY, NOBODY)]
    kept = m * k <= max(DENSE, k) and isinstance(held, ScopeLabels)
    table = np.zeros((m, k), dtype=np.int64) if kept else None
    reflexive = np.zeros(len(place), dtype=bool)
    for start, stop, bits in bit_blocks(relation, sample, whole.explanations):
        first, last = np.searchsorted(row, [start, stop])
        where = row[first:last] - start, label[first:last]
        if table is not None and isinstance(held, ScopeLabels):
            table[start:stop] = found = held.sets.table(bits)
            totals[start:stop] = found.sum(axis=1)
            sums.append(found[where])
        else:
            totals[start:stop] = popcount(bits)
            sums.append(held.sums(bits, *where))
        note_own(reflexive, (start, stop, bits), owned)
        del bits  # or two blocks would be held while the next one is made
    itself = np.bincount(place[reflexive], minlength=len(row))
    return ScanCounts(totals, np.concatenate(sums), itself, table, reflexive)


def note_own(reflexive: NDArray[np.bool_], block: tuple[int, int, Bits], owned: Counts) -> None:
    """Note, in place, which instances are held by their own explanation, if it is one of this block."""
    start, stop, bits = block
    members = np.flatnonzero((owned >= start) & (owned < stop))
    reflexive[members] = get_bits(bits, owned[members] - start, members)
