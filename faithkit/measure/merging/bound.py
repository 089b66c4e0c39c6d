"""How rows that are alone are merged: which way, what it finds, and what each row has to do with it.

Any partition that is made of identities alone gives a lower bound of consistency, for given the explanations
labels are independent. Which one is made depends on the kind of the identities, and never on labels.
"""

from collections.abc import Callable

import numpy as np

from faithkit.measure.explanations import by_name
from faithkit.measure.inference import Moments
from faithkit.measure.merging.alone import Alone
from faithkit.measure.merging.merged import BLOCK, NOTHING, PAIRS, Merged
from faithkit.measure.merging.one_block import one_block
from faithkit.measure.merging.paired import can_be_near, paired
from faithkit.measure.relations import key_of
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.spread import Pseudo
from faithkit.measure.sums import Floats
from faithkit.measure.tally import Count


def merged(counted: Count, facts: Moments, pseudo: Callable[[], Pseudo]) -> tuple[Merged, Floats | None]:
    """Merge the rows that are alone, seeing what the relation compares and nothing behind it.

    Parameters
    ----------
    counted : Count
        Of a grouping relation.
    facts : Moments
    pseudo : callable
        Returns pseudo-values as if nothing were divided: not all ways need them.

    Returns
    -------
    Merged
    (2, c) float or None
        The pseudo-value of x for each s and slot; None where nothing is merged, and they are those of M.
    """
    slots, identities = counted.slots, key_of(counted.relation, counted.explanations)
    level, agreement = (facts.value, facts.verified), counted.agreement
    if not can_be_near(identities):
        return one_block(slots, level, agreement)
    if Alone.number(slots) > 1:
        return paired(slots, by_name(identities, counted.explanations), level, pseudo(), agreement)
    return Merged(NOTHING, *level, facts.se, facts.n / 2, facts.skew), None


def block_sizes(slots: Slots, how: str) -> Counts:
    """Return the sizes of all blocks of more than one row, the largest first."""
    merged_sizes = np.array(_merged_sizes(Alone.number(slots), how), dtype=np.int64)
    return np.sort(np.concatenate([slots.totals[slots.totals > 1], merged_sizes]))[::-1]


def _merged_sizes(alone: int, how: str) -> list[int]:
    if how == PAIRS:
        return [2] * (alone // 2)
    return [alone] if how == BLOCK else []
