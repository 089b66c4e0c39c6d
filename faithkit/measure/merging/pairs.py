"""Rows of numbers paired with near ones, by what they contain and nothing else.

No order of the rows, number of threads or machine changes who is paired with whom.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.measure.blocks import each_block
from faithkit.measure.grouping import mix, words
from faithkit.measure.merging.halving import extreme, halved

BLOCK = 2**16  # values
FEW_COLUMNS = 2  # that are hashed first
FEW_ALIKE = 100  # one row in so many may have the hash of another, and is settled by its words


def near_pairs(vectors: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of every row's block: two rows each, three in the last one if their number is odd.

    The rows are halved along their widest column (largest minus smallest value; the first one of several),
    and both halves again, until pairs are left. The left part is the even number next to the half, the
    larger one of two, so what is odd is always to the right: of 7 rows 4 are left, of 5 two, and 3 stay
    together. Blocks are numbered from left to right. A single row is a block of its own.

    A column is measured from its smallest finite value on, in single precision. NaN and ∞ count as its
    largest finite value, −∞ as its smallest; a column without any is constant. Rows that a cut finds equal
    are ordered by a hash of what they contain, then by the contents, so only equal rows can change places.

    Parameters
    ----------
    vectors : array of shape (rows, columns)
        Booleans, integers or floats.

    Examples
    --------
    >>> near_pairs(np.array([[0.0, 1.0], [5.0, 9.0], [0.1, 1.0], [5.0, 9.1]]))
    array([0, 1, 0, 1])
    """
    vectors = np.ascontiguousarray(vectors)
    order = _content_order(vectors)
    order = halved(_measured(vectors), order)
    blocks = np.empty(len(order), dtype=np.int64)

    def number(start: int, stop: int) -> None:
        blocks[order[start:stop]] = np.minimum(np.arange(start, stop), last) // 2

    last = len(order) - 1 - len(order) % 2 if len(order) > 1 else 0  # a third row has no number of its own
    each_block(number, len(order), BLOCK)
    return blocks


def _content_order(vectors: NDArray[Any]) -> NDArray[np.int64]:
    """Order rows by the first bits of their hash, then by their words.

    The hash is that of a few columns, which mostly tell rows apart; else that of all.
    """
    order, hashes = _hash_order(vectors[:, :FEW_COLUMNS])
    if (hashes[1:] == hashes[:-1]).sum() > len(hashes) // FEW_ALIKE:
        order, hashes = _hash_order(vectors)
    _settle(vectors, order, hashes)
    return order


def _hash_order(vectors: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Order rows by the first bits of their hash, and return these in this order, too."""
    hashes = np.empty(len(vectors), dtype=np.uint64)

    def look(start: int, stop: int) -> None:
        hashes[start:stop] = mix(words(vectors[start:stop]))

    each_block(look, len(vectors), _block(vectors))
    bits = np.uint64(len(vectors).bit_length())  # for the number of the row, which is sorted with its hash
    hashes >>= bits
    numbered = _sorted(hashes << bits | np.arange(len(vectors), dtype=np.uint64))
    return (numbered & ~(~np.uint64(0) << bits)).astype(np.int64), numbered >> bits


def _sorted(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Sort hashes; many in four parts, by their first two bits, so that they are sorted by more than one."""
    if len(numbers) <= BLOCK:
        return np.sort(numbers)
    quarter = numbers >> np.uint64(62)
    parts = [numbers] * 4

    def sort(i: int, _: int) -> None:
        parts[i] = np.sort(numbers.compress(quarter == i))

    each_block(sort, 4, 1)
    return np.concatenate(parts)


def _settle(vectors: NDArray[Any], order: NDArray[np.int64], hashes: NDArray[np.uint64]) -> None:
    """Put rows whose hashes begin alike in the order of all their words."""
    like_next = np.append(hashes[1:] == hashes[:-1], False)
    alike = np.flatnonzero(like_next | np.roll(like_next, 1))
    if len(alike):
        rows = order[alike]
        order[alike] = rows[np.lexsort((*words(vectors[rows]).T[::-1], hashes[alike]))]


@np.errstate(under="ignore")  # also where the caller has asked for errors
def _measured(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Return the rows with all columns from 0 on and in the same unit."""
    low, high = _box(vectors)
    widest = float(np.max(high / 2 - low / 2, initial=0.0))  # halves cannot overflow
    unit = np.ldexp(1.0, -max(int(np.frexp(widest)[1]), -1022))  # a power of two: it rounds nothing
    size = _block(vectors)
    beside = min(size, len(vectors))
    to_zero = np.tile(0.0 - low / 2, (beside, 1))  # as a short row is slow to broadcast
    measured = np.zeros((len(vectors), max(len(low), 1)), dtype=np.float32)

    def measure(start: int, stop: int) -> None:
        rows = np.multiply(vectors[start:stop], 0.5, dtype=np.float64)
        if not np.isfinite(rows).all():
            rows = np.fmax(np.fmin(rows, high / 2), low / 2)
        rows += to_zero[: len(rows)]
        rows *= unit
        measured[start:stop, : len(low)] = rows

    each_block(measure, len(vectors), size)
    return measured


def _box(vectors: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and the largest finite value of every column; both are 0 where there is none."""
    n, d = vectors.shape
    size = _block(vectors)
    lows, highs = np.empty((2, -(-n // size), d))

    def look(start: int, stop: int) -> None:
        rows = vectors[start:stop, None].astype(np.float64, copy=False)
        finite = np.isfinite(rows)
        known = finite.all()
        lows[start // size] = extreme(np.minimum, rows if known else np.where(finite, rows, np.inf))[0]
        highs[start // size] = extreme(np.maximum, rows if known else np.where(finite, rows, -np.inf))[0]

    each_block(look, n, size)
    low, high = lows.min(axis=0, initial=np.inf), highs.max(axis=0, initial=-np.inf)
    return np.where(low > high, 0.0, low), np.where(low > high, 0.0, high)


def _block(vectors: NDArray[Any]) -> int:
    """Return how many rows stay together in the cache; a few do not harm."""
    return max(16, BLOCK // max(vectors.shape[1], 1))
