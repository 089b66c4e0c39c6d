"""The two questions about distances, answered exactly: which are the nearest rows, and which are nearer than.

Float32 screens decide almost all pairs; the rest is measured by the elementary formula. So the answers are
those of the double loop, ties included: of two rows at the same distance the one with the lower number is
nearer. Nothing here is ever as large as one table times the other.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.blocks import each_block
from faithkit_example_based.distances import Distance, Floats, TableDistance
from faithkit_example_based.screens import Screen, screen

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
CELLS = 2**22  # of a block: 16 megabytes in float32
PAIRS = 2**16  # measured exactly at a time
LANES = 64
FEW = 512  # rows that are not worth a screen
TILE = 2**13  # columns: rows that long NumPy broadcasts fast


def nearest(distance: Distance, a: NDArray[Any], b: NDArray[Any], k: int) -> Ints:
    """Return for every row of a the numbers of its k nearest rows of b, in ascending order of number.

    Examples
    --------
    >>> from faithkit_example_based.distances import learn_distance
    >>> line = np.array([[0.0], [1.0], [5.0]])
    >>> distance = learn_distance("euclidean", line)
    >>> nearest(distance, np.array([[3.0], [0.4]]), line, 1)[:, 0]
    array([1, 0])
    """
    if isinstance(distance, TableDistance) and len(b) >= FEW and k <= LANES // 2:
        return _nearest_screened(distance, a, b, k)
    return nearest_plain(distance, a, b, k)


def closer(
    distance: Distance, a: NDArray[Any], radius: Floats, b: NDArray[Any], strict: bool
) -> NDArray[np.uint64]:
    """Return packed bits: which rows of b lie within the radius of each row of a; strict: nearer than it."""
    if isinstance(distance, TableDistance) and len(b) >= FEW:
        return _closer_screened(distance, a, radius, b, strict)
    return faithkit.plugin.pack_bits(closer_plain(distance, a, radius, b, strict))


def nearest_plain(distance: Distance, a: NDArray[Any], b: NDArray[Any], k: int) -> Ints:
    """Return the same by measuring every pair."""
    found = np.empty((len(a), k), dtype=np.int64)
    for start in range(0, len(a), _size(len(b))):
        rows = slice(start, start + _size(len(b)))
        order = np.argsort(distance.between(a[rows, None], b[None]), axis=1, kind="stable")
        found[rows] = np.sort(order[:, :k], axis=1)
    return found


def closer_plain(distance: Distance, a: NDArray[Any], radius: Floats, b: NDArray[Any], strict: bool) -> Bools:
    """Return the same as a Boolean matrix, by measuring every pair."""
    found = np.empty((len(a), len(b)), dtype=bool)
    for start in range(0, len(a), _size(len(b))):
        rows = slice(start, start + _size(len(b)))
        far = distance.between(a[rows, None], b[None])
        found[rows] = far < radius[rows, None] if strict else far <= radius[rows, None]
    return found


def _size(width: int) -> int:
    return max(1, PAIRS * 8 // max(1, width))


def _nearest_screened(distance: TableDistance, a: Floats, b: Floats, k: int) -> Ints:
    fast = screen(distance, a, b)
    blocks = -(-len(b) // fast.width)
    found = np.empty((len(a), k), dtype=np.int64)

    def search(rows: slice) -> None:
        tile = np.empty((rows.stop - rows.start, blocks * fast.width), dtype=np.float32)
        fast.tile(rows, 0, blocks, tile)
        tile[:, len(b) :] = np.inf
        enough = distance.between(a[rows, None], b[_promising(tile, k)]).max(axis=1)
        _, outer = fast.limits(rows, enough)
        who, where = _places(tile[:, : len(b)] <= outer[:, None])
        far = _measured(distance, a[rows], who, b, where)
        found[rows] = _least(who, where, far, k)

    each_block(search, len(a), max(1, min(fast.rows, CELLS // (blocks * fast.width))))
    return found


def _promising(tile: NDArray[np.float32], k: int) -> Ints:
    """Return k columns for every row that are likely the nearest: the least of k lanes, each 64th column."""
    lanes = tile.reshape(len(tile), -1, LANES)
    least = lanes.min(axis=1)
    best = np.argpartition(least, k - 1, axis=1)[:, :k]
    rows = np.arange(len(tile))[:, None]
    return lanes[rows, :, best].argmin(axis=2) * LANES + best


def _places(matrix: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return rows and columns that are not 0; NumPy is several times slower at that in two dimensions."""
    return np.divmod(np.flatnonzero(matrix), matrix.shape[1])


