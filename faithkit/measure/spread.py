"""Pseudo-values of a jackknife, and how far they spread: all that a standard error is made of."""

import math
from collections.abc import Callable

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
    def standard_error(self) -> float | None:
        """The standard error of the mean; None where the numbers do not vary."""
        if self.n < 2 or self.high - self.low <= 1e-10:
            return None
        return math.sqrt(self.variance / (self.n - 1))

    @property
    def variance(self) -> float:
        """The mean squared distance from the mean."""
        mean = quotient(self.total, self.n)
        return max(0.0, quotient(self.squares, self.n) - mean * mean)

    @property
    def skewness(self) -> float:
        """How far the numbers lean to the right: the mean cube of their distance, in standard deviations."""
        if self.standard_error is None or self.variance <= 0:
            return 0.0
        mean = quotient(self.total, self.n)
        third = quotient(self.cubes, self.n) - 3 * mean * self.variance - mean**3
        return third / self.variance**1.5


@attrs.frozen(eq=False)
class Pseudo:
    """Jackknife pseudo-values with their multiplicities, and the smallest number of trials to assume.

    Grouping has one value per s and slot, other relations one per instance, and rows in clusters one per
    cluster. `few` is a function: it takes another pass, and most intervals do not depend on it. `pool` is how
    the values of a pool's rows spread, and `effective` and `most` are those of `Moments`, where rows have
    weights or clusters.
    """

    value: Floats
    verified: Floats
    weight: Ints
    few: Callable[[], float]
    pool: "tuple[Spread, Spread] | None" = None
    effective: float | None = None
    most: float | None = None

    @property
    def disagreement(self) -> Floats:
        """Pseudo-values of Q, the verified disagreement."""
        return self.verified - self.value

    def spreads(self, value: float, verified: float) -> tuple[Spread, Spread]:
        """Measure the pseudo-values of M and of Q, which lie around the M and the Q of all instances."""
        agreeing = Spread.of(self.value, value, self.weight)
        if (self.verified == verified).all():
            return agreeing, agreeing.mirrored
        return agreeing, Spread.of((self.verified - verified) - (self.value - value), 0.0, self.weight)
