"""Numbers with a tolerance: two predictions agree if they differ by at most ε."""

from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints
from faithkit.arrays.bitsets import Bits, unpack_bits
from faithkit.arrays.blocks import spans
from faithkit.measure.agreement.base import Blocks, Influence
from faithkit.measure.counting.owners import Counts

AT_ONCE = 2**22  # elements of an unpacked matrix
FINE = 2.0**35  # steps of the largest weight of a row


@attrs.frozen(eq=False, slots=False)
class Within:
    """Two predictions agree if they differ by at most ε; labels are numbered in order of their values.

    A difference of ε is within it, also where its last bits are not.

    Examples
    --------
    >>> near = Within(np.array([0.9, 1.1, 1.5]), 0.2)
    >>> near.over_slots(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([1, 1, 1]))
    array([2, 2, 1])
    """

    values: Floats
    epsilon: float

    most = 1.0
    is_whole = True
    is_convex = False  # what lies between two numbers may agree with both
    is_divided = False
    is_bounded = True

    @cached_property
    def first(self) -> Counts:
        """The first label that agrees with each label."""
        bits = 1e-15 * np.abs(self.values) + 1e-9 * self.epsilon
        return np.searchsorted(self.values, self.values - self.epsilon - bits)

    @cached_property
    def behind(self) -> Counts:
        """The label behind the last one that agrees with each label: who agrees with whom is mutual."""
        return np.searchsorted(self.first, np.arange(len(self.values)), side="right")

    def over_slots(
        self, row: Counts, label: Counts | None, weight: NDArray[Any], by_row: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Add up consecutive slots, as labels are in the order of their values."""
        k, label = len(self.values), np.arange(len(row)) if label is None else label
        codes = row * k + label
        behind, first = (
            np.searchsorted(codes, row * k + place[label]) for place in (self.behind, self.first)
        )
        if weight.dtype.kind != "f":
            return _between(weight, first, behind)
        most = np.zeros(int(row.max(initial=-1)) + 1)
        np.maximum.at(most, row, weight)
        unit = np.where(most > 0, most, 1.0)[row]
        high = np.rint(weight / unit * FINE)  # whole numbers add up exactly, however large others are
        low = np.rint((weight / unit * FINE - high) * FINE)
        parts = (_between(one.astype(np.int64), first, behind) for one in (high, low))
        return unit * (next(parts) / FINE + next(parts) / FINE**2)

    def counts(self, sums: Ints, totals: Counts, row: Counts, label: Counts) -> Counts:
        """Return the counts, which are what was added up."""
        return sums

    def held(self, labels: Counts, n_labels: int) -> "ScopeNumbers":
        """Look at instances with these labels."""
        return ScopeNumbers(self, labels)

    def taken(self, labels: Counts) -> "Within":
        """Return the agreement of some labels, given in order."""
        return Within(self.values[labels], self.epsilon)

    def apart(self, label: int | Counts, labels: Counts) -> Floats:
        """Return 1 for every value that is further away than ε."""
        return ((labels < self.first[label]) | (labels >= self.behind[label])).astype(np.float64)

    def lost(self, label: Counts, in_pool: bool = False) -> None:
        """Return None: nothing is divided."""
        return


def _between(values: Counts, first: Counts, behind: Counts) -> Counts:
    """Add up consecutive values, from `first` to that before `behind`."""
    before = np.concatenate([[0], np.cumsum(values)])
    found: Counts = before[behind] - before[first]
    return found


class ScopeNumbers:
    """Instances in the order of their predictions."""

    def __init__(self, agreement: Within, labels: Counts) -> None:
        self.agreement, self.labels = agreement, labels
        self.order = np.argsort(labels, kind="stable")
        self.sorted = labels[self.order]

    def sums(self, bits: Bits, row: Counts, label: Counts) -> Ints:
        """Count, for each slot, the instances that agree with its label."""
        first, behind = (np.searchsorted(self.sorted, place[label]) for place in self._ends)
        found = np.empty(len(row), dtype=np.int64)
        for start, stop in spans(len(bits), max(1, AT_ONCE // max(1, len(self.labels)))):
            holds = unpack_bits(bits[start:stop], len(self.labels))[:, self.order]
            before = np.zeros((len(holds), holds.shape[1] + 1), dtype=np.int64)
            np.cumsum(holds, axis=1, out=before[:, 1:])
            mine = slice(*np.searchsorted(row, [start, stop]))
            which = row[mine] - start
            found[mine] = before[which, behind[mine]] - before[which, first[mine]]
        return found

    @property
    def _ends(self) -> tuple[Counts, Counts]:
        return self.agreement.first, self.agreement.behind

    def lost(self, blocks: Blocks, influence: Influence) -> tuple[Floats, Floats]:
        """Add up gains and losses: of each explanation, those of owners that agree."""
        owners, loss, lone = influence.owners, influence.loss, influence.lone
        gain = owners.by_explanation(influence.gain)
        sums = np.zeros((2, len(self.labels)))
        for start, stop, bits in blocks:
            for top, bottom in spans(stop - start, max(1, AT_ONCE // max(1, len(self.labels)))):
                rows = slice(start + top, start + bottom)
                holds = unpack_bits(bits[top:bottom], len(self.labels))
                mine = owners.span(rows.start, rows.stop)
                place = owners.explanation[mine] - rows.start, owners.label[mine]
                lost = self._losses(*place, loss[mine], len(holds))
                sums[0] += np.where(holds, gain[rows, None] - lost[:, self.labels], 0).sum(axis=0)
                sums[1] += (holds * lone[rows, None]).sum(axis=0)
            del bits  # before the next block is made
        return sums[0], sums[1]

    def _losses(self, row: Counts, label: Counts, loss: Floats, m: int) -> Floats:
        """Return, for some explanations and every label, the losses of owners that agree with it."""
        table = np.zeros((m, len(self.agreement.values) + 1))
        np.add.at(table, (row, label + 1), loss)
        np.cumsum(table, axis=1, out=table)
        first, behind = self._ends
        lost: Floats = table[:, behind] - table[:, first]
        return lost
