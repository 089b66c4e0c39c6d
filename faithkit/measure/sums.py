"""Sums whose bits do not depend on the order of what is added.

Rows come in any order, in pieces and on threads, and the same question must give the same bytes. So floats
are added without rounding, in whole numbers of any length (`exact_sum`), or where millions of sums are
needed, rounded to a common grid first and then added in 64 bits (`Grid`).
"""

import math
import threading
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.blocks import each_block, spans

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNIT = 1127  # every float is a whole multiple of 2**-1127
_BITS = 53  # of a float
_LEAST = -1074  # every float is a whole multiple of two to that power
_LARGE = 800  # the power of two below which sums are far from overflowing
AT_ONCE = 2**17  # floats that stay in the cache: with fewer, threads wait for each other's turn
ON_A_THREAD = 2**18  # floats that are worth a thread
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
    if times is not None and is_view(times):
        return [int(times[0]) * total for total in exact_sums(values, None, powers, centre)]
    if times is not None and times.max(initial=0) >= MANY:  # weights, in steps of a grid
        high, low = (exact_sums(values, part, powers, centre) for part in np.divmod(times, MANY))
        return [one * MANY + other for one, other in zip(high, low, strict=True)]
    totals = [[0] * len(powers)]

    def add(start: int, stop: int) -> None:
        some = slice(start, stop)
        totals.append(_sums_of_blocks(values[some], None if times is None else times[some], powers, centre))

    each_block(add, len(values), ON_A_THREAD)
    return [sum(parts) for parts in zip(*totals, strict=True)]


def is_view(values: NDArray[Any]) -> bool:
    """Whether some numbers are one and the same, as `numpy.broadcast_to` makes of it without taking memory.

    Examples
    --------
    >>> is_view(np.broadcast_to(1, 5)), is_view(np.ones(5))
    (True, False)
    """
    return len(values) > 0 and values.strides == (0,)


def _sums_of_blocks(values: Floats, times: Ints | None, powers: tuple[int, ...], centre: float) -> list[int]:
    scratch = np.empty((3, min(AT_ONCE, len(values))))  # once: to get memory takes time, too
    totals = [0] * len(powers)
    for start, stop in spans(len(values), AT_ONCE):
        apart, left, leading = scratch[:, : stop - start]
        np.subtract(values[start:stop], centre, out=apart)
        often = None if times is None or (times[start:stop] == 1).all() else times[start:stop]
        place = _place(apart)
        for which, power in enumerate(powers):
            np.multiply(apart, apart if power > 1 else 1.0, out=left)
            for _ in range(2, power):
                left *= apart
            totals[which] += _block_sum(left, leading, often, power * place)
    return totals


def _place(values: Floats) -> int:
    """Return the power of two that all of them are below."""
    return math.frexp(max(values.max(), -values.min()))[1]


def _block_sum(left: Floats, leading: Floats, times: Ints | None, place: int) -> int:
    """Take the leading bits of all numbers, then the next ones; and go on with the few that have more.

    They are as many as add up within a float, of numbers that are all below 2**place. Both arrays are
    changed.
    """
    if place > _LARGE:
        return _sum_of_large(left, times)
    terms = len(left) if times is None else int(times.sum())
    bits = min(_BITS - 2, _BITS - terms.bit_length())
    total = 0
    for is_last in (False, True):
        place = max(place - bits, _LEAST)
        _round(left, place, out=leading)
        added = float((leading if times is None else leading * times).sum())
        total += int(math.ldexp(added, -place)) << (place + UNIT)
        if not is_last:
            left -= leading
    some = np.flatnonzero(left != leading)
    return total + _rest_of(left[some] - leading[some], None if times is None else times[some])


def _rest_of(values: Floats, times: Ints | None) -> int:
    return _block_sum(values, np.empty_like(values), times, _place(values)) if len(values) else 0


def _sum_of_large(values: Floats, times: Ints | None) -> int:
    """Divide what is not below 1, which loses no bits, by so much that the sum is a float, too."""
    large = np.abs(values) >= 1
    far, near = (None if times is None else times[some] for some in (large, ~large))
    return (_rest_of(shifted(values[large], -_LARGE), far) << _LARGE) + _rest_of(values[~large], near)


def _round(values: Floats, place: int, out: Floats) -> None:
    """Round to multiples of 2**place, which are the floats that lie next to a large one."""
    next_to = 1.5 * 2.0 ** (place + _BITS - 1)
    np.add(values, next_to, out=out)
    out -= next_to


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
        steps = shifted(values, self.exponent)
        return np.rint(steps, out=steps).astype(np.int64)

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
            if not is_view(times) or times[0] != 1:
                whole *= times[start:stop]
            with adding:  # whole numbers, so in any order
                np.add.at(steps, row[start:stop], whole)

        each_block(add, len(row), ON_A_THREAD)  # to hand over the lock takes time, too
        return self.floats(steps)
