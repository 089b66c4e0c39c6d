"""One pass over a relation's matrix: counts of the instances in each scope, by label.

If a relation reads only the instance, explanations can also be checked against rows of a pool: predictions
are cheap. The rows of a pool are checked against, but own no explanation.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import chain
from operator import add
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import Bits, get_bits, n_words, popcount
from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, holds_bits
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL, ScopeLabels
from faithkit.measure.counting.owners import Counts, Owners

BATCH_BYTES = 32 * 2**20  # packed bits per batch, for any number of explanations
DENSE = 2**22  # entries of a table over all labels; a larger table is not stored
NO_SLOTS = np.zeros(0, dtype=np.int64)  # default if slots are not needed


def bit_batches(
    relation: Relation, sample: Sample, explanations: Explanations
) -> Iterator[tuple[int, int, Bits]]:
    """Yield a relation's matrix in batches of explanations: start, stop and packed bits."""
    size = BATCH_BYTES // max(1, 8 * n_words(len(sample)))
    for start, stop in spans(len(explanations), size):
        yield start, stop, holds_bits(relation, sample, explanations.take(slice(start, stop)))


@attrs.frozen(eq=False)
class ScanTarget:
    """The explanations that a scan counts, and the slots to count separately.

    A slot is a pair of explanation and label. `row` and `label` are the explanation and the label of each
    slot, sorted. `agreement` measures how far two labels agree.
    """

    explanations: Explanations
    n_labels: int
    row: Counts = NO_SLOTS
    label: Counts = NO_SLOTS
    agreement: Agreement = SAME_LABEL


@attrs.frozen(eq=False)
class ScanCounts:
    """The counts of a scan over a batch of instances; counts of two batches add up.

    Attributes
    ----------
    totals : (m,) int
        The number of instances for which each explanation holds.
    sums : (c,) or (m, …) int
        The number of those instances that agree with each slot, or the sums per explanation that
        `Agreement.counts` turns into it.
    n_reflexive : (c,) int
        The number of owners in each slot whose own explanation holds for them.
    table : (m, k) int or None
        The number of instances of each label for which each explanation holds; None if too large.
    reflexive : (n,) bool
        Whether the explanation of each instance holds for the instance itself.
    """

    totals: Counts
    sums: Counts
    n_reflexive: Counts
    table: Counts | None
    reflexive: NDArray[np.bool_]

    def owners(self, target: ScanTarget, rows: Counts) -> Owners:
        """Return the owners; `rows` is the number of rows of each slot."""
        alike = target.agreement.counts(self.sums, self.totals, target.row, target.label)
        rows_by_own = np.column_stack([rows - self.n_reflexive, self.n_reflexive])
        slot, own = np.nonzero(rows_by_own)
        entries = target.row[slot], target.label[slot], rows_by_own[slot, own], alike[slot]
        return Owners(*entries, self.totals, own, own_agreeing=own)

    def __add__(self, other: "ScanCounts") -> "ScanCounts":
        return ScanCounts(
            self.totals + other.totals,
            self.sums + other.sums,
            self.n_reflexive + other.n_reflexive,
            None if self.table is None or other.table is None else self.table + other.table,
            np.empty(0, dtype=bool),  # not used for sums of batches
        )