def _measured(distance: Distance, a: Floats, who: Ints, b: Floats, where: Ints) -> Floats:
    """Measure single pairs by the elementary formula."""
    far = np.empty(len(who))
    for start in range(0, len(who), PAIRS):
        part = slice(start, start + PAIRS)
        far[part] = distance.between(a[who[part]], b[where[part]])
    return far


def _least(who: Ints, where: Ints, far: Floats, k: int) -> Ints:
    """Pick for every row the k columns of least distance, the lowest number first among equals."""
    order = np.lexsort((where, far, who))
    start = np.flatnonzero(np.diff(who[order], prepend=-1))  # every row has at least k
    return np.sort(where[order][start[:, None] + np.arange(k)], axis=1)


def _closer_screened(
    distance: TableDistance, a: Floats, radius: Floats, b: Floats, strict: bool
) -> NDArray[np.uint64]:
    fast = screen(distance, a, b)
    bits = np.empty((len(a), -(-len(b) // 64)), dtype=np.uint64)

    def compare(rows: slice) -> None:
        sure, possible = _screened(fast, rows, radius[rows], len(b))
        who, where = _set_bits(sure ^ possible)
        if len(who) > len(sure) * len(b) // 8:  # measuring all is then cheaper than gathering
            bits[rows] = faithkit.plugin.pack_bits(closer_plain(distance, a[rows], radius[rows], b, strict))
            return
        far = _measured(distance, a[rows], who, b, where)
        near = far < radius[rows][who] if strict else far <= radius[rows][who]
        bit = np.right_shift(128, where[near] % 8).astype(np.uint8)
        np.bitwise_or.at(sure, (who[near], where[near] // 8), bit)
        bits[rows] = sure.view(np.uint64)

    each_block(compare, len(a), fast.rows)
    return bits


def _screened(fast: Screen, rows: slice, radius: Floats, n: int) -> tuple[Bytes, Bytes]:
    """Return which of n rows are surely near, and which may be, as packed bytes."""
    blocks, step = -(-n // fast.width), -(-TILE // fast.width)
    limits = fast.limits(rows, radius)
    sure, possible = (np.zeros((len(radius), 8 * -(-n // 64)), dtype=np.uint8) for _ in limits)
    tile = np.empty((len(radius), step * fast.width), dtype=np.float32)
    mask = np.empty(tile.shape, dtype=bool)
    for first in range(0, blocks, step):
        last = min(blocks, first + step)
        start, stop = first * fast.width, min(n, last * fast.width)
        fast.tile(rows, first, last, tile[:, : (last - first) * fast.width])
        here, part = mask[:, : stop - start], slice(start // 8, -(-stop // 8))
        for packed, limit in zip((sure, possible), limits, strict=True):
            np.less_equal(tile[:, : stop - start], limit[:, None], out=here)
            packed[:, part] = np.packbits(here, axis=1)
    return sure, possible


def _set_bits(packed: Bytes) -> tuple[Ints, Ints]:
    """Return rows and columns of the ones among packed bits, of which there are few: most words are 0."""
    words = packed.view(np.uint64)
    row, word = _places(words)
    some, bit = np.nonzero(np.unpackbits(words[row, word].view(np.uint8).reshape(-1, 8), axis=1))
    return row[some], 64 * word[some] + bit
