"""Exact searches by distance: the nearest rows, and the rows within a radius.

Float32 screens decide almost all pairs. The other pairs are measured with the plain formula. So the results
equal those of a double loop over all pairs. Of two rows at the same distance, the one with the lower number
counts as nearer. No array is as large as the product of both tables.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.distances import Distance, Floats, TableDistance
from faithkit_example_based.screens import Screen, build_screen

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
VALUES_PER_BATCH = 2**22  # 16 megabytes in float32
PAIRS_PER_STEP = 2**16  # pairs to measure exactly at a time
LANES = 64  # groups of columns from which the nearest rows are guessed
MIN_SCREENED_ROWS = 512  # with fewer rows a screen does not pay off
TILE_COLUMNS = 2**13  # NumPy broadcasts rows of this length fast


def find_nearest_rows(distance: Distance, a: NDArray[Any], b: NDArray[Any], k: int) -> Ints:
    """Return for each row of `a` the numbers of its k nearest rows of `b`, in ascending order.

    Examples
    --------
    >>> from faithkit_example_based.distances import learn_distance
    >>> line = np.array([[0.0], [1.0], [5.0]])
    >>> distance = learn_distance("euclidean", line)
    >>> find_nearest_rows(distance, np.array([[3.0], [0.4]]), line, 1)[:, 0]
    array([1, 0])
    """
    if isinstance(distance, TableDistance) and len(b) >= MIN_SCREENED_ROWS and k <= LANES // 2:
        return _find_nearest_rows_screened(distance, a, b, k)
    return find_nearest_rows_plain(distance, a, b, k)


def find_rows_within(
    distance: Distance, a: NDArray[Any], radius: Floats, b: NDArray[Any], strict: bool
) -> NDArray[np.uint64]:
    """Return which rows of `b` lie within the radius of each row of `a`, as packed bits.

    If `strict`, rows at exactly the radius do not count.
    """
    if isinstance(distance, TableDistance) and len(b) >= MIN_SCREENED_ROWS:
        return _find_rows_within_screened(distance, a, radius, b, strict)
    return faithkit.plugin.pack_bits(find_rows_within_plain(distance, a, radius, b, strict))


def find_nearest_rows_plain(distance: Distance, a: NDArray[Any], b: NDArray[Any], k: int) -> Ints:
    """Compute `find_nearest_rows` by measuring every pair."""
    nearest_rows = np.empty((len(a), k), dtype=np.int64)
    for start in range(0, len(a), _rows_per_step(len(b))):
        rows = slice(start, start + _rows_per_step(len(b)))
        order = np.argsort(distance.between(a[rows, None], b[None]), axis=1, kind="stable")
        nearest_rows[rows] = np.sort(order[:, :k], axis=1)
    return nearest_rows


def find_rows_within_plain(
    distance: Distance, a: NDArray[Any], radius: Floats, b: NDArray[Any], strict: bool
) -> Bools:
    """Compute `find_rows_within`, as a Boolean matrix, by measuring every pair."""
    is_within = np.empty((len(a), len(b)), dtype=bool)
    for start in range(0, len(a), _rows_per_step(len(b))):
        rows = slice(start, start + _rows_per_step(len(b)))
        distances = distance.between(a[rows, None], b[None])
        is_within[rows] = distances < radius[rows, None] if strict else distances <= radius[rows, None]
    return is_within


def _rows_per_step(width: int) -> int:
    return max(1, PAIRS_PER_STEP * 8 // max(1, width))


def _find_nearest_rows_screened(distance: TableDistance, a: Floats, b: Floats, k: int) -> Ints:
    screen = build_screen(distance, a, b)
    n_batches = -(-len(b) // screen.width)
    nearest_rows = np.empty((len(a), k), dtype=np.int64)

    def search(start: int, stop: int) -> None:
        rows = slice(start, stop)
        tile = np.empty((stop - start, n_batches * screen.width), dtype=np.float32)
        screen.fill_tile(rows, 0, n_batches, tile)
        tile[:, len(b) :] = np.inf
        farthest = distance.between(a[rows, None], b[_guess_nearest(tile, k)]).max(axis=1)
        _, outer = screen.limits(rows, farthest)
        row_index, column_index = _nonzero_indices(tile[:, : len(b)] <= outer[:, None])
        distances = _measure_pairs(distance, a[rows], row_index, b, column_index)
        nearest_rows[rows] = _select_nearest(row_index, column_index, distances, k)

    batch_size = max(1, min(screen.rows, VALUES_PER_BATCH // (n_batches * screen.width)))
    faithkit.plugin.each_batch(search, len(a), batch_size)
    return nearest_rows


def _guess_nearest(tile: NDArray[np.float32], k: int) -> Ints:
    """Return k columns per row that are probably the nearest.

    A lane is every 64th column. The guess is the smallest value of each of the k best lanes.
    """
    lanes = tile.reshape(len(tile), -1, LANES)
    least = lanes.min(axis=1)
    best = np.argpartition(least, k - 1, axis=1)[:, :k]
    rows = np.arange(len(tile))[:, None]
    return lanes[rows, :, best].argmin(axis=2) * LANES + best


def _nonzero_indices(matrix: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the row and column indices of nonzeros, several times faster than NumPy's 2-D `nonzero`."""
    return np.divmod(np.flatnonzero(matrix), matrix.shape[1])


