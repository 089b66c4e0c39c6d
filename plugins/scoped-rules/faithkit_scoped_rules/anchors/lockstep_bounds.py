"""Confidence bounds of shares, for many searches at a time, with exactly the steps of anchor-exp.

The decisions of a search depend on these bounds. A finer bisection would lead to other decisions than those
of anchor-exp.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BISECTION_STEPS = 16
MIN_SHARE, MAX_SHARE = 0.0000001, 0.9999999999999999  # shares are clipped, so that divergences are finite


def compute_bounds(shares: Floats, levels: Floats, upper: Bools) -> Floats:
    """Return for each share p the upper, or lower, end of all q with KL(p ‖ q) ≤ level.

    Examples
    --------
    >>> shares, levels = np.array([0.5, 0.5, 1.0]), np.array([0.1, 0.1, 0.02])
    >>> compute_bounds(shares, levels, upper=np.array([True, False, False])).round(3)
    array([0.713, 0.287, 0.98 ])
    """
    p = np.clip(shares, MIN_SHARE, MAX_SHARE)
    p_rest = 1 - p
    width = np.sqrt(levels / 2.0)
    inside, outside = shares, np.clip(np.where(upper, shares + width, shares - width), 0, 1)
    for _ in range(BISECTION_STEPS):
        middle = (outside + inside) / 2.0
        q = np.minimum(np.maximum(middle, MIN_SHARE), MAX_SHARE)
        is_beyond = p * np.log(p / q) + p_rest * np.log(p_rest / (1 - q)) > levels
        inside, outside = np.where(is_beyond, inside, middle), np.where(is_beyond, middle, outside)
    return outside
