"""Heavy tails of predictions that are numbers, which make intervals too short.

How much of their variance is due to few of them is seen in the predictions alone, whatever the explanations.
"""

import numpy as np

from faithkit.measure.agreement.squares import Squares
from faithkit.measure.blocks import each_block
from faithkit.measure.slots import Slots
from faithkit.measure.sums import AT_ONCE, Floats, Ints, exact_sum, quotient
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
    (most, often), whole = _largest(slots, agreement, few), _sum_of_squares(slots, agreement)
    order = np.argsort(-most, kind="stable")
    most, often = most[order], often[order]
    taken = np.minimum(often, np.maximum(0, few - (np.cumsum(often) - often)))
    return quotient(exact_sum(most, taken), 1) / whole


def _sum_of_squares(slots: Slots, agreement: Squares) -> float:
    """Add up what all predictions have; where they count the same, that is known already."""
    if slots.rows is None:
        return agreement.explained.squares
    return quotient(exact_sum(agreement.squares_of(slots.label), slots.times), 1)


def _largest(slots: Slots, agreement: Squares, few: int) -> tuple[Floats, Ints]:
    """Return so many of the largest squares or some more, and how often each of them occurs.

    A part of all tells which need not be looked at.
    """
    c = len(slots)
    some = agreement.squares_of(slots.labels(slice(None, None, max(1, c // SOME))))
    rank = min(len(some), 1 + 2 * few * len(some) // c)
    found = _at_least(np.partition(some, -rank)[-rank], slots, agreement)
    return found if len(found[0]) >= min(few, c) else _at_least(0.0, slots, agreement)


def _at_least(least: float, slots: Slots, agreement: Squares) -> tuple[Floats, Ints]:
    found, times = [], slots.times

    def look(start: int, stop: int) -> None:
        squares = agreement.squares_of(slots.labels(slice(start, stop)))
        kept = np.flatnonzero(squares >= least)
        found.append((squares[kept], times[start:stop][kept]))

    each_block(look, len(slots), AT_ONCE)
    squares, often = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return squares, often


def is_heavy(share: float | None) -> bool:
    """Whether so much of the variance is due to few predictions that an interval may be too short.

    Examples
    --------
    >>> is_heavy(0.08), is_heavy(0.4), is_heavy(None)
    (False, True, False)
    """
    return share is not None and share > MUCH
