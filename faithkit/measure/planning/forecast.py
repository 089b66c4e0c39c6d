"""What a smaller sample would have given, and what a larger one will: all that can be said from a pilot.

Smaller samples are exact means over subsamples. Limits allow for the pilot's sampling error: how many rows
have 0, 1 or 2 others is counted, and a count has limits. The theory page derives both.
"""

import math

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.intervals import MeasureStatistics, interval
from faithkit.measure.limits import SamplingUnits
from faithkit.measure.planning.checkable_counts import CheckableCounts

FARTHEST = 8  # times the pilot's size; beyond that its few rare explanations say nothing
LEVELS = (0.95, 0.75, 0.75)  # of the limits of P₀, P₁ and P₂, which seldom err all in one direction
LIKELY = 0.8  # confidence of the interval in which the value is taken to lie


def curve(sample: CheckableCounts, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the expected estimate M(n′) for every n′ ≤ n, exactly: the sample-size curve.

    Examples
    --------
    >>> curve(CheckableCounts(number=(0, 1), rows=(1, 2), score=(0.0, 1.0)), np.array([1, 2, 3])).round(3)
    array([0.   , 0.333, 0.667])
    """
    h, weight = np.array(sample.score), np.array(sample.rows)
    return np.array([np.dot(weight, h * (1.0 - sample.missed(int(size)))) / sample.n for size in sizes])


@attrs.frozen
class Pilot:
    """A measure's first, small sample, from which a larger one is planned.

    Attributes
    ----------
    others : CheckableCounts
    moments : MeasureStatistics
    confidence : float
        Of the interval that is planned.
    """

    others: CheckableCounts
    moments: MeasureStatistics
    confidence: float = 0.95

    @property
    def farthest(self) -> int:
        """The size up to which shares are forecast."""
        return FARTHEST * self.others.n

    def unverified(self, size: int) -> tuple[float, float]:
        """Forecast the share that a sample of `size` cannot check, on average: (at best, at worst).

        Both allow for the pilot's sampling error. Beyond eight times the pilot's size they stay as they are:
        no share grows with the sample.

        Examples
        --------
        >>> facts = MeasureStatistics.of_rows(200, 0.95, 0.02, 0.95)
        >>> pilot = Pilot(CheckableCounts((0, 9), (10, 190), (0.0, 1.0)), facts)
        >>> [round(share, 3) for share in pilot.unverified(200)]
        [0.027, 0.085]
        """
        if size > self.others.n:
            return self._extrapolated(min(size, self.farthest) / self.others.n - 1)
        together = self._clump * (np.array(self.others.number) + 1.0)  # a group comes and goes as one
        groups = np.array(self.others.rows) / together
        weight = together * self.others.missed(size) / self.others.n
        return _limits(
            float(groups @ weight), float(groups @ weight**2), self._clump / self.others.n, LEVELS[0]
        )

    def _extrapolated(self, t: float) -> tuple[float, float]:
        """Return the extremes that P₀, P₁ and P₂ allow at (1 + t)·n, each taken at its own worse limit."""
        (low0, high0), (low1, high1), (_, high2) = (self._share(r) for r in (0, 1, 2))
        best = low0 * math.exp(-t * high1 / low0) if low0 else 0.0
        return best, _most_left(t, high0, low1, high2)

    def _share(self, others: int) -> tuple[float, float]:
        """Return limits of P_r, the share of rows with r others: groups of r + 1 rows, which are counted."""
        share, unit = self._rows_with(others), self._clump * (others + 1) / self.others.n
        return _limits(share, share * unit, unit, LEVELS[others])

    @property
    def _clump(self) -> float:
        """How many groups may come and go with one row: 1 for a grouping, where trials are n/2 or more."""
        return max(1.0, self.moments.n / (2.0 * self.moments.units.trials))

    def expected_half_width(self, size: int) -> float:
        """Forecast half of the width of the interval of `size` rows, on average.

        At its own size it is that of the pilot's interval. The ends of the bracket move with what cannot be
        checked, and the arms beyond them shrink with the root of the rows.

        Examples
        --------
        >>> pilot = Pilot(CheckableCounts((199,), (200,), (0.9,)), MeasureStatistics.of_rows(200, 0.9, 0.02))
        >>> [round(pilot.expected_half_width(n), 3) for n in (200, 800)]
        [0.045, 0.022]
        """
        low, high = interval(self.moments, self.confidence)
        alone, pairs, triples = (self._rows_with(others) for others in (0, 1, 2))
        if not alone:
            return (high - low) * math.sqrt(self.others.n / size) / 2
        bracket = max(0.0, 1.0 - self.moments.disagreement - self.moments.estimate)
        left = bracket * _most_left(size / self.others.n - 1, alone, pairs, triples) / alone
        return ((high - low - bracket) * math.sqrt(self.others.n / size) + left) / 2

    def _rows_with(self, others: int) -> float:
        """Return P_r, the share of rows with so many others, as observed."""
        return dict(zip(self.others.number, self.others.rows, strict=True)).get(others, 0) / self.others.n

    def half_width(self, explained: int, unverified: float) -> float:
        """Forecast half of the width of the interval of so many explained rows, for nine pilots of ten.

        It is that of the value nearest to 1/2 among the likely ones, with trials that grow with the rows, and
        with what merging leaves open of the share that is unverified. It is no wider than from the lower end
        of the least value that so many rows are likely to find, up to 1.

        Examples
        --------
        >>> pilot = Pilot(CheckableCounts((199,), (200,), (0.9,)), MeasureStatistics.of_rows(200, 0.9, 0.02))
        >>> round(pilot.half_width(800, unverified=0.0), 3)
        0.025
        """
        if self.moments.span is not None:
            return self._of_numbers(explained)
        least, most = interval(self.moments, LIKELY)
        low, high = self._ends(min(max(0.5, least), most), explained)
        found = self.moments.estimate
        arm = (found - least) * math.sqrt(1 + self.moments.n / explained)  # another sample has its luck, too
        lowest = self._ends(max(0.0, found - arm), explained)[0]
        return min(high - low + self._left_open * unverified, 1.0 - lowest) / 2

    def _of_numbers(self, explained: int) -> float:
        """Forecast the same of numbers, whose errors shrink with the root of the rows.

        They are as large as what explanations leave of the variance, of which the pilot may have found too
        little: so the most is taken that its own interval allows.

        Examples
        --------
        >>> facts = MeasureStatistics.of_rows(200, 0.8, 0.02, span=8.0, is_bounded=False)
        >>> pilot = Pilot(CheckableCounts((9,), (200,), (0.8,)), facts)
        >>> [round(pilot.half_width(n, 0.0), 2) for n in (200, 800)]
        [0.06, 0.03]
        """
        low, high = self._floored(self.confidence)
        left = 1.0 - self.moments.estimate
        more = (1.0 - self._floored(LEVELS[0])[0]) / left if left > 0 else 1.0
        return min(1.0, (high - low) * max(1.0, more) * math.sqrt(self.moments.n / explained)) / 2

    def _floored(self, confidence: float) -> tuple[float, float]:
        """Return the interval of numbers; no explanation accounts for less than nothing."""
        low, high = interval(self.moments, confidence)
        return low if self.moments.merging is None else max(0.0, low), high

    def _ends(self, x: float, explained: int) -> tuple[float, float]:
        """Return the interval of so many rows that can all be checked, where the value is x."""
        trials = explained * self._trials_per_row
        se = math.sqrt(x * (1 - x) / trials)
        rows = MeasureStatistics.of_rows(explained, x, se, units=SamplingUnits.equal(explained, trials))
        return interval(rows, self.confidence)

    @property
    def _trials_per_row(self) -> float:
        """The pilot's effective trials, never more than its rows: an error may be small by luck."""
        facts = self.moments
        shares = facts.estimate_share, facts.disagreement_share
        worth = (
            share.worth() if share.varies and 0 < share.value < 1 else facts.units.trials for share in shares
        )
        return min(facts.n, *worth) / facts.n

    @property
    def _left_open(self) -> float:
        """What merging leaves open of the rows that could not be checked: as many pairs as may disagree."""
        facts = self.moments
        if facts.merging is None or facts.verified == 1:
            return 1.0
        rows, pair = max(0.0, 1.0 - facts.disagreement - facts.estimate), 2.0 / facts.n
        return min(1.0, _limits(rows, rows * pair, pair, LEVELS[0])[1] / (1.0 - facts.verified))


def _limits(value: float, variance: float, unit: float, level: float) -> tuple[float, float]:
    """Return limits of a sum of counts, each times a weight: Poisson's, as Fay and Feuer carry them over.

    The `unit` is the weight of what might have been counted once more.
    """
    from scipy.special import gammaincinv

    low = (
        variance / value * gammaincinv(value**2 / variance, 1 - level) if variance else 0.0
    )  # or too small to square
    value, variance = value + unit, variance + unit**2
    return float(low), min(1.0, float(variance / value * gammaincinv(value**2 / variance, level)))


def _most_left(t: float, p0: float, p1: float, p2: float) -> float:
    """Return the most that P₀, P₁ and P₂ allow to be unverified at (1 + t)·n."""
    if not p1 or not p2:
        return p0
    w = p1 * p1 / (2 * p0 * p2)
    if w >= 1:
        return p0 * math.exp(-t * p1 / p0)
    return p0 * (1 - w + w * math.exp(-2 * t * p2 / p1))
