"""Local measures where rows have weights or clusters."""

import numpy as np
from numpy.typing import NDArray

from faithkit.measure.instance import Local
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats
from faithkit.measure.unequal.design import Design, summed, worth


def local_of(
    held: NDArray[np.intp],
    apart: Floats,
    design: Design,
    row: int | None,
    confidence: float,
    is_whole: bool = True,
) -> Local:
    """Measure one instance against the rows that its explanation holds for.

    Rows are counted as they are; the share is that of their weights, and its interval assumes as many
    independent trials as the other clusters are worth.

    Parameters
    ----------
    held : (h,) int
        The rows for which the explanation holds.
    apart : (n,) float
        How far each row disagrees with the instance.
    design : Design
    row : int or None
        The instance's own place among the rows; None for a new one.
    confidence : float
    is_whole : bool
        Whether two predictions agree or do not.

    Examples
    --------
    >>> design = Design.of([1, 1, 2], None, n=3)
    >>> local_of(np.array([0, 1, 2]), np.array([0.0, 0.0, 1.0]), design, 0, 0.95).value
    0.3333333333333333
    """
    others = held if row is None else held[design.unit[held] != design.unit[row]]
    weight = design.steps[others]
    whole, N = int(weight.sum()), len(held)
    if not is_whole:
        value = 1.0 - float((weight * apart[others]).sum()) / whole if whole else None
        return Local(N, None, value, None, None, confidence)
    agree, A = int(weight[apart[others] == 0].sum()), int((apart[held] == 0).sum())
    if not whole:
        return Local(N, A, None, 0.0, 1.0, confidence)
    low, high = share_limits(agree / whole, _effective(others, design), confidence)
    return Local(N, A, agree / whole, low, high, confidence)


def _effective(rows: Counts, design: Design) -> float:
    """Return how many independent rows of one weight some rows are worth."""
    return worth(summed(design.unit[rows], design.steps[rows], design.n_units))


def share_limits(share: float, trials: float, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for a number of trials that need not be whole."""
    from scipy.special import betaincinv

    half, yes = (1.0 - confidence) / 2, share * trials
    low = 0.0 if share <= 0 else float(betaincinv(yes, trials - yes + 1, half))
    high = 1.0 if share >= 1 else float(betaincinv(yes + 1, trials - yes, 1.0 - half))
    return low, high
