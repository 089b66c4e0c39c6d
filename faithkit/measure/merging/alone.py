"""Who is alone: rows whose explanation nobody else has."""

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.slots import Counts, Slots
from faithkit.measure.sums import Floats


@attrs.frozen(eq=False)
class Alone:
    """Rows whose explanation nobody else has: how many, by label, and how many pairs of them agree."""

    slot: NDArray[np.bool_]  # which slots are such rows
    by_label: Counts
    size: int
    agreeing: int  # ordered pairs: Σ S_y (S_y − 1)

    @classmethod
    def of(cls, slots: Slots) -> "Alone":
        """Find them; rows without an explanation stay out."""
        slot = (slots.totals[slots.row] == 1) & (slots.owners[1] == 1)
        by_label = np.bincount(slots.label[slot], minlength=int(slots.label.max(initial=-1)) + 1)
        return cls(slot, by_label, int(slot.sum()), int((by_label * (by_label - 1)).sum()))

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
        return (self.agreeing + 2.0 * self.by_label[label]) / self.size if self.size else np.zeros(len(label))

    def left_by(self, label: Counts) -> Floats:
        """Return their score if one of them, of each of some labels, were gone."""
        if self.size < 3:
            return np.zeros(len(label))
        return (self.agreeing - 2.0 * (self.by_label[label] - 1)) / (self.size - 2)
