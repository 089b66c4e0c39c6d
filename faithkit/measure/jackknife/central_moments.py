"""Central moments of pseudo-values, from which the jackknife's standard error is computed."""

import math

import attrs

from faithkit.arrays import Floats, Ints

NO_VARIATION = 1e-10


@attrs.frozen
class CentralMoments:
    """The number, mean and range of some values, and the sums of their squared and cubed deviations.

    Moments of two sets of values can be added.

    Examples
    --------
    >>> import numpy as np
    >>> moments = CentralMoments.of(np.array([0.0, 0.0])) + CentralMoments.of(np.array([1.0, 1.0]))
    >>> moments.mean, round(moments.standard_error, 4)
    (0.5, 0.2887)
    >>> CentralMoments.of(np.array([1.0]), np.array([4])).standard_error is None
    True
    """

    n: int
    mean: float
    squares: float
    cubes: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats, times: Ints | None = None) -> "CentralMoments":
        """Return the moments of values, each of which occurs `times` times (by default once)."""
        n = len(values) if times is None else int(times.sum())
        if not n:
            return cls(0, 0.0, 0.0, 0.0, math.inf, -math.inf)
        mean = float((values if times is None else values * times).sum()) / n
        deviations = values - mean
        squares = deviations * deviations if times is None else deviations * deviations * times
        low, high = float(values.min()), float(values.max())
        return cls(n, mean, float(squares.sum()), float((squares * deviations).sum()), low, high)

    def __add__(self, other: "CentralMoments") -> "CentralMoments":
        n = self.n + other.n
        if not self.n or not other.n:
            return self if self.n else other
        distance, share = other.mean - self.mean, other.n / n
        between = distance * distance * self.n * share
        imbalance = self.n * other.squares - other.n * self.squares
        return CentralMoments(
            n,
            self.mean + distance * share,
            self.squares + other.squares + between,
            self.cubes + other.cubes + distance * (between * (self.n - other.n) + 3 * imbalance) / n,
            min(self.low, other.low),
            max(self.high, other.high),
        )

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None where the values do not vary."""
        if self.n < 2 or self.high - self.low <= NO_VARIATION:
            return None
        return math.sqrt(self.variance / (self.n - 1))

    @property
    def variance(self) -> float:
        """The mean squared deviation."""
        return self.squares / self.n if self.n else 0.0

    @property
    def skewness(self) -> float:
        """The mean cubed deviation, in standard deviations; 0 where the values do not vary."""
        if self.standard_error is None or self.variance <= 0:
            return 0.0
        return float(self.cubes / self.n / self.variance**1.5)
