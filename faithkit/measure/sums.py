"""Sums whose bits do not depend on the order of what is added.

Rows come in any order, in pieces and on threads, and the same question must give the same bytes. So floats
are added without rounding, in whole numbers of any length (`exact_sum`), or where millions of sums are
needed, rounded to a common grid first and then added in 64 bits (`Grid`).
"""

import math
import threading

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.blocks import each_block, spans

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNIT = 1127  # every float is a whole multiple of 2**-1127
_BITS = 53  # of a float
_LEAST = -1074  # every float is a whole multiple of two to that power
AT_ONCE = 2**15  # floats that stay in the cache
ON_A_THREAD = 2**20  # floats that are worth a thread
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
    return exact_sums(values, times, (power,))[0]


def exact_sums(
    values: Floats, times: Ints | None = None, powers: tuple[int, ...] = (1,), centre: float = 0.0
) -> list[int]:
    """Return the same of several powers of their distances from a centre, going over the floats once.

    Examples
    --------
    >>> [quotient(total, 1) for total in exact_sums(np.array([3.0, 5.0]), powers=(1, 2), centre=1.0)]
    [6.0, 20.0]
    """
    if times is not None and times.max(initial=0) >= MANY:  # weights, in steps of a grid
        high, low = (exact_sums(values, part, powers, centre) for part in np.divmod(times, MANY))
        return [one * MANY + other for one, other in zip(high, low, strict=True)]
    totals = [[0] * len(powers)]

    def add(start: int, stop: int) -> None:
        some = slice(start, stop)
        totals.append(_sums_of_blocks(values[some], None if times is None else times[some], powers, centre))

    each_block(add, len(values), ON_A_THREAD)
    return [sum(parts) for parts in zip(*totals, strict=True)]


def _sums_of_blocks(values: Floats, times: Ints | None, powers: tuple[int, ...], centre: float) -> list[int]:
    scratch = np.empty((3, min(AT_ONCE, len(values))))  # once: to get memory takes time, too
    totals = [0] * len(powers)
    for start, stop in spans(len(values), AT_ONCE):
        apart, left, leading = scratch[:, : stop - start]
        np.subtract(values[start:stop], centre, out=apart)
        often = None if times is None or (times[start:stop] == 1).all() else times[start:stop]
        for place, power in enumerate(powers):
            left[:] = apart
            for _ in range(1, power):
                left *= apart
            totals[place] += _block_sum(left, leading, often)
    return totals


def _block_sum(left: Floats, leading: Floats, times: Ints | None) -> int:
    """Take the leading bits of all numbers, then the next ones; and go on with the few that have more.

    They are as many as add up within a float. Both arrays are changed.
    """
    total = 0
    while len(left):
        terms = len(left) if times is None else int(times.sum())
        bits = min(_BITS - 2, _BITS - terms.bit_length())
        place = math.frexp(max(left.max(), -left.min()))[1]
        for _ in range(2):
            place = max(place - bits, _LEAST)
            _round(left, place, out=leading)
            added = float((leading if times is None else leading * times).sum())
            total += int(math.ldexp(added, -place)) << (place + UNIT)
            left -= leading
        some = np.flatnonzero(left != 0)  # of truths: ten times as fast
        left, leading, times = left[some], leading[: len(some)], None if times is None else times[some]
    return total


def _round(values: Floats, place: int, out: Floats) -> None:
    """Round to multiples of 2**place, which are the floats that lie next to a large one."""
    if place < 900:
        large = 1.5 * 2.0 ** (place + _BITS - 1)
        np.add(values, large, out=out)
        out -= large
    else:  # where none is so large
        shifted(np.trunc(shifted(values, -place, out=out), out=out), place, out=out)


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

    def sums(self, row: Ints, values: Floats, times: Ints, size: int) -> Floats:
        """Add up the values of each of so many rows, each value so many times.

        Examples
        --------
        >>> Grid(50).sums(np.array([1, 0, 1]), np.array([0.5, 2.0, 0.25]), np.array([2, 1, 1]), size=2)
        array([2.  , 1.25])
        """
        steps, adding = np.zeros(size, dtype=np.int64), threading.Lock()

        def add(start: int, stop: int) -> None:
            whole = self.whole(values[start:stop])
            whole *= times[start:stop]
            with adding:  # whole numbers, so in any order
                np.add.at(steps, row[start:stop], whole)

        each_block(add, len(row), AT_ONCE)
        return self.floats(steps)
