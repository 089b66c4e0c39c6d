"""The mean of one score for each row, and how sure a sample makes us of it."""

from typing import Any

import attrs
import numpy as np

from faithkit.arguments import share
from faithkit.arrays import Floats, sum_by
from faithkit.measure.counting.design import Design
from faithkit.measure.limits import share_limits

ROUNDING = 1e-12


@attrs.frozen
class Mean:
    """The mean of scores of `n` rows, its standard error and its interval; None where there is nothing.

    The interval is Clopper and Pearson's, for as many trials as would have this standard error, allowing for
    its own (Korn and Graubard), and for no fewer than there are rows: scores between two ends never vary more
    than trials that succeed or fail. So it holds near the ends, and where the sample shows no variation, in
    which case `se` is None. With weights or clusters it is for as many trials as these are worth.

    Examples
    --------
    >>> found = Mean.of([1.0, 0.8, 1.0, 0.6, 1.0])
    >>> [round(one, 2) for one in (found.value, found.se, found.low, found.high)]
    [0.88, 0.08, 0.49, 1.0]
    """

    value: float | None
    se: float | None
    low: float | None
    high: float | None
    n: int

    @classmethod
    def of(
        cls, scores: Any, confidence: float = 0.95, design: Design | None = None, least: float = 0.0
    ) -> "Mean":
        """Take the mean of scores from `least` to 1, one for each row; rows whose score is NaN are left out.

        With a `design`, rows count by weight and clusters are what is independent.
        """
        confidence = share(confidence, "confidence", usual=0.95)
        given = np.asarray(scores, dtype=np.float64)
        kept = np.flatnonzero(~np.isnan(given))
        if not len(kept):
            return cls(None, None, None, None, 0)
        drawn, width = None if design is None else design.take(kept), 1.0 - least
        value, se = _moments(given[kept], drawn)
        level = min(1.0, max(0.0, (value - least) / width))
        trials = _trials(level, se and se / width, len(kept), confidence)
        if drawn is not None:
            trials = drawn.cap * drawn.effective
        low, high = (least + width * end for end in share_limits(level, trials, confidence))
        return cls(value, se, low, high, len(kept))


def _moments(scores: Floats, design: Design | None) -> tuple[float, float | None]:
    """Return mean and standard error."""
    steps = np.ones(len(scores), dtype=np.int64) if design is None else design.steps
    weights = steps.astype(np.float64)
    whole = weights.sum()
    value = float((scores * weights).sum() / whole)
    unit = np.arange(len(scores)) if design is None else design.unit
    parts = sum_by(unit, (scores - value) * (weights / whole))
    if len(parts) < 2 or np.ptp(scores) <= ROUNDING:
        return value, None
    variance = float((parts**2).sum()) * len(parts) / (len(parts) - 1)
    return value, float(np.sqrt(variance)) or None


def _trials(level: float, se: float | None, n: int, confidence: float) -> float:
    if se is None:
        return float(n)
    from scipy.special import ndtri, stdtrit

    half = 0.5 + confidence / 2
    return max(float(n), float(ndtri(half) / stdtrit(n - 1, half)) ** 2 * level * (1.0 - level) / se**2)
