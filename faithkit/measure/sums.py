"""Sums whose bits do not depend on the order of what is added.

Rows come in any order, in pieces and on threads, and the same question must give the same bytes. So floats
are added without rounding, in whole numbers of any length (`exact_sum`), or where millions of sums are
needed, rounded to a common grid first and then added in 64 bits (`Grid`).
"""

import math

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.blocks import spans

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNIT = 1127  # every float is a whole multiple of 2**-1127
_BITS = 26  # taken from each float at a time; then 2**26 of them add up within a float's 53
_AT_ONCE = 2**20


def exact_sum(values: Floats) -> int:
    """Return the sum of floats without any rounding, as a multiple of 2**-1127; such sums add up.

    Examples
    --------
    >>> total = exact_sum(np.array([1e16, 0.5, -1e16])) + exact_sum(np.array([0.25]))
    >>> quotient(total, 3)
    0.25
    """
    return sum(_block_sum(values[start:stop].copy()) for start, stop in spans(len(values), _AT_ONCE))


def _block_sum(left: Floats) -> int:
    """Take the leading bits of all numbers at once, as long as any are left; change `left`."""
    total = 0
    while (largest := max(left.max(initial=0.0), -left.min(initial=0.0))) > 0:
        place = math.frexp(largest)[1] - _BITS
        leading = np.trunc(_shifted(left, -place))
        total += int(leading.sum()) << (place + UNIT)
        left -= _shifted(leading, place)
    return total


def _shifted(values: Floats, places: int) -> Floats:
    """Multiply by a power of two: `ldexp` takes any, and sixteen times as long."""
    return values * 2.0**places if abs(places) < 1000 else np.ldexp(values, places)


def quotient(total: int, parts: int) -> float:
    """Divide an exact sum by a whole number, rounding once."""
    return total / (parts << UNIT)


@attrs.frozen
class Grid:
    """The multiples of 2**-exponent: floats rounded to them add up in 64 bits, in any order."""

    exponent: int

    @classmethod
    def of(cls, largest: float, most: int) -> "Grid":
        """Return the finest grid on which at most so many terms, of at most this size, do not overflow.

        Examples
        --------
        >>> grid = Grid.of(largest=1.0, most=1000)
        >>> grid.exponent
        51
        >>> grid.floats(grid.whole(np.array([0.1, 0.2])).sum())
        np.float64(0.30000000000000027)
        """
        return cls(61 - math.frexp(largest * most)[1])

    def whole(self, values: Floats) -> Ints:
        """Round to the grid, and count its steps."""
        return np.rint(_shifted(values, self.exponent)).astype(np.int64)

    def floats(self, steps: Ints) -> Floats:
        """Turn steps into floats."""
        return _shifted(steps.astype(np.float64), -self.exponent)
