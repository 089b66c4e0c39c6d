"""Rows halved along their widest column, and both halves again, until pairs are left.

Large nodes are halved one by one, their rows moved together; small ones all at once, level by level, in the
cache. A key holds a value and its row's place, so no two are equal: what is left of a cut is the same set
however a machine partitions.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.blocks import each_block

BLOCK = 16_384  # rows
IN_CACHE = 2**19  # values
SIDE_BY_SIDE = 64  # rows compared at once: one alone is too short for NumPy's inner loops
FEW = 16  # rows: so many are sorted faster than partitioned
_PLACE = 32  # bits of a key that hold the place of its row: enough for what fits in any memory
_PLACES = 2**_PLACE - 1

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@attrs.frozen
class _Node:
    """Rows that stay together so far, from `start` to `stop`, and the column in which they differ most."""

    start: int
    stop: int
    widest: int


def halved(rows: Floats, order: Ints) -> Ints:
    """Return the places of the rows from the leftmost pair to the rightmost; a triple comes last.

    Parameters
    ----------
    rows : float32 array
        Numbers from +0.0 on, in at least one column. Nobody else may need them: their memory is used.
    order : int64 array
        The places in an order that decides where a cut falls between rows of equal value.

    Examples
    --------
    >>> halved(np.array([[0.1], [0.7], [0.2], [0.8], [0.9]], dtype=np.float32), np.arange(5))
    array([0, 2, 1, 3, 4])
    """
    moved = np.empty_like(rows)
    nodes = [_Node(0, len(rows), _move(rows, order, moved))]
    order = order.copy()
    while nodes:
        rows, moved = moved, rows
        nodes = _next_level(nodes, rows, moved, order)
    return order


def left_size(n: int) -> int:
    """Return the even number next to half of n, the larger one of two.

    Examples
    --------
    >>> [left_size(n) for n in (4, 5, 6, 7, 8, 9, 10)]
    [2, 2, 4, 4, 4, 4, 6]
    """
    return (n + 2) // 4 * 2


def _next_level(nodes: list[_Node], rows: Floats, moved: Floats, order: Ints) -> list[_Node]:
    """Halve the large nodes and finish the small ones; return the halves."""
    halves: list[list[_Node]] = [[] for _ in nodes]

    def work(i: int, _: int) -> None:
        node = nodes[i]
        mine, places = rows[node.start : node.stop], order[node.start : node.stop]
        if mine.size <= IN_CACHE or len(mine) <= 3:
            places[:] = places[_finished(mine)]
            return
        left, right = _parted(mine[:, node.widest])
        places[:] = places[np.concatenate([left, right])]
        middle = node.start + len(left)
        halves[i] = [
            _Node(node.start, middle, _move(mine, left, moved[node.start : middle])),
            _Node(middle, node.stop, _move(mine, right, moved[middle : node.stop])),
        ]

    each_block(work, len(nodes), 1)
    return [half for both in halves for half in both]


def _move(rows: Floats, places: Ints, target: Floats) -> int:
    """Gather rows; return in which column they differ most, seen while they are in the cache."""
    lows, highs = np.empty((2, -(-len(places) // BLOCK), rows.shape[1]), dtype=np.float32)

    def move(start: int, stop: int) -> None:
        some = target[start:stop]
        rows.take(places[start:stop], axis=0, out=some, mode="clip")
        lows[start // BLOCK] = extreme(np.minimum, some[:, None])[0]
        highs[start // BLOCK] = extreme(np.maximum, some[:, None])[0]

    each_block(move, len(places), BLOCK)
    return int(np.argmax(highs.max(axis=0, initial=0) - lows.min(axis=0, initial=np.inf)))


def _parted(values: Floats) -> tuple[Ints, Ints]:
    """Return the places of the left half and of the right one, each in order."""
    keys = _keys(values, np.arange(len(values)))
    middle = left_size(len(values))
    left = keys < np.partition(keys, middle)[middle]
    return np.flatnonzero(left), np.flatnonzero(~left)


def _finished(rows: Floats) -> Ints:
    """Halve rows that fit in the cache until pairs are left, all nodes of one size at once."""
    order = np.empty(len(rows), dtype=np.int64)
    room = np.empty_like(rows)
    level = {len(rows): [(np.arange(len(rows))[None], np.zeros(1, dtype=np.int64))]}
    while level:
        halves: dict[int, list[tuple[Ints, Ints]]] = {}
        for size, nodes in level.items():
            places, starts = (np.concatenate(parts) for parts in zip(*nodes, strict=True))
            if size > 3:
                places = _all_parted(rows, places, room)
            if size <= 5:  # both halves are leaves
                for i in range(size):
                    order[starts + i] = places[:, i]
                continue
            middle = left_size(size)
            halves.setdefault(middle, []).append((places[:, :middle], starts))
            halves.setdefault(size - middle, []).append((places[:, middle:], starts + middle))
        level = halves
    return order


def _all_parted(rows: Floats, places: Ints, room: Floats) -> Ints:
    """Return the places of each node, a row of `places`: first those of its left half."""
    n, size = places.shape
    d = rows.shape[1]
    values = room[: places.size].reshape(size, n, d)  # so that all nodes are compared in one inner loop
    rows.take(places.T, axis=0, out=values, mode="clip")
    widest = (extreme(np.maximum, values) - extreme(np.minimum, values)).argmax(axis=1)
    keys = _keys(values.reshape(size, n * d).take(np.arange(0, n * d, d) + widest, axis=1).T, places)
    if size <= FEW:
        keys.sort(axis=1)
    else:
        keys.partition(left_size(size), axis=1)
    keys &= _PLACES
    return keys


def _keys(values: Floats, places: Ints) -> Ints:
    """Return numbers that are in the order of the values, then of the places, which they end in."""
    keys = values.view(np.int32).astype(np.int64, order="C")  # bits of floats from 0 on are in their order
    keys <<= _PLACE
    keys |= places
    return keys


def extreme(of: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
    """Reduce the first of three axes, by `np.minimum` or `np.maximum`.

    Examples
    --------
    >>> extreme(np.maximum, np.array([[[1, 5]], [[3, 4]]]))
    array([[3, 5]])
    """
    size, n, d = values.shape
    beside = SIDE_BY_SIDE // n
    if beside < 2 or size < 2 * beside:
        return np.asarray(of.reduce(values, axis=0))
    whole = size // beside * beside
    few = of.reduce(values[:whole].reshape(size // beside, beside, n, d), axis=0)
    return np.asarray(of.reduce(np.concatenate([few, values[whole:]]), axis=0))
