"""All rows that are alone in one block: for identities of any kind, from the tally alone."""

import numpy as np

from faithkit.measure.estimators import ratio
from faithkit.measure.merging.alone import Alone
from faithkit.measure.merging.merged import BLOCK, NOTHING, Merged
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.spread import Spread
from faithkit.measure.sums import Floats


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
