"""Screens: fast float32 bounds on many distances at once.

A screen computes a surrogate for every pair of rows, and two limits for every row. A pair whose surrogate is
at most `inner` is surely nearer than a certain distance. A pair whose surrogate is above `outer` is surely
farther. The caller measures the pairs in between exactly.

The bound on float32 rounding errors is proven (Higham, Accuracy and Stability, section 3.1). So wide limits
cost time, but never change a result.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.distances import ROOTED, Floats, TableDistance

Floats32 = NDArray[np.float32]
UNIT_ROUNDOFF = 2.0**-24  # of float32: half of its spacing at 1
FLOAT64_SLACK = 2.0**-40  # far above float64 rounding errors, far below those of float32
UNDERFLOW_SLACK = 1e-30  # float32 products below it may vanish, where coordinates are about 1
OVERFLOW_LIMIT = 1e30  # above it float32 might overflow
SINGLE_THREAD_PRODUCTS = 2**18  # OpenBLAS uses one thread for a matrix product of so many multiplications
MAX_ROWS = 48  # per matrix product; measured: OpenBLAS is fastest at about 48 × 320
INFINITY = np.float32(np.inf)


class Screen(Protocol):
    """Surrogates for the distances between the rows of two tables; the second table is cut into batches."""

    rows: int  # rows of the first table to process at a time
    width: int  # rows of the second table in a batch

    def fill_tile(self, rows: slice, first: int, last: int, out: Floats32) -> None:
        """Write the surrogates of `rows` and the batches first … last − 1 to `out`."""

    def limits(self, rows: slice, distance: Floats) -> tuple[Floats32, Floats32]:
        """Return the inner and outer limits of the surrogates of `rows`, for one distance per row."""


def build_screen(distance: TableDistance, a: Floats, b: Floats) -> Screen:
    """Return the screen of a distance between two tables of coordinates."""
    with np.errstate(over="ignore", invalid="ignore"):  # pairs that overflow stay undecided
        return RootScreen(distance, a, b) if distance.name in ROOTED else SumScreen(distance, a, b)


class RootScreen:
    """Screen of Euclidean distances.

    The surrogate is ‖b‖² − 2⟨a, b⟩, the squared distance less ‖a‖². Matrix products compute it. Each product
    is small enough to run on one thread: the batches of rows already run on threads, and two layers of
    threads would wait for each other.
    """

    def __init__(self, distance: TableDistance, a: Floats, b: Floats) -> None:
        is_varying = distance.scale > 0
        centre = _compute_centre(b[:, is_varying])
        za, zb = ((x[:, is_varying] - centre) / distance.scale[is_varying] for x in (a, b))
        unit_length = float(np.sqrt((zb * zb).sum(axis=1).mean()))
        self._unit_length = unit_length if 0 < unit_length < np.inf else 1.0
        za, zb = za / self._unit_length, zb / self._unit_length
        self._a2, b2 = (_blank_overflows(z, (z * z).sum(axis=1)) for z in (za, zb))
        self._b2 = b2.max(initial=0.0)
        terms = za.shape[1] + 1
        self.rows = max(1, min(MAX_ROWS, SINGLE_THREAD_PRODUCTS // (64 * terms)))
        self.width = max(64, SINGLE_THREAD_PRODUCTS // (self.rows * terms) // 64 * 64)
        self._left = np.column_stack([-2 * za, np.ones(len(za))]).astype(np.float32)
        right = np.column_stack([zb, np.where(np.isinf(b2), 0.0, b2)]).astype(np.float32)
        batches = _pad_rows(right, self.width).reshape(-1, self.width, terms)
        self._right = np.ascontiguousarray(batches.transpose(0, 2, 1))
        # 2 units per product for the rounded inputs, `terms` for their sum, 1 % for the squares of units
        self._error = 1.01 * (terms + 2) * UNIT_ROUNDOFF

    def fill_tile(self, rows: slice, first: int, last: int, out: Floats32) -> None:
        """Multiply batch by batch, directly into `out`."""
        left = self._left[rows]
        batches = out.reshape(len(left), last - first, self.width).transpose(1, 0, 2)
        np.matmul(left, self._right[first:last], out=batches)

    def limits(self, rows: slice, distance: Floats) -> tuple[Floats32, Floats32]:
        """Bound |computed − true| by the error times the sum of the products' magnitudes, ‖a‖² + 2 ‖b‖²."""
        a2, b2 = self._a2[rows], self._b2
        with np.errstate(over="ignore", invalid="ignore"):
            squared = (distance / self._unit_length) ** 2
            slack = self._error * (a2 + 2 * b2) + FLOAT64_SLACK * (a2 + b2 + squared) + UNDERFLOW_SLACK
            return _round_outward(squared - a2, slack)


