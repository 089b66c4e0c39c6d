"""Fast bounds of many distances at once, in float32: what they leave undecided is measured exactly.

A screen gives a surrogate for every pair of rows, and limits for every row: a pair whose surrogate is at
most `inner` is surely nearer than a given distance, one above `outer` surely farther. How much float32
arithmetic can err is proven (Higham, Accuracy and Stability, section 3.1), not guessed, so that nothing
is lost but time where the bounds are wide.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.distances import ROOTED, Floats, TableDistance

Floats32 = NDArray[np.float32]
UNIT = 2.0**-24  # half of float32's spacing at 1
SLOP = 2.0**-40  # far more than float64 arithmetic errs, far less than float32's does
TINY = 1e-30  # where products vanish in float32, the coordinates being about 1
WILD = 1e30  # beyond it float32 might overflow
SINGLE = 2**18  # multiplications in a product of matrices that OpenBLAS does on one thread
ROWS = 48  # by measurement: OpenBLAS is fastest at products of about 48 × 320
INFINITE = np.float32(np.inf)


class Screen(Protocol):
    """Surrogates for the distances between the rows of two tables, the second in blocks of columns."""

    rows: int  # how many rows of the first table are best asked about at once
    width: int  # how many rows of the second table make a block

    def tile(self, rows: slice, first: int, last: int, out: Floats32) -> None:
        """Write the surrogates of some rows and the blocks first … last − 1."""

    def limits(self, rows: slice, distance: Floats) -> tuple[Floats32, Floats32]:
        """Return inner and outer limits for the surrogates of some rows, a distance being given for each."""


def screen(distance: TableDistance, a: Floats, b: Floats) -> Screen:
    """Return the screen for a distance, between two tables of coordinates."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is left undecided
        return RootScreen(distance, a, b) if distance.name in ROOTED else SumScreen(distance, a, b)


