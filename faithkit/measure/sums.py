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
_BITS = 53  # of a float
AT_ONCE = 2**15  # floats that stay in the cache
MANY = 2**26  # times: of so many, a block's leading bits still add up within a float


def exact_sum(values: Floats, times: Ints | None = None, power: int = 1) -> int:
    """Return the sum of floats without any rounding, as a multiple of 2**-1127; such sums add up.

    Each of them may occur several times, which gives the same as if it were there so often. Of another power
    than the first the terms are rounded, and their sum is not.

    Examples
    --------
    >>> total = exact_sum(np.array([1e16, 0.5, -1e16])) + exact_sum(np.array([0.25]))
    >>> quotient(total, 3)
    0.25
    >>> quotient(exact_sum(np.array([0.1, 2.0]), times=np.array([3, 1]), power=2), 1)
    4.03
    """
    if times is not None and times.max(initial=0) >= MANY:  # weights, in steps of a grid
        high, low = np.divmod(times, MANY)
        return exact_sum(values, high, power) * MANY + exact_sum(values, low, power)
    if times is not None and (times == 1).all():
        times = None
    total, scratch = 0, np.empty((2, min(AT_ONCE, len(values))))  # once: to get memory takes time, too
    for start, stop in spans(len(values), AT_ONCE):
        left, leading = scratch[:, : stop - start]
        left[:] = values[start:stop]
        for _ in range(1, power):
            left *= values[start:stop]
        total += _block_sum(left, leading, None if times is None else times[start:stop])
    return total


def _block_sum(left: Floats, leading: Floats, times: Ints | None) -> int:
    """Take the leading bits of all numbers at once, as long as any are left; change both arrays.

    They are as many as add up within a float.
    """
    bits = _BITS - (len(left) if times is None else int(times.sum())).bit_length()
    total = 0
    while (largest := max(left.max(initial=0.0), -left.min(initial=0.0))) > 0:
        place = math.frexp(largest)[1] - bits
        np.trunc(shifted(left, -place, out=leading), out=leading)
        total += int((leading if times is None else leading * times).sum()) << (place + UNIT)
        left -= shifted(leading, place, out=leading)
    return total


def shifted(values: Floats, places: int, out: Floats | None = None) -> Floats:
    """Multiply by a power of two: `ldexp` takes any, and sixteen times as long."""
    if abs(places) < 1000:
        return np.multiply(values, 2.0**places, out=out)
    return np.ldexp(values, places, out=out)


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
        return np.rint(shifted(values, self.exponent)).astype(np.int64)

    def floats(self, steps: Ints) -> Floats:
        """Turn steps into floats."""
        return shifted(steps.astype(np.float64), -self.exponent)