class SumScreen:
    """Screen of sums over columns.

    A column adds |a − b| for numbers, and 0 or 1 for categories. A value and a missing value are 1 apart.
    """

    rows = 8
    width = 2**13  # NumPy broadcasts rows of this length several times faster than shorter ones

    def __init__(self, distance: TableDistance, a: Floats, b: Floats) -> None:
        noncategorical = [j for j in range(len(distance.scale)) if j not in distance.categorical]
        numeric = [j for j in noncategorical if distance.scale[j]]
        scale, centre = distance.scale[numeric], _compute_centre(b[:, numeric])
        za, zb = ((x[:, numeric] - centre) / scale for x in (a, b))
        self._a1, b1 = (_blank_overflows(z, np.nansum(np.abs(z), axis=1)) for z in (za, zb))
        self._b1 = b1.max(initial=0.0)
        self._left, self._right = _to_float32_columns(za), _to_float32_columns(_pad_rows(zb, self.width))
        self._has_missing = [
            bool(np.isnan(za[:, i]).any() or np.isnan(zb[:, i]).any()) for i in range(len(numeric))
        ]
        code_pairs = [_encode_jointly(a[:, j], b[:, j]) for j in sorted(distance.categorical)]
        # in a constant column of numbers only missing values make a difference
        code_pairs += [
            _encode_jointly(np.isnan(a[:, j]), np.isnan(b[:, j]))
            for j in noncategorical
            if not distance.scale[j]
        ]
        self._code_pairs = [(left, _pad_rows(right, self.width)) for left, right in code_pairs]
        self._n_averaged = len(distance.scale) if distance.name == "gower" else 1
        self._error = 1.01 * (len(numeric) + 4) * UNIT_ROUNDOFF

    def fill_tile(self, rows: slice, first: int, last: int, out: Floats32) -> None:
        """Add column after column, one batch at a time, so that the batch stays in the CPU cache."""
        for batch in range(first, last):
            tile_columns = slice((batch - first) * self.width, (batch - first + 1) * self.width)
            self._fill_batch(rows, slice(batch * self.width, (batch + 1) * self.width), out[:, tile_columns])

    def limits(self, rows: slice, distance: Floats) -> tuple[Floats32, Floats32]:
        """Bound the error by the rounding of every coordinate and every partial sum."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = distance * self._n_averaged
            size = self._a1[rows] + self._b1 + len(self._code_pairs) + len(self._left)
            return _round_outward(
                total, (self._error + FLOAT64_SLACK) * size + FLOAT64_SLACK * total + UNDERFLOW_SLACK
            )

    def _fill_batch(self, rows: slice, columns: slice, out: Floats32) -> None:
        out[:] = self._count_differences(rows, columns) if self._code_pairs else 0.0
        gap = np.empty(out.shape, dtype=np.float32)
        for left, right, has_missing in zip(self._left, self._right, self._has_missing, strict=True):
            np.subtract(left[rows, None], right[None, columns], out=gap)
            np.abs(gap, out=gap)
            if has_missing:
                _fill_missing_gaps(gap, left[rows], right[columns])
            out += gap

    def _count_differences(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Count the columns with different codes, in one byte if the count fits, else in two."""
        shape = len(self._code_pairs[0][0][rows]), columns.stop - columns.start
        count = np.zeros(shape, dtype=np.uint8 if len(self._code_pairs) < 256 else np.uint16)
        differs = np.empty(shape, dtype=bool)
        for left, right in self._code_pairs:
            np.not_equal(left[rows, None], right[None, columns], out=differs)
            count += differs.view(np.uint8)
        return count


def _compute_centre(b: Floats) -> Floats:
    """Return the mean of the rows: float32 is more precise for smaller coordinates."""
    mean = np.where(np.isnan(b), 0.0, b).mean(axis=0)
    return np.where(np.isfinite(mean), mean, 0.0)


def _blank_overflows(z: Floats, size: Floats) -> Floats:
    """Set rows that float32 cannot hold to 0, in place, and return infinite sizes for them.

    An infinite size makes the limits infinite, so these pairs stay undecided.
    """
    overflows = ~(size < OVERFLOW_LIMIT)
    z[overflows] = 0.0
    return np.where(overflows, np.inf, size)


def _round_outward(limit: Floats, slack: Floats) -> tuple[Floats32, Floats32]:
    """Return limit ∓ slack in float32, rounded away from the limit; ∓ infinity where they might overflow."""
    is_safe = np.abs(limit) + slack < OVERFLOW_LIMIT
    inner, outer = (np.where(is_safe, limit + sign * slack, 0.0).astype(np.float32) for sign in (-1, 1))
    inner, outer = np.nextafter(inner, -INFINITY), np.nextafter(outer, INFINITY)
    return np.where(is_safe, inner, -INFINITY), np.where(is_safe, outer, INFINITY)


def _to_float32_columns(z: Floats) -> Floats32:
    return np.ascontiguousarray(z.T.astype(np.float32))


def _pad_rows(rows: NDArray[Any], width: int) -> NDArray[Any]:
    """Append rows of zeros up to a multiple of `width` rows."""
    padded = np.zeros((-(-len(rows) // width) * width, *rows.shape[1:]), dtype=rows.dtype)
    padded[: len(rows)] = rows
    return padded


def _encode_jointly(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Replace equal values with equal small integers: bytes compare eight times faster than floats."""
    values, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    compact_codes = codes.astype(np.min_scalar_type(len(values)))
    return compact_codes[: len(a)], compact_codes[len(a) :]


def _fill_missing_gaps(gap: Floats32, left: Floats32, right: Floats32) -> None:
    """Set the gap of a value and a missing value to 1, and of two missing values to 0, in place."""
    np.copyto(gap, 1.0, where=np.isnan(gap))
    gap[np.ix_(np.isnan(left), np.isnan(right))] = 0.0