class RootScreen:
    """Euclidean distances: ‖b‖² − 2⟨a, b⟩ by matrix products, which is the squared distance less ‖a‖².

    Products are cut so small that each runs on one thread: the blocks of rows are on threads already, and
    two layers of threads would wait for each other.
    """

    def __init__(self, distance: TableDistance, a: Floats, b: Floats) -> None:
        used = distance.scale > 0
        centre = _centre(b[:, used])
        za, zb = ((x[:, used] - centre) / distance.scale[used] for x in (a, b))
        spread = float(np.sqrt((zb * zb).sum(axis=1).mean()))
        self._spread = spread if 0 < spread < np.inf else 1.0
        za, zb = za / self._spread, zb / self._spread
        self._a2, b2 = (_tamed(z, (z * z).sum(axis=1)) for z in (za, zb))
        self._b2 = b2.max(initial=0.0)
        terms = za.shape[1] + 1
        self.rows = max(1, min(ROWS, SINGLE // (64 * terms)))
        self.width = max(64, SINGLE // (self.rows * terms) // 64 * 64)
        self._left = np.column_stack([-2 * za, np.ones(len(za))]).astype(np.float32)
        right = np.column_stack([zb, np.where(np.isinf(b2), 0.0, b2)]).astype(np.float32)
        blocks = _padded(right, self.width).reshape(-1, self.width, terms)
        self._right = np.ascontiguousarray(blocks.transpose(0, 2, 1))
        # inputs rounded once (2 units a product), the sum of `terms` products, 1 % for the units' squares
        self._error = 1.01 * (terms + 2) * UNIT

    def tile(self, rows: slice, first: int, last: int, out: Floats32) -> None:
        """Multiply block by block, straight into place."""
        left = self._left[rows]
        blocks = out.reshape(len(left), last - first, self.width).transpose(1, 0, 2)
        np.matmul(left, self._right[first:last], out=blocks)

    def limits(self, rows: slice, distance: Floats) -> tuple[Floats32, Floats32]:
        """Bound |computed − true| by the error times the sum of the products' magnitudes, ‖a‖² + 2 ‖b‖²."""
        a2, b2 = self._a2[rows], self._b2
        with np.errstate(over="ignore", invalid="ignore"):
            squared = (distance / self._spread) ** 2
            slack = self._error * (a2 + 2 * b2) + SLOP * (a2 + b2 + squared) + TINY
            return _rounded_outward(squared - a2, slack)


class SumScreen:
    """Sums over columns: |a − b| for numbers, 0 or 1 for categories and for a value against a missing one."""

    rows = 8
    width = 2**13  # rows that long NumPy broadcasts several times faster than shorter ones

    def __init__(self, distance: TableDistance, a: Floats, b: Floats) -> None:
        others = [j for j in range(len(distance.scale)) if j not in distance.categorical]
        numbers = [j for j in others if distance.scale[j]]
        scale, centre = distance.scale[numbers], _centre(b[:, numbers])
        za, zb = ((x[:, numbers] - centre) / scale for x in (a, b))
        self._a1, b1 = (_tamed(z, np.nansum(np.abs(z), axis=1)) for z in (za, zb))
        self._b1 = b1.max(initial=0.0)
        self._left, self._right = _columns32(za), _columns32(_padded(zb, self.width))
        self._has_gone = [
            bool(np.isnan(za[:, i]).any() or np.isnan(zb[:, i]).any()) for i in range(len(numbers))
        ]
        coded = [_codes(a[:, j], b[:, j]) for j in sorted(distance.categorical)]
        # a constant column of numbers tells only whether a value is there
        coded += [_codes(np.isnan(a[:, j]), np.isnan(b[:, j])) for j in others if not distance.scale[j]]
        self._coded = [(left, _padded(right, self.width)) for left, right in coded]
        self._times = len(distance.scale) if distance.name == "gower" else 1
        self._error = 1.01 * (len(numbers) + 4) * UNIT

    def tile(self, rows: slice, first: int, last: int, out: Floats32) -> None:
        """Add column after column, one block at a time, so that it stays in the cache."""
        for block in range(first, last):
            here = slice((block - first) * self.width, (block - first + 1) * self.width)
            self._block(rows, slice(block * self.width, (block + 1) * self.width), out[:, here])

    def limits(self, rows: slice, distance: Floats) -> tuple[Floats32, Floats32]:
        """Bound the error by that of rounding every coordinate and every partial sum."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = distance * self._times
            size = self._a1[rows] + self._b1 + len(self._coded) + len(self._left)
            return _rounded_outward(total, (self._error + SLOP) * size + SLOP * total + TINY)

    def _block(self, rows: slice, columns: slice, out: Floats32) -> None:
        out[:] = self._unlike(rows, columns) if self._coded else 0.0
        gap = np.empty(out.shape, dtype=np.float32)
        for left, right, has_gone in zip(self._left, self._right, self._has_gone, strict=True):
            np.subtract(left[rows, None], right[None, columns], out=gap)
            np.abs(gap, out=gap)
            if has_gone:
                _settle_missing(gap, left[rows], right[columns])
            out += gap

    def _unlike(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Count the columns with different codes; few enough for a byte, or else in two."""
        shape = len(self._coded[0][0][rows]), columns.stop - columns.start
        count = np.zeros(shape, dtype=np.uint8 if len(self._coded) < 256 else np.uint16)
        unlike = np.empty(shape, dtype=bool)
        for left, right in self._coded:
            np.not_equal(left[rows, None], right[None, columns], out=unlike)
            count += unlike.view(np.uint8)
        return count


def _centre(b: Floats) -> Floats:
    """Return a point amid the rows: float32 is the more precise the smaller the coordinates."""
    mean = np.where(np.isnan(b), 0.0, b).mean(axis=0)
    return np.where(np.isfinite(mean), mean, 0.0)


def _tamed(z: Floats, size: Floats) -> Floats:
    """Blank coordinates (in place) that float32 cannot hold, and call their size infinite: undecided."""
    wild = ~(size < WILD)
    z[wild] = 0.0
    return np.where(wild, np.inf, size)


def _rounded_outward(limit: Floats, slack: Floats) -> tuple[Floats32, Floats32]:
    """Return limit ∓ slack in float32, never nearer; where they are wild everything is undecided."""
    sane = np.abs(limit) + slack < WILD
    inner, outer = (np.where(sane, limit + sign * slack, 0.0).astype(np.float32) for sign in (-1, 1))
    inner, outer = np.nextafter(inner, -INFINITE), np.nextafter(outer, INFINITE)
    return np.where(sane, inner, -INFINITE), np.where(sane, outer, INFINITE)


def _columns32(z: Floats) -> Floats32:
    return np.ascontiguousarray(z.T.astype(np.float32))


def _padded(rows: NDArray[Any], width: int) -> NDArray[Any]:
    """Append zeros up to a multiple of `width` rows."""
    padded = np.zeros((-(-len(rows) // width) * width, *rows.shape[1:]), dtype=rows.dtype)
    padded[: len(rows)] = rows
    return padded


def _codes(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give equal values equal small integers: bytes compare eight times faster than floats."""
    values, place = np.unique(np.concatenate([a, b]), return_inverse=True)
    small = place.astype(np.min_scalar_type(len(values)))
    return small[: len(a)], small[len(a) :]


def _settle_missing(gap: Floats32, left: Floats32, right: Floats32) -> None:
    """Put a value and a missing one 1 apart, two missing ones 0."""
    np.copyto(gap, 1.0, where=np.isnan(gap))
    gap[np.ix_(np.isnan(left), np.isnan(right))] = 0.0
