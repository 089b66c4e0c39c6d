"""All rows that are alone in one block: for identities of any kind, from the tally alone."""

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.estimators import ratio
from faithkit.measure.merging.merged import BLOCK, NOTHING, Merged
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.spread import Spread
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


def one_block(slots: Slots, level: tuple[float, float]) -> tuple[Merged, Floats]:
    """Merge all rows that are alone into one block.

    Parameters
    ----------
    slots : Slots
        Of a grouping relation.
    level : tuple of float
        M and V.

    Returns
    -------
    Merged
    (2, c) float
        The pseudo-value of x for each s and slot; those of slots without owners mean nothing.

    Examples
    --------
    >>> from faithkit.measure.tally import Tally
    >>> counts = np.array([[1, 0], [1, 0], [0, 1]])
    >>> found, psi = one_block(Tally(counts, np.stack([0 * counts, counts])).slots, (0.0, 0.0))
    >>> round(found.value, 3), psi[1].tolist()
    (0.333, [1.0, 1.0, -1.0])
    """
    alone = Alone.of(slots)
    psi = np.zeros(slots.owners.shape)
    psi[1] = _pseudo_values(slots, alone)
    weight = slots.owners.ravel()
    used = weight > 0
    se = Spread.of(psi.ravel()[used], level[0], weight[used]).standard_error
    how = BLOCK if alone.size > 1 else NOTHING
    return Merged.of(how, level, (alone.score, alone.reach), slots.n, se), psi


def _pseudo_values(slots: Slots, alone: Alone) -> Floats:
    """Return ψ = n·x − (n−1)·x without the row, for a row of each slot whose explanation holds for it."""
    T, N = slots.owners[1], slots.totals[slots.row]
    A = slots.by_explanation(slots.owners * (slots.owners - 1) * np.array([[0], [1]]))[slots.row]
    large = ratio(A, N - 1.0) - ratio(A - 2.0 * (T - 1), N - 2.0)
    two = A + alone.score - alone.joined_by(_partner(slots))
    single = alone.score - alone.left_by(slots.label)
    return np.select([N >= 3, N == 2, alone.slot], [large, two, single], 0.0)


def _partner(slots: Slots) -> Counts:
    """Return the label of the other row, for slots whose explanation two rows share; any for others."""
    both = np.zeros(len(slots.totals), dtype=np.int64)
    np.add.at(both, slots.row, slots.owners[1] * slots.label)
    partner = both[slots.row] - slots.label
    return np.where(slots.totals[slots.row] == 2, partner, 0)
