"""How far the pseudo-values of a jackknife spread: all that a standard error is made of."""

import math

import attrs

from faithkit.measure.sums import Floats, Ints, exact_sums, quotient


@attrs.frozen
class Spread:
    """How many numbers there are, the sums of their first three powers, exactly, and their ends.

    Numbers are taken as their distances from a `centre` that lies near their mean: no digits are lost then.

    Examples
    --------
    >>> import numpy as np
    >>> both = Spread.of(np.array([0.0, 0.0]), 0.5) + Spread.of(np.array([1.0, 1.0]), 0.5)
    >>> round(both.standard_error, 4)
    0.2887
    >>> Spread.of(np.array([1.0]), 0.5, np.array([4])).standard_error is None
    True
    """

    n: int
    total: int
    squares: int
    low: float
    high: float
    cubes: int

    @classmethod
    def of(cls, values: Floats, centre: float, weight: Ints | None = None) -> "Spread":
        """Measure some numbers, each of which may occur several times."""
        total, squares, cubes = exact_sums(values, weight, (1, 2, 3), centre)
        ends = float(values.min(initial=math.inf)) - centre, float(values.max(initial=-math.inf)) - centre
        return cls(len(values) if weight is None else int(weight.sum()), total, squares, *ends, cubes)

    def __add__(self, other: "Spread") -> "Spread":
        return Spread(
            self.n + other.n,
            self.total + other.total,
            self.squares + other.squares,
            min(self.low, other.low),
            max(self.high, other.high),
            self.cubes + other.cubes,
        )

    @property
    def mirrored(self) -> "Spread":
        """That of the distances to the left instead of the right."""
        return Spread(self.n, -self.total, self.squares, -self.high, -self.low, -self.cubes)

    @property
    def mean(self) -> float:
        """The mean of the distances."""
        return quotient(self.total, self.n) if self.n else 0.0

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None where the numbers do not vary."""
        if self.n < 2 or self.high - self.low <= 1e-10:
            return None
        return math.sqrt(self.variance / (self.n - 1))

    @property
    def variance(self) -> float:
        """The mean squared distance from the mean."""
        return max(0.0, quotient(self.squares, self.n) - self.mean**2) if self.n else 0.0

    @property
    def skewness(self) -> float:
        """How far the numbers lean to the right: the mean cube of their distance, in standard deviations."""
        if self.standard_error is None or self.variance <= 0:
            return 0.0
        mean = self.mean
        third = quotient(self.cubes, self.n) - 3 * mean * self.variance - mean**3
        return third / self.variance**1.5
