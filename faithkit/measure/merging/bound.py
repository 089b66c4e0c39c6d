"""How rows that are alone are merged: which way, what it finds, and what each row has to do with it.

Any partition that is made of identities alone gives a lower bound of consistency, for given the explanations
labels are independent. Which one is made depends on the kind of the identities, and never on labels.
"""

from collections.abc import Iterable

import numpy as np

from faithkit.measure.inference import Moments
from faithkit.measure.merging.merged import BLOCK, NOTHING, PAIRS, Merged
from faithkit.measure.merging.one_block import one_block
from faithkit.measure.merging.paired import alone_rows, can_be_near, paired
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.sums import Floats
from faithkit.measure.tally import RowCount
from faithkit.measure.unequal.counting import UnequalCount
from faithkit.measure.unequal.merging import merged_unequal


def merged(counted: RowCount, facts: Moments, psi: Floats) -> tuple[Merged, Floats]:
    """Merge the rows that are alone.

    Parameters
    ----------
    counted : RowCount
        Of a grouping relation.
    facts : Moments
    psi : (n,) float
        The pseudo-value of M for every row, or for every cluster.

    Returns
    -------
    Merged
    (n,) float
        The pseudo-value of x for every row, or for every cluster.
    """
    if isinstance(counted, UnequalCount):
        return merged_unequal(counted)
    level = facts.value, facts.verified
    if not can_be_near(counted.sample.explanations.identities):
        found, values = one_block(counted.slots, level)
        return found, values[counted.reflexive.astype(np.int64), counted.place]
    if len(alone_rows(counted)) < 2:
        return Merged(NOTHING, *level, facts.se, facts.n / 2), psi
    return paired(counted, level, psi)


def block_sizes(slots: Slots, how: str) -> Counts:
    """Return the sizes of all blocks of more than one row, the largest first."""
    alone = int(((slots.totals == 1) & (slots.sizes == 1)).sum())
    sizes = np.concatenate([slots.totals[slots.totals > 1], np.array(list(_merged_sizes(alone, how)), int)])
    return np.sort(sizes)[::-1]


def _merged_sizes(alone: int, how: str) -> Iterable[int]:
    if how == PAIRS:
        return [2] * (alone // 2 - alone % 2) + [3] * (alone % 2)
    return [alone] if how == BLOCK else []