def scan_relation(
    relation: Relation, sample: Sample, labels: Counts, target: ScanTarget, slot: Counts
) -> ScanCounts:
    """Count the relation's matrix, batch by batch.

    `slot` is the slot of each instance; −1 for an instance without an explanation.
    """
    scope, row, label = target.agreement.scope_predictions(labels, target.n_labels), target.row, target.label
    owned_explanation = np.where(slot < 0, -1, row[slot]) if len(row) else slot
    m, k = len(target.explanations), target.n_labels
    no_bits = np.empty((0, n_words(len(labels))), dtype=np.uint64)
    totals, sums = np.zeros(m, dtype=np.int64), [scope.sums(no_bits, NO_SLOTS, NO_SLOTS)]
    keeps_table = m * k <= max(DENSE, k) and isinstance(scope, ScopeLabels)
    table = np.zeros((m, k), dtype=np.int64) if keeps_table else None
    reflexive = np.zeros(len(slot), dtype=bool)
    for start, stop, bits in bit_batches(relation, sample, target.explanations):
        slot_start, slot_stop = np.searchsorted(row, [start, stop])
        batch_slots = row[slot_start:slot_stop] - start, label[slot_start:slot_stop]
        if table is not None and isinstance(scope, ScopeLabels):
            table[start:stop] = batch_table = scope.table(bits)
            totals[start:stop] = batch_table.sum(axis=1)
            sums.append(batch_table[batch_slots])
        else:
            totals[start:stop] = popcount(bits)
            sums.append(scope.sums(bits, *batch_slots))
        mark_reflexive(reflexive, (start, stop, bits), owned_explanation)
        del bits  # otherwise two batches would be in memory
    n_reflexive = np.bincount(slot[reflexive], minlength=len(row))
    return ScanCounts(totals, np.concatenate(sums), n_reflexive, table, reflexive)


def mark_reflexive(
    reflexive: NDArray[np.bool_], batch: tuple[int, int, Bits], owned_explanation: Counts
) -> None:
    """Set, in place, whether each instance's own explanation holds for it, for explanations in this batch."""
    start, stop, bits = batch
    owning_rows = np.flatnonzero((owned_explanation >= start) & (owned_explanation < stop))
    reflexive[owning_rows] = get_bits(bits, owned_explanation[owning_rows] - start, owning_rows)


PIECE_ROWS = 2**18  # rows of a pool in memory per piece


@attrs.frozen(eq=False)
class Pool:
    """Instances without explanations, in pieces that can be iterated repeatedly, and their label codes.

    Examples
    --------
    >>> pool = Pool.of(np.array([[1.0], [2.0]]), np.array([0, 1]))
    >>> len(pool), [codes.tolist() for _, codes in pool]
    (2, [[0, 1]])
    """

    codes: Counts
    pieces: Callable[[], Iterable[Any]]
    _kept_samples: list[Sample] = attrs.field(factory=list, init=False, repr=False)

    @classmethod
    def of(cls, X: Any, codes: Counts) -> "Pool":
        """Build a pool of rows in memory."""
        n = n_rows(X)
        return cls(codes, lambda: (take_rows(X, slice(*span)) for span in spans(n, PIECE_ROWS)))

    def after(self, X: Any, codes: Counts) -> "Pool":
        """Return a pool that begins with further rows in memory."""
        first = Pool.of(X, codes)
        return Pool(np.concatenate([codes, self.codes]), lambda: chain(first.pieces(), self.pieces()))

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[tuple[Sample, Counts]]:
        start = 0
        for sample in self._samples():
            stop = start + len(sample)
            yield sample, self.codes[start:stop]
            start = stop

    def _samples(self) -> Iterable[Sample]:
        """Return the pieces as samples; a small pool keeps them, with what relations cached there."""
        if len(self) > PIECE_ROWS:
            return map(unexplained_sample, self.pieces())
        if not self._kept_samples:
            self._kept_samples.extend(map(unexplained_sample, self.pieces()))
        return self._kept_samples

    def scan(self, relation: Relation, target: ScanTarget) -> ScanCounts:
        """Count the relation's matrix of all explanations over the rows of the pool."""
        if not relation.instance_only:
            raise InputError(
                f"{relation} reads the explanations of the rows that it is asked about, and the rows of a "
                "pool have none: leave the pool out, or use a relation that reads the instance only."
            )
        scans = (scan_relation(relation, *piece, target, np.full(len(piece[1]), -1)) for piece in self)
        return reduce(add, scans)


def unexplained_sample(X: Any) -> Sample:
    """Return a sample of instances without explanations."""
    n = n_rows(X)
    explanations = Explanations(kind="value", values=np.full(n, None), missing=np.ones(n, dtype=bool))
    return Sample(X, explanations)
