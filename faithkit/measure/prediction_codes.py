"""Predictions that are numbers, summarised in their own unit: where nobody would read a thousand of them."""

from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Floats
from faithkit.measure.counting.owners import Counts


@attrs.frozen
class PredictionCodes:
    """Some numbers that were predicted.

    Attributes
    ----------
    n : int
        How many there are.
    mean, sd : float
        Their mean and standard deviation, as of all there are: that of one number is 0.
    least, quarter, median, three_quarters, most : float
        The smallest and the largest, and those below or at which a quarter, half and three quarters lie.

    Examples
    --------
    >>> found = PredictionCodes.of(np.array([1.0, 2.0, 7.0]), np.array([1, 0, 3]))
    >>> found.n, found.mean, found.least, found.quarter, found.median, found.three_quarters, found.most
    (4, 5.5, 1.0, 1.0, 7.0, 7.0, 7.0)
    """

    n: int
    mean: float
    sd: float
    least: float
    quarter: float
    median: float
    three_quarters: float
    most: float

    @classmethod
    def of(cls, values: Floats, times: Counts) -> "PredictionCodes":
        """Summarise values in ascending order that occur so many times; some must."""
        values, times = values[times > 0], times[times > 0]
        n, behind = int(times.sum()), np.cumsum(times)
        apart = values - values[len(values) // 2]  # or large numbers would lose their small differences
        mean = float((times * apart).sum()) / n
        unit = 2.0 ** min(
            1023, int(np.frexp(np.abs(apart).max(initial=0.0))[1])
        )  # or squares would overflow, or vanish
        variance = float((times * ((apart - mean) / unit) ** 2).sum()) / n
        parts = values[np.searchsorted(behind, n * np.array([0.25, 0.5, 0.75]))]
        ends = float(values[0]), *parts.tolist(), float(values[-1])
        return cls(n, float(values[len(values) // 2] + mean), float(np.sqrt(variance) * unit), *ends)


def predicted(classes: list[Any], codes: Counts) -> PredictionCodes | None:
    """Summarise the predictions of some rows; None where there are none, and where they are several numbers.

    `classes` are what codes stand for, in ascending order.
    """
    if not len(codes) or not isinstance(classes[0], float):
        return None
    return PredictionCodes.of(np.array(classes), np.bincount(codes, minlength=len(classes)))
