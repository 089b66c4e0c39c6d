"""Confidence bounds of a share by the Kullback–Leibler divergence, for many shares at once."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ITERATIONS = 30  # of bisection: the bound is then known to a billionth


def divergence(p: Floats, q: Floats) -> Floats:
    """Return KL(p ‖ q) of two coins, elementwise.

    Examples
    --------
    >>> divergence(np.array([0.5, 1.0]), np.array([0.5, 0.5])).round(4)
    array([0.    , 0.6931])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ones = np.where(p > 0, p * np.log(p / q), 0.0)
        zeros = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return ones + zeros


def lower_bound(successes: NDArray[np.int64], trials: NDArray[np.int64], level: float) -> Floats:
    """Return the smallest q ≤ successes/trials with trials · KL(p ‖ q) ≤ level; 0 without trials.

    Examples
    --------
    >>> lower_bound(np.array([10, 100, 0]), np.array([10, 100, 0]), level=3.0).round(3)
    array([0.741, 0.97 , 0.   ])
    """
    p = np.divide(successes, trials, out=np.zeros(np.shape(trials)), where=np.asarray(trials) > 0)
    room = level / np.maximum(trials, 1)
    low, high = np.zeros_like(p), p.copy()
    for _ in range(ITERATIONS):
        middle = (low + high) / 2
        outside = divergence(p, middle) > room
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return low
