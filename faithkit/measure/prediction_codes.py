"""A summary of numeric predictions, in their own unit."""

from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Floats
from faithkit.measure.counting.owners import Counts


@attrs.frozen
class PredictionCodes:
    """The number, mean, standard deviation and quartiles of numeric predictions.

    Attributes
    ----------
    n : int
        The number of predictions.
    mean, sd : float
        Mean and population standard deviation; the standard deviation of one number is 0.
    least, quarter, median, three_quarters, most : float
        Minimum, quartiles and maximum.

    Examples
    --------
    >>> summary = PredictionCodes.of(np.array([1.0, 2.0, 7.0]), np.array([1, 0, 3]))
    >>> summary.n, summary.mean, summary.least, summary.quarter, summary.median, summary.most
    (4, 5.5, 1.0, 1.0, 7.0, 7.0)
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
        """Summarise sorted values, each of which occurs `times` times; at least one must occur."""
        values, times = values[times > 0], times[times > 0]
        n = int(times.sum())
        center = values[len(values) // 2]  # subtracted, or large numbers would lose their small differences
        deviations = values - center
        mean = float((times * deviations).sum()) / n
        # a power of two, or squares would overflow or vanish
        unit = 2.0 ** min(1023, int(np.frexp(np.abs(deviations).max(initial=0.0))[1]))
        variance = float((times * ((deviations - mean) / unit) ** 2).sum()) / n
        quartiles = values[np.searchsorted(np.cumsum(times), n * np.array([0.25, 0.5, 0.75]))]
        order_statistics = float(values[0]), *quartiles.tolist(), float(values[-1])
        return cls(n, float(center + mean), float(np.sqrt(variance) * unit), *order_statistics)


def summarise_predictions(classes: list[Any], codes: Counts) -> PredictionCodes | None:
    """Summarise the predictions of rows; None where there are no rows or predictions are not single numbers.

    `classes` are the predictions that the codes stand for, in ascending order.
    """
    if not len(codes) or not isinstance(classes[0], float):
        return None
    return PredictionCodes.of(np.array(classes), np.bincount(codes, minlength=len(classes)))
