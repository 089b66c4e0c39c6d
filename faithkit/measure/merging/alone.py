"""Who is alone: rows whose explanation nobody else has."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Sums, toward
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.sums import Floats, exact_sum, quotient


@attrs.frozen(eq=False)
class Alone:
    """Rows whose explanation nobody else has: how many, how far they agree with a label, and in pairs."""

    slot: NDArray[np.bool_]  # which slots are such rows
    toward: NDArray[Any]  # S_y: how many of them agree with each label
    size: int
    agreeing: float  # ordered pairs: for labels Σ S_y (S_y − 1)

    @classmethod
    def of(cls, slots: Slots, agreement: Sums = SAME_LABEL) -> "Alone":
        """Find them; rows without an explanation stay out."""
        slot = (slots.totals[slots.row] == 1) & (slots.owners[1] == 1)
        by_label = np.bincount(slots.label[slot], minlength=int(slots.label.max(initial=-1)) + 1)
        found = toward(agreement, by_label)
        return cls(slot, found, int(slot.sum()), _added(found - 1, by_label))

    @staticmethod
    def number(slots: Slots) -> int:
        """Count them, without looking at labels."""
        return int(((slots.totals == 1) & (slots.compact.owned[-1] == 1)).sum())

    @property
    def score(self) -> float:
        """What they add to n·x as one block."""
        return self.agreeing / (self.size - 1) if self.size > 1 else 0.0

    @property
    def reach(self) -> int:
        """How many of them have others in their block."""
        return self.size if self.size > 1 else 0

    def joined_by(self, label: Counts) -> Floats:
        """Return their score if a row of each of some labels were alone, too."""
        return (self.agreeing + 2.0 * self.toward[label]) / self.size if self.size else np.zeros(len(label))

    def left_by(self, label: Counts) -> Floats:
        """Return their score if one of them, of each of some labels, were gone."""
        if self.size < 3:
            return np.zeros(len(label))
        return (self.agreeing - 2.0 * (self.toward[label] - 1)) / (self.size - 2)


def _added(values: NDArray[Any], times: Counts) -> float:
    """Add up values that occur so many times, without rounding on the way."""
    if values.dtype.kind != "f":
        return int((times * values).sum())
    return quotient(exact_sum(values, times), 1)
