"""Forecasts from a pilot sample: the results of smaller and of larger samples.

For smaller samples, they are exact means over subsamples. For larger samples, they depend on how many rows
have 0, 1 or 2 others. These are counts, whose limits account for the pilot's sampling error. The theory page
derives both.
"""

import math

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.intervals import MeasureStatistics, SamplingUnits, compute_interval
from faithkit.measure.planning.checkable_counts import CheckableCounts

MAX_FORECAST_FACTOR = 8  # times the pilot's size; beyond that its few rare explanations say nothing
LEVELS = (0.95, 0.75, 0.75)  # of the limits of P₀, P₁ and P₂, which seldom all err in the same direction
LIKELY = 0.8  # confidence of the interval in which the true value is assumed to lie


def expected_estimates(sample: CheckableCounts, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the exact expectation of the estimate M(n′) for each n′ ≤ n: the sample-size curve.

    Examples
    --------
    >>> sample = CheckableCounts(number=(0, 1), rows=(1, 2), score=(0.0, 1.0))
    >>> expected_estimates(sample, np.array([1, 2, 3])).round(3)
    array([0.   , 0.333, 0.667])
    """
    score, rows = np.array(sample.score), np.array(sample.rows)
    return np.array(
        [np.dot(rows, score * (1.0 - sample.miss_probabilities(int(size)))) / sample.n for size in sizes]
    )


@attrs.frozen
class Pilot:
    """A first, small sample of a measure, from which a larger one is planned.

    Attributes
    ----------
    checkable_counts : CheckableCounts
    statistics : MeasureStatistics
    confidence : float
        The confidence of the planned interval.
    """

    checkable_counts: CheckableCounts
    statistics: MeasureStatistics
    confidence: float = 0.95

    @property
    def max_size(self) -> int:
        """The largest sample size for which shares are forecast."""
        return MAX_FORECAST_FACTOR * self.checkable_counts.n

    def unverified(self, size: int) -> tuple[float, float]:
        """Forecast the mean share that a sample of `size` rows cannot check: (at best, at worst).

        Both account for the pilot's sampling error. Beyond eight times the pilot's size they stay constant,
        because the share never grows with the sample.

        Examples
        --------
        >>> statistics = MeasureStatistics.of_rows(200, 0.95, 0.02, 0.95)
        >>> pilot = Pilot(CheckableCounts((0, 9), (10, 190), (0.0, 1.0)), statistics)
        >>> [round(share, 3) for share in pilot.unverified(200)]
        [0.027, 0.085]
        """
        if size > self.checkable_counts.n:
            return self._extrapolate(min(size, self.max_size) / self.checkable_counts.n - 1)
        # a group is sampled as a whole
        group_size = self._groups_per_row * (np.array(self.checkable_counts.number) + 1.0)
        n_groups = np.array(self.checkable_counts.rows) / group_size
        weight = group_size * self.checkable_counts.miss_probabilities(size) / self.checkable_counts.n
        share, variance = float(n_groups @ weight), float(n_groups @ weight**2)
        return _count_limits(share, variance, self._groups_per_row / self.checkable_counts.n, LEVELS[0])

    def _extrapolate(self, t: float) -> tuple[float, float]:
        """Return the extremes that P₀, P₁ and P₂ allow at (1 + t)·n, with the worse limit of each."""
        (low0, high0), (low1, high1), (_, high2) = (self._share_limits(r) for r in (0, 1, 2))
        best = low0 * math.exp(-t * high1 / low0) if low0 else 0.0
        return best, _max_unverified(t, high0, low1, high2)

    def _share_limits(self, r: int) -> tuple[float, float]:
        """Return the limits of P_r, the share of rows with r others: a count of groups of r + 1 rows."""
        share, unit = self._share_with(r), self._groups_per_row * (r + 1) / self.checkable_counts.n
        return _count_limits(share, share * unit, unit, LEVELS[r])

    @property
    def _groups_per_row(self) -> float:
        """How many groups may depend on one row: 1 for a grouping, where trials are n/2 or more."""
        return max(1.0, self.statistics.n / (2.0 * self.statistics.units.trials))

    def expected_half_width(self, size: int) -> float:
        """Forecast the mean half-width of the interval of `size` rows.

        At the pilot's size it is that of the pilot's interval. The bracket shrinks with the share that cannot
        be checked, and the arms beyond it shrink with the square root of the number of rows.

        Examples
        --------
        >>> pilot = Pilot(CheckableCounts((199,), (200,), (0.9,)), MeasureStatistics.of_rows(200, 0.9, 0.02))
        >>> [round(pilot.expected_half_width(n), 3) for n in (200, 800)]
        [0.045, 0.022]
        """
        low, high = compute_interval(self.statistics, self.confidence)
        p0, p1, p2 = (self._share_with(r) for r in (0, 1, 2))
        if not p0:
            return (high - low) * math.sqrt(self.checkable_counts.n / size) / 2
        bracket = max(0.0, 1.0 - self.statistics.disagreement - self.statistics.estimate)
        later_bracket = bracket * _max_unverified(size / self.checkable_counts.n - 1, p0, p1, p2) / p0
        return ((high - low - bracket) * math.sqrt(self.checkable_counts.n / size) + later_bracket) / 2

    def _share_with(self, r: int) -> float:
        """Return P_r, the observed share of rows with r others."""
        return (
            dict(zip(self.checkable_counts.number, self.checkable_counts.rows, strict=True)).get(r, 0)
            / self.checkable_counts.n
        )

    def half_width(self, n_explained: int, unverified: float) -> float:
        """Forecast the half-width that the interval of `explained` rows has at most, for nine pilots of ten.

        It assumes the likely value that is nearest to 1/2, a number of trials in proportion to the rows, and
        the part of the unverified share that merging leaves open. The interval is no wider than from the
        lower end at the smallest likely estimate up to 1.

        Examples
        --------
        >>> pilot = Pilot(CheckableCounts((199,), (200,), (0.9,)), MeasureStatistics.of_rows(200, 0.9, 0.02))
        >>> round(pilot.half_width(800, unverified=0.0), 3)
        0.025
        """
        if self.statistics.span is not None:
            return self._half_width_of_numbers(n_explained)
        likely_low, likely_high = compute_interval(self.statistics, LIKELY)
        low, high = self._interval_at(min(max(0.5, likely_low), likely_high), n_explained)
        estimate = self.statistics.estimate
        arm = (estimate - likely_low) * math.sqrt(
            1 + self.statistics.n / n_explained
        )  # both samples have errors
        lowest = self._interval_at(max(0.0, estimate - arm), n_explained)[0]
        return min(high - low + self._share_left_open * unverified, 1.0 - lowest) / 2

    def _half_width_of_numbers(self, n_explained: int) -> float:
        """Forecast the same for numbers, whose errors shrink with the square root of the number of rows.

        The errors are proportional to the unexplained variance. The pilot may underestimate it, so the upper
        limit of its own interval is used.

        Examples
        --------
        >>> statistics = MeasureStatistics.of_rows(200, 0.8, 0.02, span=8.0, is_bounded=False)
        >>> pilot = Pilot(CheckableCounts((9,), (200,), (0.8,)), statistics)
        >>> [round(pilot.half_width(n, 0.0), 2) for n in (200, 800)]
        [0.06, 0.03]
        """
        low, high = self._interval_of_numbers(self.confidence)
        unexplained = 1.0 - self.statistics.estimate
        max_unexplained = 1.0 - self._interval_of_numbers(LEVELS[0])[0]
        factor = max_unexplained / unexplained if unexplained > 0 else 1.0
        return min(1.0, (high - low) * max(1.0, factor) * math.sqrt(self.statistics.n / n_explained)) / 2

    def _interval_of_numbers(self, confidence: float) -> tuple[float, float]:
        """Return the pilot's interval; the share of variance explained by groups is never negative."""
        low, high = compute_interval(self.statistics, confidence)
        return low if self.statistics.merging is None else max(0.0, low), high

    def _interval_at(self, x: float, n_explained: int) -> tuple[float, float]:
        """Return the interval of so many rows that can all be checked, if the estimate is x."""
        trials = n_explained * self._trials_per_row
        se = math.sqrt(x * (1 - x) / trials)
        rows = MeasureStatistics.of_rows(n_explained, x, se, units=SamplingUnits.equal(n_explained, trials))
        return compute_interval(rows, self.confidence)

    @property
    def _trials_per_row(self) -> float:
        """The pilot's effective trials per row, at most 1: a standard error may be small by chance."""
        statistics = self.statistics
        effective_trials = (
            share.effective_trials()
            if share.has_variation and 0 < share.value < 1
            else statistics.units.trials
            for share in (statistics.estimate_share, statistics.disagreement_share)
        )
        return min(statistics.n, *effective_trials) / statistics.n

    @property
    def _share_left_open(self) -> float:
        """The share of unverified rows that merging leaves open: an upper limit, as pairs are counted."""
        statistics = self.statistics
        if statistics.merging is None or statistics.verified == 1:
            return 1.0
        bracket, pair = max(0.0, 1.0 - statistics.disagreement - statistics.estimate), 2.0 / statistics.n
        _, max_bracket = _count_limits(bracket, bracket * pair, pair, LEVELS[0])
        return min(1.0, max_bracket / (1.0 - statistics.verified))


def _count_limits(value: float, variance: float, unit: float, level: float) -> tuple[float, float]:
    """Return limits of a weighted sum of counts: Poisson limits, generalised by Fay and Feuer.

    The `unit` is the weight of one more count.
    """
    from scipy.special import gammaincinv

    low = 0.0
    if variance:  # a small value has a square of 0
        low = variance / value * gammaincinv(value**2 / variance, 1 - level)
    value, variance = value + unit, variance + unit**2
    return float(low), min(1.0, float(variance / value * gammaincinv(value**2 / variance, level)))


def _max_unverified(t: float, p0: float, p1: float, p2: float) -> float:
    """Return the largest unverified share at (1 + t)·n rows that P₀, P₁ and P₂ allow."""
    if not p1 or not p2:
        return p0
    w = p1 * p1 / (2 * p0 * p2)
    if w >= 1:
        return p0 * math.exp(-t * p1 / p0)
    return p0 * (1 - w + w * math.exp(-2 * t * p2 / p1))
