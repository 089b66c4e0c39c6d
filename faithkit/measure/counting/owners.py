"""Owners: rows grouped by explanation, label, and the rows they can be checked against.

Every measure is a mean over owners. An owner has D other rows in its scope, of which A agree with it.
"""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import BATCH_SIZE, Floats, Ints, is_broadcast, sum_by
from faithkit.arrays.batches import each_batch, map_batches

Counts = Ints

ROUNDING = 1e-12  # of a sum of weights, as a share of it
NOTHING = 1e-14  # a smaller difference is rounding


@attrs.frozen(eq=False, slots=False)
class Owners:
    """Rows and their explanations; rows that do not differ in any count form one entry.

    Entries are sorted by explanation and label. Entries of numbers that hardly repeat may be unsorted, and
    may repeat a pair of explanation and label. `Count.with_sorted_labels` sorts and merges them.

    Attributes
    ----------
    explanation, label : (c,) int
        The explanation and the label of each entry. If `label` is None, entry c has the label c.
    rows : (c,) int
        The number of rows of each entry.
    alike : (c,) int or float
        T: the sum of agreement with the label over all rows for which the explanation holds.
    totals : (m,) int
        N: the number of rows for which each explanation holds.
    own, own_agreeing : (c,) int or float
        The part of N that does not count as *other* rows for an owner, and the same part of T. For equal rows
        both are 1, the owner itself, if its explanation holds for it.
    steps : (c,) int, optional
        The weights of the rows. If given, all attributes except `rows` are sums of weights.

    Examples
    --------
    Three instances share one explanation, two of them with label 0:

    >>> from faithkit.measure.counting.tally import Tally
    >>> owners = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]])).entries
    >>> owners.n, owners.others, owners.agreeing, owners.scores
    (3, array([2, 2]), array([1, 0]), array([0.5, 0. ]))
    """

    explanation: Counts
    _label: Counts | None
    rows: Counts
    alike: NDArray[Any]
    totals: Counts
    own: Counts
    own_agreeing: NDArray[Any]
    steps: Counts | None = None

    def __len__(self) -> int:
        return len(self.explanation)

    @cached_property
    def label(self) -> Counts:
        """The label of each entry."""
        return self.labels(slice(None))

    def labels(self, entries: slice) -> Counts:
        """Return the labels of the selected entries."""
        return np.arange(*entries.indices(len(self))) if self._label is None else self._label[entries]

    @property
    def weight(self) -> Counts:
        """The total weight of each entry; its number of rows if rows are equal."""
        return self.rows if self.steps is None else self.steps

    @cached_property
    def n(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())

    @cached_property
    def total_weight(self) -> int:
        """The total weight of all rows."""
        return int(self.weight.sum())

    @property
    def others(self) -> Counts:
        """D: the number of *other* rows that an owner can be checked against."""
        return self.totals.take(self.explanation) - self.own

    @property
    def agreeing(self) -> NDArray[Any]:
        """A: the number of these rows that agree with the owner."""
        agreeing: NDArray[Any] = self.alike - self.own_agreeing
        return agreeing

    @cached_property
    def scores(self) -> Floats:
        """h: the share A / D of other rows that agree; 0 if there are no other rows."""
        scores = np.empty(len(self))

        def divide(start: int, stop: int) -> None:
            part, batch_scores = self.part(start, stop), scores[start:stop]
            others = part.others
            np.subtract(part.alike, part.own_agreeing, out=batch_scores)
            if part.alike.dtype.kind == "f":  # rounded in proportion to the whole scope
                rounding = ROUNDING * (others + part.own)
                np.copyto(batch_scores, others, where=np.abs(batch_scores - others) < rounding)
            batch_scores /= np.maximum(others, 1)
            batch_scores[others < 1] = 0.0

        each_batch(divide, len(self), BATCH_SIZE)
        return scores

    @property
    def checked(self) -> tuple[int, int]:
        """The number and the total weight of rows that have other rows to be checked against."""

        def check(start: int, stop: int) -> tuple[int, int]:
            part = self.part(start, stop)
            has_others = (part.others > 0) & (part.weight > 0)
            return int(part.rows[has_others].sum()), int(part.weight[has_others].sum())

        rows, weight = zip((0, 0), *map_batches(check, len(self), BATCH_SIZE), strict=True)
        return sum(rows), sum(weight)

    @property
    def mean_agreement(self) -> tuple[float, float]:
        """M, the mean agreement with other rows, and V, the share of rows that have other rows.

        Examples
        --------
        >>> from faithkit.measure.counting.tally import Tally
        >>> tally = Tally(np.array([[2, 1], [0, 1]]), np.array([[[0, 0], [0, 0]], [[2, 1], [0, 1]]]))
        >>> tally.entries.mean_agreement
        (0.25, 0.75)
        """
        verified = self.checked[1] / self.total_weight
        value = float(self.times(self.scores).sum()) / self.total_weight
        exact = next((end for end in (0.0, verified) if abs(value - end) < NOTHING), value)
        return exact, verified

    @property
    def row_losses(self) -> Floats:
        """The loss of each entry, in rows: 1 − h for each row that has others to agree with."""
        return np.where(self.others > 0, self.weight * (1.0 - self.scores), 0.0)

    @property
    def sizes(self) -> Counts:
        """The number of rows that own each explanation."""
        return self.by_explanation(self.rows)

    def by_explanation(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum the values of the entries of each explanation."""
        return sum_by(self.explanation, values, len(self.totals))

    def by_label(self) -> Counts:
        """Return the total weight of each label."""
        return sum_by(self.label, self.weight)

    def times(self, values: NDArray[Any]) -> NDArray[Any]:
        """Multiply the values of entries by their weights."""
        is_all_one = is_broadcast(self.weight) and self.weight[0] == 1  # avoids a copy
        return values if is_all_one else self.weight * values

    def part(self, start: int, stop: int) -> "Owners":
        """Return the entries from `start` to `stop`; the counts of an entry do not depend on the others."""
        return self._take(slice(start, stop), self.labels(slice(start, stop)))

    def of_label(self, label: int) -> "Owners":
        """Return the entries of one label.

        Examples
        --------
        >>> from faithkit.measure.counting.tally import Tally
        >>> owners = Tally(np.array([[2, 1]]), np.array([[[0, 0]], [[2, 1]]])).entries
        >>> owners.of_label(0).n, owners.of_label(0).scores
        (2, array([0.5]))
        """
        entries = np.flatnonzero(self.label == label)
        return self._take(entries, self.label[entries])

    def _take(self, entries: slice | Counts, label: Counts) -> "Owners":
        return attrs.evolve(
            self,
            explanation=self.explanation[entries],
            label=label,
            rows=self.rows[entries],
            alike=self.alike[entries],
            own=self.own[entries],
            own_agreeing=self.own_agreeing[entries],
            steps=None if self.steps is None else self.steps[entries],
        )

    def span(self, start: int, stop: int) -> slice:
        """Return the slice of entries of the explanations from `start` to `stop`."""
        entry_start, entry_stop = np.searchsorted(self.explanation, [start, stop])
        return slice(int(entry_start), int(entry_stop))


def broadcast_ones(size: int) -> Counts:
    """Return an array of ones, as a view without memory."""
    return np.broadcast_to(np.int64(1), size)


def count_codes(codes: Counts, size: int) -> tuple[Counts, Counts]:
    """Return the sorted distinct codes, all below `size`, and how often each occurs."""
    if size > 4 * len(codes):
        distinct_and_counts: tuple[Counts, Counts] = np.unique(codes, return_counts=True)
        return distinct_and_counts
    n_occurrences = np.bincount(codes, minlength=size)
    occurring = np.flatnonzero(n_occurrences)
    return occurring, n_occurrences[occurring]


def index_codes(codes: Counts) -> tuple[Counts, Counts, Counts]:
    """Return the sorted distinct codes, how often each occurs, and the position of each code among them.

    Examples
    --------
    >>> index_codes(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 2]), array([1, 0, 1]))
    """
    size = int(codes.max(initial=-1)) + 1
    if size <= 4 * len(codes):
        occurring, n_occurrences = count_codes(codes, size)
        return occurring, n_occurrences, find_positions(occurring, codes, size)
    order, start = sort_runs(codes)
    n_occurrences = np.diff(start, append=len(codes))
    position = np.empty_like(order)
    position[order] = np.repeat(np.arange(len(start)), n_occurrences)
    return codes[order[start]], n_occurrences, position


def sort_runs(codes: Counts) -> tuple[Counts, Counts]:
    """Sort non-negative codes stably; return the order, and the start of each run of equal codes in it.

    NumPy sorts 16-bit integers by counting, which is faster than by comparison.

    Examples
    --------
    >>> sort_runs(np.array([7, 5, 7]))
    (array([1, 0, 2]), array([0, 1]))
    """
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    for shift in range(16, int(codes.max(initial=0)).bit_length(), 16):
        digits = (codes >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    sorted_codes = codes[order]
    is_start = np.ones(len(sorted_codes), dtype=bool)
    np.not_equal(sorted_codes[1:], sorted_codes[:-1], out=is_start[1:])
    return order, np.flatnonzero(is_start)


def find_positions(occurring: Counts, codes: Counts, size: int) -> Counts:
    """Return the position of each code among the codes that occur."""
    if size > 4 * len(codes):
        return np.searchsorted(occurring, codes)
    position = np.zeros(size, dtype=np.int64)
    position[occurring] = np.arange(len(occurring))
    return position[codes]
