"""Confidence bounds of shares as anchor-exp computes them, step for step, for many searches at once.

A search takes its decisions by these bounds: with a finer bisection it would take others than anchor-exp's.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

STEPS = 16  # of bisection
SMALLEST, LARGEST = 0.0000001, 0.9999999999999999  # shares, where divergences are computed


def bounds(shares: Floats, levels: Floats, upper: Bools) -> Floats:
    """Return for each share p the upper, or lower, end of all q with KL(p ‖ q) ≤ level.

    Examples
    --------
    >>> bounds(np.array([0.5, 0.5, 1.0]), np.array([0.1, 0.1, 0.02]), np.array([True, False, False])).round(3)
    array([0.713, 0.287, 0.98 ])
    """
    p = np.clip(shares, SMALLEST, LARGEST)
    rest = 1 - p
    width = np.sqrt(levels / 2.0)
    inside, outside = shares, np.clip(np.where(upper, shares + width, shares - width), 0, 1)
    for _ in range(STEPS):
        middle = (outside + inside) / 2.0
        q = np.minimum(np.maximum(middle, SMALLEST), LARGEST)
        beyond = p * np.log(p / q) + rest * np.log(rest / (1 - q)) > levels
        inside, outside = np.where(beyond, inside, middle), np.where(beyond, middle, outside)
    return outside
