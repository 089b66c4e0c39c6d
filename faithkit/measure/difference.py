"""The difference between two measures, with its interval and p-value, on one sample or on two.

The difference of two estimates says nothing about rows that could not be checked. So the interval runs from
the first measure's lower limit to the second's upper limit, and accounts for the correlation of their errors.
"""

from collections.abc import Callable, Sequence

import attrs
import numpy as np

from faithkit.arrays import Floats
from faithkit.measure.intervals import MeasureStatistics, compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.report.base import Displayable
from faithkit.report.formats import format_difference, format_p_value, name_interval
from faithkit.report.sheet import Sheet, Table


@attrs.frozen(repr=False)
class Difference(Displayable):
    """The difference of two measures, with its interval and p-value.

    `value` is the difference of their estimates.

    Examples
    --------
    >>> Difference(0.0412, -0.01112, 0.0934, 0.95, 0.2)
    <Difference +0.041 (95 % interval −0.012 to +0.094), p 0.200>
    """

    value: float
    low: float
    high: float
    confidence: float
    p_value: float

    def line(self) -> str:
        """Return the difference, its interval and its p-value."""
        value, interval = format_difference(self.value, self.low, self.high)
        return f"{value} ({name_interval(self.confidence)} {interval}), p {format_p_value(self.p_value)}"

    def sheet(self) -> Sheet:
        """Return the numbers in a table."""
        return self.sheet_of()

    def sheet_of(self, names: Sequence[str] = (), adjusted: float | None = None) -> Sheet:
        """Return the numbers, under the names of both sides, with an adjusted p-value if there is one."""
        value, interval = format_difference(self.value, self.low, self.high)
        name, p_value = ("p", self.p_value) if adjusted is None else ("p, adjusted", adjusted)
        pairs = {
            "difference": value,
            name_interval(self.confidence): interval,
            name: format_p_value(p_value),
        }
        return Sheet.of(" minus ".join(names) or None, Table.of_pairs(pairs))

    def cell(self) -> str:
        """Return what stands in a table: the difference and its interval.

        Examples
        --------
        >>> Difference(0.0412, -0.01112, 0.0934, 0.95, 0.2).cell()
        '+0.041 (−0.012 to +0.094)'
        """
        return "{} ({})".format(*format_difference(self.value, self.low, self.high))

    def texts(self, p_value: float) -> tuple[str, ...]:
        """Return the difference, its interval, a p-value, and a star if that says that it is not 0."""
        star = "*" if p_value < 1 - self.confidence else ""
        return (*format_difference(self.value, self.low, self.high), format_p_value(p_value), star)


def compute_difference(
    first: MeasureStatistics,
    second: MeasureStatistics,
    confidence: float = 0.95,
    correlations: tuple[float, float] = (0.0, 0.0),
) -> Difference:
    """Return the first measure minus the second, by default on two disjoint samples.

    Parameters
    ----------
    first, second : MeasureStatistics
        The `statistics` of an `Estimate`.
    confidence : float
    correlations : tuple of float
        How the errors of both measures go together, for the lower and for the upper end, if both are of one
        sample.

    Examples
    --------
    >>> import faithkit
    >>> labels = ["yes", "no"] * 100
    >>> good, poor = faithkit.score(labels, labels), faithkit.score(labels, ["same"] * 200)
    >>> change = compute_difference(good.consistency.statistics, poor.consistency.statistics)
    >>> round(change.value, 2), change.low > 0, change.p_value < 0.001
    (0.5, True, True)
    """
    rho_low, rho_high = correlations

    def limits(level: float) -> tuple[float, float]:
        low = _lower_limit(first, second, rho_low, level)
        return low, -_lower_limit(second, first, rho_high, level)

    low, high = limits(confidence)
    return Difference(first.estimate - second.estimate, low, high, confidence, smallest_level(limits))


def subtract_measures(
    first: JackknifeEstimate, second: JackknifeEstimate, confidence: float = 0.95
) -> Difference:
    """Return the first measure minus the second, on one sample."""
    correlations = (
        _correlation(first.value, second.disagreement),
        _correlation(second.value, first.disagreement),
    )
    return compute_difference(first.statistics, second.statistics, confidence, correlations)


def _lower_limit(a: MeasureStatistics, b: MeasureStatistics, rho: float, confidence: float) -> float:
    """Return a lower limit of a − b, from the distances of each to its own limit and their correlation ρ."""
    lower, upper = a.low_estimate, 1.0 - b.disagreement
    p = lower - compute_interval(a, confidence)[0]
    q = compute_interval(b, confidence)[1] - upper
    return lower - upper - float(np.sqrt(max(0.0, p * p + q * q + 2 * rho * p * q)))


def _correlation(a: Floats, b: Floats) -> float:
    """Return Pearson's correlation; 0 where either array is constant."""
    if len(a) < 2 or np.ptp(a) <= 1e-12 or np.ptp(b) <= 1e-12:
        return 0.0
    return float(np.clip(np.corrcoef(a, b)[0, 1], -1.0, 1.0))


def smallest_level(limits: Callable[[float], tuple[float, float]]) -> float:
    """Return the smallest α whose interval excludes 0, by bisection on a logarithmic scale.

    `limits` returns the interval of a confidence.
    """
    smallest, largest = 1e-12, 1.0 - 1e-9

    def excludes(alpha: float) -> bool:
        low, high = limits(1.0 - alpha)
        return low > 0 or high < 0

    if not excludes(largest):
        return 1.0
    if excludes(smallest):
        return smallest
    while largest / smallest > 1.0001:
        middle = float(np.sqrt(largest * smallest))
        smallest, largest = (smallest, middle) if excludes(middle) else (middle, largest)
    return largest


def adjust_by_holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's step-down method.

    The probability that any rejected hypothesis is true is then at most α.

    Examples
    --------
    >>> adjust_by_holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[i] * (len(p_values) - rank)))
        adjusted[i] = largest
    return adjusted
