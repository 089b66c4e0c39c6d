"""Forecasts from a pilot sample: the results of smaller and of larger samples.

A pilot stores how many other rows each row could be checked against. The expected value of a smaller sample
depends on a row's score only through that number. So rows with the same number are stored together, with
their mean score. Forecasts of larger samples depend on how many rows have 0, 1 or 2 others. These are counts,
whose limits account for the pilot's sampling error. The theory page derives both.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.errors import InputError
from faithkit.measure.counting.owners import Owners, count_codes, find_positions
from faithkit.measure.intervals import MeasureStatistics, SamplingUnits, compute_interval

VANISHING_EXPONENT = 746  # exp(−746) is 0
EXACT = 256  # distinct numbers; beyond these, larger ones are rounded to two digits


@attrs.frozen
class CheckableCounts:
    """The number of rows for each number of others that they could be checked against.

    Attributes
    ----------
    number : tuple of int
        The numbers of others that occur, in ascending order. After the first 256, they are rounded to two
        digits.
    rows : tuple of int
        How many rows have each number of others.
    score : tuple of float
        The mean share of these others that agree with the row; 0 for rows without others.

    Examples
    --------
    >>> from faithkit.measure.counting.tally import Tally
    >>> counts = np.array([[2, 1], [0, 1]])
    >>> CheckableCounts.of(Tally(counts, np.stack([0 * counts, counts])).entries)
    CheckableCounts(number=(0, 2), rows=(1, 3), score=(0.0, 0.3333333333333333))
    """

    number: tuple[int, ...]
    rows: tuple[int, ...]
    score: tuple[float, ...]

    @classmethod
    def of(cls, owners: Owners) -> "CheckableCounts":
        """Count the rows of these owners."""
        D = owners.others
        size = int(D.max(initial=0)) + 1
        number, _ = count_codes(D, size)
        position = find_positions(number, D, size)
        rows = sum_by(position, owners.rows, len(number))
        score = divide_safely(sum_by(position, owners.times(owners.scores), len(number)), rows)
        if len(number) > EXACT:
            number, rows, score = _round_numbers(number, rows, score)
        return cls(tuple(number.tolist()), tuple(rows.tolist()), tuple(score.tolist()))

    @property
    def n(self) -> int:
        """The number of rows."""
        return sum(self.rows)

    def unverified(self, size: int) -> float:
        """Return the share that a subsample of n′ ≤ n rows cannot check: the exact mean over all subsamples.

        Examples
        --------
        >>> sample = CheckableCounts(number=(0, 1), rows=(1, 2), score=(0.0, 1.0))
        >>> [round(sample.unverified(size), 3) for size in (1, 2, 3)]
        [1.0, 0.667, 0.333]
        """
        return float(np.dot(self.rows, self.miss_probabilities(size)) / self.n)

    def miss_probabilities(self, size: int) -> Floats:
        """Return, for each number D of others, the probability that a subsample contains none of them.

        That is C(n−1−D, n′−1)/C(n−1, n′−1) = Π (1 − (n′−1)/(n−1−i)) over i < D: the subsample misses one
        other after the next.
        """
        if not 1 <= size <= self.n:
            raise InputError(f"smaller samples are known from 1 to {self.n}, the sample's size; got {size}.")
        largest = min(max(self.number, default=0), self.n - 1)  # rounding may have made it larger
        steps = min(largest, VANISHING_EXPONENT * self.n // max(1, size - 1) + 1)
        rows_left = self.n - 1 - np.arange(steps)
        with np.errstate(divide="ignore"):  # the logarithm of 0: the subsample surely contains one
            log_probabilities = np.cumsum(np.log1p(-np.minimum(1.0, (size - 1) / rows_left)))
        by_number: Floats = np.exp(np.concatenate([[0.0], log_probabilities]))
        return by_number[np.minimum(self.number, steps)]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: three lists of equal length."""
        return {"number": list(self.number), "rows": list(self.rows), "score": list(self.score)}

    @classmethod
    def from_dict(cls, payload: Mapping[str, Sequence[Any]]) -> "CheckableCounts":
        """Rebuild from the output of `to_dict`."""
        return cls(tuple(payload["number"]), tuple(payload["rows"]), tuple(payload["score"]))

    def expected_estimates(self, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact expectation of the estimate M(n′) for each n′ ≤ n: the sample-size curve.

        Examples
        --------
        >>> sample = CheckableCounts(number=(0, 1), rows=(1, 2), score=(0.0, 1.0))
        >>> sample.expected_estimates(np.array([1, 2, 3])).round(3)
        array([0.   , 0.333, 0.667])
        """
        score, rows = np.array(self.score), np.array(self.rows)
        return np.array(
            [np.dot(rows, score * (1.0 - self.miss_probabilities(int(size)))) / self.n for size in sizes]
        )


def _round_numbers(number: Ints, rows: Ints, score: Floats) -> tuple[Ints, Ints, Floats]:
    """Round large numbers to two digits, and combine the rows of numbers that become equal."""
    unit = 10 ** np.maximum(0, np.floor(np.log10(np.maximum(number, 1))).astype(np.int64) - 1)
    rounded = np.where(np.arange(len(number)) < EXACT, number, (number + unit // 2) // unit * unit)
    distinct, position = np.unique(rounded, return_inverse=True)
    combined_rows = sum_by(position, rows, len(distinct))
    return distinct, combined_rows, sum_by(position, rows * score, len(distinct)) / combined_rows


MAX_FORECAST_FACTOR = 8  # times the pilot's size; beyond that its few rare explanations say nothing
LEVELS = (0.95, 0.75, 0.75)  # of the limits of P₀, P₁ and P₂, which seldom all err in the same direction
LIKELY = 0.8  # confidence of the interval in which the true value is assumed to lie


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
        # both samples have errors
        arm = (estimate - likely_low) * math.sqrt(1 + self.statistics.n / n_explained)
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
