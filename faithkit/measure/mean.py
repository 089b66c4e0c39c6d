"""The mean of one score per row, with its standard error and confidence interval."""

import attrs
import numpy as np
from numpy.typing import ArrayLike

from faithkit.arguments import check_share
from faithkit.arrays import Floats, sum_by
from faithkit.measure.counting.design import Design
from faithkit.measure.intervals import share_limits, student_factor

ROUNDING = 1e-12


@attrs.frozen
class Mean:
    """The mean of the scores of `n` rows, its standard error and its interval; None where `n` is 0.

    The interval is Clopper and Pearson's. Its number of trials is the one that would have this standard
    error, corrected for the uncertainty of the standard error (Korn and Graubard). It is at least the number
    of rows, because scores between two ends never vary more than trials that succeed or fail. So the interval
    holds near the ends and where the sample shows no variation; in the latter case `se` is None. With weights
    or clusters, the number of trials is the effective number of rows.

    Examples
    --------
    >>> mean = Mean.of([1.0, 0.8, 1.0, 0.6, 1.0])
    >>> [round(number, 2) for number in (mean.value, mean.se, mean.low, mean.high)]
    [0.88, 0.08, 0.49, 1.0]
    """

    value: float | None
    se: float | None
    low: float | None
    high: float | None
    n: int

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        *,
        confidence: float = 0.95,
        design: Design | None = None,
        minimum: float = 0.0,
    ) -> "Mean":
        """Return the mean of scores between `minimum` and 1, one for each row.

        NaN scores are ignored, and so are rows with the weight 0.

        With a `design`, rows count by weight, and clusters are the independent units.
        """
        confidence = check_share(confidence, "confidence", usual=0.95)
        scores = np.asarray(scores, dtype=np.float64)
        is_counted = ~np.isnan(scores)
        if design is not None:
            is_counted &= design.steps > 0
        rows = np.flatnonzero(is_counted)
        if not len(rows):
            return cls(None, None, None, None, 0)
        row_design, width = None if design is None else design.take(rows), 1.0 - minimum
        value, se = _mean_and_error(scores[rows], row_design)
        scaled_value = min(1.0, max(0.0, (value - minimum) / width))
        trials = float(len(rows)) if row_design is None else row_design.cap * row_design.effective
        if row_design is None and se is not None:
            variance = (se / width) ** 2 * student_factor(len(rows), confidence)
            trials = max(trials, scaled_value * (1.0 - scaled_value) / variance)
        low, high = (minimum + width * end for end in share_limits(scaled_value, trials, confidence))
        return cls(value, se, low, high, len(rows))


def _mean_and_error(scores: Floats, design: Design | None) -> tuple[float, float | None]:
    """Return the mean and its standard error; None for the error where the scores do not vary."""
    weights = np.ones(len(scores)) if design is None else design.steps.astype(np.float64)
    total_weight = weights.sum()
    mean = float((scores * weights).sum() / total_weight)
    units = np.arange(len(scores)) if design is None else design.unit
    unit_deviations = sum_by(units, (scores - mean) * (weights / total_weight))
    n_units = len(unit_deviations)
    if n_units < 2 or np.ptp(scores) <= ROUNDING:
        return mean, None
    variance = float((unit_deviations**2).sum()) * n_units / (n_units - 1)
    return mean, float(np.sqrt(variance)) or None
