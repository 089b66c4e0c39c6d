"""How sure a reader's score makes us: limits that hold near 1, where a normal limit fails."""

import math

import numpy as np

from faithkit.measure.sums import Floats
from faithkit.measure.unequal.instance import share_limits

BET = 0.75  # the largest part of what can be lost that is ever at stake


def score_limit(score: float, trials: float, confidence: float) -> float:
    """Return the lower limit of consistency by a mean score: Clopper and Pearson's, of (1 + score) / 2.

    Examples
    --------
    >>> round(score_limit(0.9, 1000, 0.95), 3), round(score_limit(1.0, 100, 0.95), 3)
    (0.869, 0.928)
    """
    low, _ = share_limits((1.0 + score) / 2, trials, confidence)
    return max(0.0, 2.0 * low - 1.0)


def betting_limit(scores: Floats, confidence: float) -> float:
    """Return a lower limit of consistency that needs no approximation, by scores that follow each other.

    Somebody bets that the mean is above m₀, on every score before it is seen. If it is not, what they own is
    not expected to grow, and becomes 2/α times what they began with in at most α/2 of all cases (Ville). So
    every m₀ at which it does is too low. What they own falls as m₀ grows, after every score: each part of the
    stake's minimum, times s − m₀, does. So the limit is found by halving.

    Parameters
    ----------
    scores : (n,) float
        From −1 to 1, each of a reader that has learnt from earlier rows only.
    confidence : float

    Examples
    --------
    >>> round(betting_limit(np.full(1000, 0.9), 0.95), 3), betting_limit(np.zeros(10), 0.95)
    (0.891, 0.0)
    """
    if not len(scores):
        return 0.0
    wanted = math.log(2.0 / (1.0 - confidence))
    stakes = np.sqrt(2.0 * wanted / (_variances(scores) * len(scores)))

    def is_too_low(mean: float) -> bool:
        bets = np.minimum(stakes, BET / (1.0 + mean))
        return bool(np.log1p(bets * (scores - mean)).cumsum().max() >= wanted)

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if is_too_low(middle) else (low, middle)
    return low


def _variances(scores: Floats) -> Floats:
    """Return how much scores have varied before each of them, beginning with a variance of 1 about 0."""
    before = np.arange(1.0, len(scores) + 1)
    means = np.concatenate([[0.0], scores.cumsum()[:-1]]) / before
    return (1.0 + np.concatenate([[0.0], ((scores - means) ** 2).cumsum()[:-1]])) / before