def _measure_pairs(distance: Distance, a: Floats, row_index: Ints, b: Floats, column_index: Ints) -> Floats:
    """Measure single pairs with the plain formula."""
    distances = np.empty(len(row_index))
    for start in range(0, len(row_index), PAIRS_PER_STEP):
        step = slice(start, start + PAIRS_PER_STEP)
        distances[step] = distance.between(a[row_index[step]], b[column_index[step]])
    return distances


def _select_nearest(row_index: Ints, column_index: Ints, distances: Floats, k: int) -> Ints:
    """Return for each row the k columns with the smallest distances; ties go to the lower number."""
    order = np.lexsort((column_index, distances, row_index))
    start = np.flatnonzero(np.diff(row_index[order], prepend=-1))  # each row has at least k pairs
    return np.sort(column_index[order][start[:, None] + np.arange(k)], axis=1)


def _find_rows_within_screened(
    distance: TableDistance, a: Floats, radius: Floats, b: Floats, strict: bool
) -> NDArray[np.uint64]:
    screen = build_screen(distance, a, b)
    bits = np.empty((len(a), -(-len(b) // 64)), dtype=np.uint64)

    def compare(start: int, stop: int) -> None:
        rows = slice(start, stop)
        surely_near, maybe_near = _screen_rows(screen, rows, radius[rows], len(b))
        row_index, column_index = _unpack_indices(surely_near ^ maybe_near)
        # measuring all pairs is cheaper than gathering many
        if len(row_index) > len(surely_near) * len(b) // 8:
            bits[rows] = faithkit.plugin.pack_bits(
                find_rows_within_plain(distance, a[rows], radius[rows], b, strict)
            )
            return
        distances = _measure_pairs(distance, a[rows], row_index, b, column_index)
        is_near = distances < radius[rows][row_index] if strict else distances <= radius[rows][row_index]
        bit = np.right_shift(128, column_index[is_near] % 8).astype(np.uint8)
        np.bitwise_or.at(surely_near, (row_index[is_near], column_index[is_near] // 8), bit)
        bits[rows] = surely_near.view(np.uint64)

    faithkit.plugin.each_batch(compare, len(a), screen.rows)
    return bits


def _screen_rows(screen: Screen, rows: slice, radius: Floats, n: int) -> tuple[Bytes, Bytes]:
    """Return which of n rows are surely within the radius, and which may be, as packed bytes."""
    n_batches, step = -(-n // screen.width), -(-TILE_COLUMNS // screen.width)
    limits = screen.limits(rows, radius)
    surely_near, maybe_near = (np.zeros((len(radius), 8 * -(-n // 64)), dtype=np.uint8) for _ in limits)
    tile = np.empty((len(radius), step * screen.width), dtype=np.float32)
    mask = np.empty(tile.shape, dtype=bool)
    for first in range(0, n_batches, step):
        last = min(n_batches, first + step)
        start, stop = first * screen.width, min(n, last * screen.width)
        screen.fill_tile(rows, first, last, tile[:, : (last - first) * screen.width])
        is_within, byte_columns = mask[:, : stop - start], slice(start // 8, -(-stop // 8))
        for packed, limit in zip((surely_near, maybe_near), limits, strict=True):
            np.less_equal(tile[:, : stop - start], limit[:, None], out=is_within)
            packed[:, byte_columns] = np.packbits(is_within, axis=1)
    return surely_near, maybe_near


def _unpack_indices(packed: Bytes) -> tuple[Ints, Ints]:
    """Return the row and column indices of the set bits; fast where most words are 0."""
    words = packed.view(np.uint64)
    row, word = _nonzero_indices(words)
    word_index, bit = np.nonzero(np.unpackbits(words[row, word].view(np.uint8).reshape(-1, 8), axis=1))
    return row[word_index], 64 * word[word_index] + bit
