"""Which of two explainers is more faithful: differences with intervals, on one sample or on two.

The difference of two estimates says nothing about what neither could check, so the interval spans from
one's lower limit to the other's upper one, with the correlation of their errors taken into account.
"""

from collections.abc import Callable

import attrs
import numpy as np

from faithkit.arrays import Floats
from faithkit.display import Displayable
from faithkit.errors import InputError
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.intervals import MeasureStatistics, interval
from faithkit.measure.jackknife.summary import JackknifeEstimate


@attrs.frozen(repr=False)
class Difference(Displayable):
    """The difference of two measures, with interval and p-value.

    `value` is that of their estimates.
    """

    value: float
    low: float
    high: float
    confidence: float
    p_value: float


def difference(
    first: RowCount | JackknifeEstimate,
    second: RowCount | JackknifeEstimate,
    confidence: float = 0.95,
    paired: bool = True,
) -> Difference:
    """Compare two measures on one sample (`paired`), or on two disjoint ones.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.tally import count
    >>> y = np.arange(200) % 2
    >>> good, bad = Explanations.of(y.tolist()), Explanations.of(["same"] * 200)
    >>> counts = [count(SameExplanation(), Sample(None, e), y, 2) for e in (good, bad)]
    >>> found = difference(*counts)
    >>> round(found.value, 2), found.low > 0, found.p_value < 0.001
    (0.5, True, True)
    """
    one, two = (
        side if isinstance(side, JackknifeEstimate) else JackknifeEstimate.of(side)
        for side in (first, second)
    )
    if paired and one.facts.n != two.facts.n:
        raise InputError(f"samples of {one.facts.n} and {two.facts.n} rows are no pair: say paired=False.")
    rho_low = _correlation(one.value, two.disagreement) if paired else 0.0
    rho_high = _correlation(two.value, one.disagreement) if paired else 0.0
    value = one.facts.estimate - two.facts.estimate

    def limits(level: float) -> tuple[float, float]:
        return _floor(one.facts, two.facts, rho_low, level), -_floor(two.facts, one.facts, rho_high, level)

    low, high = limits(confidence)
    return Difference(value, low, high, confidence, _p_value(limits))


def _floor(one: MeasureStatistics, two: MeasureStatistics, rho: float, confidence: float) -> float:
    lower, upper = one.estimate, 1.0 - two.disagreement
    p = lower - interval(one, confidence)[0]
    q = interval(two, confidence)[1] - upper
    return lower - upper - float(np.sqrt(max(0.0, p * p + q * q + 2 * rho * p * q)))


def _correlation(a: Floats, b: Floats) -> float:
    """Return Pearson's correlation; 0 where something does not vary."""
    if len(a) < 2 or np.ptp(a) <= 1e-12 or np.ptp(b) <= 1e-12:
        return 0.0
    return float(np.clip(np.corrcoef(a, b)[0, 1], -1.0, 1.0))


def _p_value(limits: Callable[[float], tuple[float, float]]) -> float:
    """Find the smallest α whose interval excludes 0, by bisection on a logarithmic scale."""
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
