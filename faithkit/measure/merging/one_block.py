"""All rows that are alone in one block: for identities of any kind, from the tally alone."""

import attrs
import numpy as np

from faithkit.measure.agreement.base import Agreement, Sums
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.divisor import divided
from faithkit.measure.estimators import ratio
from faithkit.measure.merging.alone import Alone
from faithkit.measure.merging.merged import BLOCK, NOTHING, Merged
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.spread import Spread
from faithkit.measure.sums import Floats


def one_block(
    slots: Slots, level: tuple[float, float], agreement: Agreement = SAME_LABEL
) -> tuple[Merged, Floats]:
    """Merge all rows that are alone into one block.

    Parameters
    ----------
    slots : Slots
        Of a grouping relation.
    level : tuple of float
        M and V.
    agreement : Agreement

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
    alone = Alone.of(slots, agreement)
    how = BLOCK if alone.size > 1 else NOTHING
    found = Merged.of(how, level, (alone.score, alone.reach), slots.n, None)
    psi = divided(lambda one: _pseudo_values(slots, one), (found.value, found.reach), slots, agreement)
    weight = slots.owners.ravel()
    used = weight > 0
    spread = Spread.of(psi.ravel()[used], level[0], weight[used])
    skew = spread.skewness if agreement.is_divided else 0.0
    return attrs.evolve(found, se=spread.standard_error, skew=skew), psi


def _pseudo_values(slots: Slots, agreement: Sums) -> Floats:
    """Return ψ = n·x − (n−1)·x without the row, for a row of each slot: 0 where it has no explanation."""
    alone, N = Alone.of(slots, agreement), slots.totals[slots.row]
    others = agreement.over_slots(slots.row, slots.label, slots.owners[1]) - 1
    A = slots.added(others)[1][slots.row]
    large = ratio(A, N - 1.0) - ratio(A - 2.0 * others, N - 2.0)
    two = A + alone.score - alone.joined_by(_partner(slots))
    single = alone.score - alone.left_by(slots.label)
    psi = np.zeros(slots.owners.shape)
    psi[1] = np.select([N >= 3, N == 2, alone.slot], [large, two, single], 0.0)
    return psi


def _partner(slots: Slots) -> Counts:
    """Return the label of the other row, for slots whose explanation two rows share; any for others."""
    both = np.zeros(len(slots.totals), dtype=np.int64)
    np.add.at(both, slots.row, slots.owners[1] * slots.label)
    partner = both[slots.row] - slots.label
    return np.where(slots.totals[slots.row] == 2, partner, 0)
