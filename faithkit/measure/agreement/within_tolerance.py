"""Agreement of numbers within a tolerance: two predictions agree if they differ by at most ε."""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints
from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import Bits, unpack_bits
from faithkit.measure.agreement.base import Agreement, Batch, HeldLosses
from faithkit.measure.counting.owners import Counts

BATCH_SIZE = 2**22  # elements of an unpacked matrix per batch
RESOLUTION = 2.0**35  # integer steps into which the largest weight of a row is divided


@attrs.frozen(eq=False, slots=False)
class Within(Agreement):
    """Agreement that is 1 for numbers that differ by at most ε; labels are sorted by value.

    A difference of exactly ε agrees, even if rounding makes it slightly larger.

    Examples
    --------
    >>> near = Within(np.array([0.9, 1.1, 1.5]), 0.2)
    >>> near.sum_over_slots(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([1, 1, 1]))
    array([2, 2, 1])
    """

    values: Floats
    epsilon: float

    is_convex = False  # a number between two others may agree with both

    @cached_property
    def first(self) -> Counts:
        """The first label that agrees with each label."""
        rounding = 1e-15 * np.abs(self.values) + 1e-9 * self.epsilon
        return np.searchsorted(self.values, self.values - self.epsilon - rounding)

    @cached_property
    def stop(self) -> Counts:
        """The label after the last one that agrees with each label; agreement is symmetric."""
        return np.searchsorted(self.first, np.arange(len(self.values)), side="right")

    def sum_over_slots(
        self, row: Counts, label: Counts | None, weight: NDArray[Any], by_row: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Sum consecutive slots: labels are sorted by value."""
        k, label = len(self.values), np.arange(len(row)) if label is None else label
        codes = row * k + label
        stop, first = (np.searchsorted(codes, row * k + bound[label]) for bound in (self.stop, self.first))
        if weight.dtype.kind != "f":
            return _sum_slices(weight, first, stop)
        largest = np.zeros(int(row.max(initial=-1)) + 1)
        np.maximum.at(largest, row, weight)
        unit = np.where(largest > 0, largest, 1.0)[row]
        coarse = np.rint(weight / unit * RESOLUTION)  # sums of integers are exact
        fine = np.rint((weight / unit * RESOLUTION - coarse) * RESOLUTION)
        sums = (_sum_slices(values.astype(np.int64), first, stop) for values in (coarse, fine))
        return unit * (next(sums) / RESOLUTION + next(sums) / RESOLUTION**2)

    def scope_predictions(self, labels: Counts, n_labels: int) -> "ScopeNumbers":
        """Return the predictions of instances with these labels."""
        return ScopeNumbers(self, labels)

    def select_labels(self, labels: Counts) -> "Within":
        """Return the agreement of the selected labels, which are sorted."""
        return Within(self.values[labels], self.epsilon)

    def disagreement(self, label: int | Counts, labels: Counts) -> Floats:
        """Return 1 for every value that differs by more than ε."""
        return ((labels < self.first[label]) | (labels >= self.stop[label])).astype(np.float64)


def _sum_slices(values: Counts, first: Counts, stop: Counts) -> Counts:
    """Sum each slice of values from `first` to `stop`."""
    cumulative = np.concatenate([[0], np.cumsum(values)])
    sums: Counts = cumulative[stop] - cumulative[first]
    return sums


class ScopeNumbers:
    """Numbers of instances, sorted, for sums over a relation's matrix."""

    def __init__(self, agreement: Within, labels: Counts) -> None:
        self.agreement, self.labels = agreement, labels
        self.order = np.argsort(labels, kind="stable")
        self.sorted = labels[self.order]

    def sums(self, bits: Bits, row: Counts, label: Counts) -> Ints:
        """Count, for each slot, the instances that agree with its label."""
        first, end = (np.searchsorted(self.sorted, bound[label]) for bound in self._bounds)
        counts = np.empty(len(row), dtype=np.int64)
        for start, stop in spans(len(bits), BATCH_SIZE // max(1, len(self.labels))):
            holds = unpack_bits(bits[start:stop], len(self.labels))[:, self.order]
            cumulative = np.zeros((len(holds), holds.shape[1] + 1), dtype=np.int64)
            np.cumsum(holds, axis=1, out=cumulative[:, 1:])
            slots = slice(*np.searchsorted(row, [start, stop]))
            batch_row = row[slots] - start
            counts[slots] = cumulative[batch_row, end[slots]] - cumulative[batch_row, first[slots]]
        return counts

    @property
    def _bounds(self) -> tuple[Counts, Counts]:
        return self.agreement.first, self.agreement.stop

    def sum_losses(self, batch: Batch, losses: HeldLosses) -> Floats:
        """Sum what explanations lose, less what is agreeing with each instance."""
        start, stop, bits = batch
        sums = np.zeros((len(self.labels), 1 + losses.further.shape[1]))
        for row_start, row_stop in spans(stop - start, BATCH_SIZE // max(1, len(self.labels))):
            rows = slice(start + row_start, start + row_stop)
            holds = unpack_bits(bits[row_start:row_stop], len(self.labels))
            entries = losses.span(rows.start, rows.stop)
            slots = losses.explanation[entries] - rows.start, losses.label[entries]
            agreeing = self._agreeing_by_label(*slots, losses.agreeing[entries], len(holds))
            lost = losses.lost[rows, None] - agreeing[:, self.labels]
            sums[:, 0] += np.where(holds, lost, 0).sum(axis=0)
            sums[:, 1:] += holds.T @ losses.further[rows]
        return sums

    def _agreeing_by_label(self, row: Counts, label: Counts, loss: Floats, n_rows: int) -> Floats:
        """Return the sum over entries that agree with each label, for each explanation."""
        table = np.zeros((n_rows, len(self.agreement.values) + 1))
        np.add.at(table, (row, label + 1), loss)
        np.cumsum(table, axis=1, out=table)
        first, stop = self._bounds
        losses: Floats = table[:, stop] - table[:, first]
        return losses
