"""Heavy tails of predictions that are numbers, which make intervals too short.

How much of their variance is due to few of them is seen in the predictions alone, whatever the explanations.
"""

import numpy as np

from faithkit.measure.agreement.squares import Squares
from faithkit.measure.sums import Floats, Ints, exact_sum
from faithkit.measure.tally import Count

FEW = 0.01  # of the predictions
SOME = 2**16  # of all predictions
MUCH = 0.3  # of the variance: normal ones have 0.08, Student's with five degrees of freedom 0.18


def tail_share(counted: Count) -> float | None:
    """Return the share of the variance that is due to the 1 % of predictions furthest from their mean.

    None where it is not the share of a variance that is measured, and below 100 rows. Of 300 normal
    predictions none was seen above `MUCH`, of Student's with five degrees of freedom 3 %, of lognormal ones
    74 %, whose intervals cover too seldom.

    Examples
    --------
    >>> import faithkit
    >>> round(tail_share(faithkit.score([0.5] * 50 + [1.5] * 50, ["a"] * 100).counts["consistency"]), 3)
    0.01
    """
    agreement = counted.agreement
    if not isinstance(agreement, Squares) or not agreement.is_divided:
        return None
    slots, n = counted.slots, counted.slots.weight
    few = int(np.ceil(FEW * n))
    if FEW * n < 1:
        return None  # in a small sample one row is more than that share of them
    times, squares = slots.times, agreement.squares_of(slots.label)
    among = _largest(squares, few)
    most, often = squares[among], times[among]
    order = np.argsort(-most, kind="stable")
    most, often = most[order], often[order]
    taken = np.minimum(often, np.maximum(0, few - (np.cumsum(often) - often)))
    return exact_sum(most, taken) / exact_sum(squares, times)


def _largest(squares: Floats, few: int) -> Ints:
    """Return the places of so many, or of some more; a part of all tells which need not be looked at."""
    if few >= len(squares):
        return np.arange(len(squares))
    some = squares[:: max(1, len(squares) // SOME)]
    rank = min(len(some), 1 + 2 * few * len(some) // len(squares))
    likely = np.flatnonzero(squares >= np.partition(some, -rank)[-rank])
    if len(likely) >= few:
        return likely
    return np.flatnonzero(squares >= np.partition(squares, -few)[-few])


def is_heavy(share: float | None) -> bool:
    """Whether so much of the variance is due to few predictions that an interval may be too short.

    Examples
    --------
    >>> is_heavy(0.08), is_heavy(0.4), is_heavy(None)
    (False, True, False)
    """
    return share is not None and share > MUCH
