"""How far the pseudo-values of a jackknife spread: all that a standard error is made of."""

import math

import attrs

from faithkit.arrays import Floats, Ints

NO_VARIATION = 1e-10


@attrs.frozen
class CentralMoments:
    """How many numbers there are, their mean and ends, and the sums of squared and cubed distances from it.

    Examples
    --------
    >>> import numpy as np
    >>> both = CentralMoments.of(np.array([0.0, 0.0])) + CentralMoments.of(np.array([1.0, 1.0]))
    >>> both.mean, round(both.standard_error, 4)
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
        """Measure some numbers, each of which may occur several times."""
        n = len(values) if times is None else int(times.sum())
        if not n:
            return cls(0, 0.0, 0.0, 0.0, math.inf, -math.inf)
        mean = float((values if times is None else values * times).sum()) / n
        apart = values - mean
        ends = float(values.min()), float(values.max())
        squares = apart * apart if times is None else apart * apart * times
        return cls(n, mean, float(squares.sum()), float((squares * apart).sum()), *ends)

    def __add__(self, other: "CentralMoments") -> "CentralMoments":
        n = self.n + other.n
        if not self.n or not other.n:
            return self if self.n else other
        apart, part = other.mean - self.mean, other.n / n
        between = apart * apart * self.n * part
        lean = self.n * other.squares - other.n * self.squares
        return CentralMoments(
            n,
            self.mean + apart * part,
            self.squares + other.squares + between,
            self.cubes + other.cubes + apart * (between * (self.n - other.n) + 3 * lean) / n,
            min(self.low, other.low),
            max(self.high, other.high),
        )

    def taken_from(self, whole: float) -> "CentralMoments":
        """Return the spread of a number less each of these.

        >>> import numpy as np
        >>> CentralMoments.of(np.array([0.25, 0.5])).taken_from(1.0).low
        0.5
        """
        ends = whole - self.high, whole - self.low
        return CentralMoments(self.n, whole - self.mean, self.squares, -self.cubes, *ends)

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None where the numbers do not vary."""
        if self.n < 2 or self.high - self.low <= NO_VARIATION:
            return None
        return math.sqrt(self.variance / (self.n - 1))

    @property
    def variance(self) -> float:
        """The mean squared distance from the mean."""
        return self.squares / self.n if self.n else 0.0

    @property
    def skewness(self) -> float:
        """How far the numbers lean to the right: the mean cube of their distance, in standard deviations."""
        if self.standard_error is None or self.variance <= 0:
            return 0.0
        return self.cubes / self.n / self.variance**1.5
