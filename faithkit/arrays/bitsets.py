"""A relation's matrix as bits: 64 instances to a word, counted by popcount.

Bit j of a row stands for instance j in the order of `numpy.packbits`; rows are padded with zeros to
whole 64-bit words.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.blocks import each_block, spans
from faithkit.errors import ContractError

Bits = NDArray[np.uint64]

BLOCK_WORDS = 262_144  # two megabytes: small enough for the cache, large enough to keep threads apart
BLOCK_COLUMNS = 1_600  # words: the same trade-off for `column_sums`
BLOCK_ROWS = 4_096  # for `row_sums`
TABLE_BYTES = 32 * 2**20  # of sums for `column_sums`
SQUARES = 8  # of 8 × 8 bits transposed at once: fewer calls, and still in the cache


def n_words(n: int) -> int:
    """Return the number of 64-bit words that hold n bits."""
    return -(-n // 64)


def pack_bits(holds: NDArray[np.bool_]) -> Bits:
    """Pack a Boolean matrix, one row of words per row, padded with zeros.

    Examples
    --------
    >>> bits = pack_bits(np.array([[True, False, True]]))
    >>> bits.shape, int(popcount(bits)[0])
    ((1, 1), 2)
    """
    rows, n = holds.shape
    packed = np.zeros((rows, 8 * n_words(n)), dtype=np.uint8)
    packed[:, : -(-n // 8)] = np.packbits(holds, axis=1)
    return packed.view(np.uint64)


def unpack_bits(bits: Bits, n: int) -> NDArray[np.bool_]:
    """Return the Boolean matrix that was packed.

    Examples
    --------
    >>> unpack_bits(pack_bits(np.array([[True, False, True]])), 3)
    array([[ True, False,  True]])
    """
    return np.unpackbits(bits.view(np.uint8), axis=1, count=n).view(np.bool_)


def ones(n: int) -> Bits:
    """Return one row with n bits set and zeros behind them."""
    return pack_bits(np.ones((1, n), dtype=bool))[0]


def get_bits(bits: Bits, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return single bits, one for each pair of row and column."""
    as_bytes = bits.view(np.uint8)
    found = as_bytes.ravel().take(rows * as_bytes.shape[1] + (columns >> 3))
    return (found >> (7 - (columns & 7)).astype(np.uint8) & 1).astype(bool)


def popcount(bits: Bits) -> NDArray[np.int64]:
    """Count the ones of every row."""
    # NumPy adds bytes in 32 bits twice as fast as in 64, and four billion instances are enough
    total: NDArray[np.int64] = np.bitwise_count(bits).sum(axis=1, dtype=np.uint32).astype(np.int64)
    return total


def count_labels(bits: Bits, label_bits: Bits, partition: bool = False) -> NDArray[np.int64]:
    """Count, for every row, the ones that fall on each label: the tally's inner loop.

    Parameters
    ----------
    bits : (m, words)
    label_bits : (k, words)
    partition : bool
        Whether every bit belongs to just one label: the last count is then what is left of the total.

    Returns
    -------
    (m, k) int64
    """
    m, words = bits.shape
    counts = np.empty((m, len(label_bits)), dtype=np.int64)

    def count(start: int, stop: int) -> None:
        block = bits[start:stop]
        held = np.empty_like(block)
        for y, row in enumerate(label_bits[:-1] if partition else label_bits):
            counts[start:stop, y] = popcount(np.bitwise_and(block, row, out=held))
        if partition:
            counts[start:stop, -1] = popcount(block) - counts[start:stop, :-1].sum(axis=1)

    each_block(count, m, max(1, BLOCK_WORDS // max(1, words)))
    return counts


def row_sums(bits: Bits, values: NDArray[Any]) -> NDArray[Any]:
    """Sum the values of the columns that hold, for every row: eight columns at a time, from a table.

    Parameters
    ----------
    bits : (m, words)
    values : (n, c)

    Returns
    -------
    (m, c), of the values' type

    Examples
    --------
    >>> row_sums(pack_bits(np.array([[True, False, True]])), np.array([[1, 5], [2, 6], [3, 7]]))
    array([[ 4, 12]])
    """
    as_bytes = bits.view(np.uint8)[:, : -(-len(values) // 8)]
    tables = _subset_sums(values[:, None])
    sums = np.zeros((len(bits), values.shape[1]), dtype=values.dtype)

    def add(start: int, stop: int) -> None:
        columns = np.ascontiguousarray(as_bytes[start:stop].T)
        total, found = sums[start:stop], np.empty((stop - start, values.shape[1]), dtype=values.dtype)
        for table, held in zip(tables, columns, strict=True):
            np.take(table, held, axis=0, out=found, mode="clip")  # clip spares a buffered copy
            total += found

    each_block(add, len(bits), BLOCK_ROWS)
    return sums


def column_sums(bits: Bits, weights: NDArray[Any], labels: NDArray[np.int64]) -> NDArray[Any]:
    """Sum the weights of the rows that hold, for every column; weights depend on the column's label.

    Eight rows at a time: their bits form one byte per column, and a table of 256 sums per label turns
    that byte into eight additions at once.

    Parameters
    ----------
    bits : (m, words)
    weights : (m, k, c)
        `weights[u, y]` is what row u adds to a column of label y.
    labels : (n,) int
        The columns' labels.

    Returns
    -------
    (n, c), of the weights' type
    """
    (m, k, c), n, words = weights.shape, len(labels), bits.shape[1]
    narrow = np.min_scalar_type(256 * k)
    padded = np.zeros(64 * words, dtype=narrow)
    padded[:n] = 256 * labels
    # a transposed byte belongs to bit r of each byte: columns are kept in that order until the end
    offsets = np.ascontiguousarray(padded.reshape(-1, 8).T)
    sums = np.zeros((8, 8 * words, c), dtype=weights.dtype)

    def add(start: int, stop: int) -> None:
        columns = slice(8 * start, 8 * stop)
        offset, total = np.ascontiguousarray(offsets[:, columns]), np.ascontiguousarray(sums[:, columns])
        index, found = np.empty(offset.shape, dtype=np.intp), np.empty_like(total)
        for first, last in spans(len(rows), 8 * SQUARES):
            for eight, held in enumerate(_transpose8(rows[first:last, start:stop]), first // 8):
                # a byte, then a label's offset in a narrow type, then what `take` wants: NumPy is fastest so
                np.copyto(index, held.astype(narrow) + offset)
                np.take(tables[eight], index, axis=0, out=found, mode="clip")  # clip spares a buffered copy
                total += found
        sums[:, columns] = total

    for top, bottom in spans(m, 8 * SQUARES * max(1, TABLE_BYTES // (SQUARES * 256 * k * c * 8))):
        rows, tables = bits[top:bottom], _subset_sums(weights[top:bottom])
        each_block(add, words, BLOCK_COLUMNS)
    return np.ascontiguousarray(sums.transpose(1, 0, 2)).reshape(-1, c)[:n]


def _subset_sums(weights: NDArray[Any]) -> NDArray[Any]:
    """Return, for every eight rows, every label and every byte, the sum of the weights of the byte's ones.

    The shape is (m / 8, k·256, c); a row's bit is the more significant the earlier it comes.
    """
    m, k, c = weights.shape
    eights = np.zeros((-(-m // 8), 8, k, 1, c), dtype=weights.dtype)
    eights.reshape(-1, k, c)[:m] = weights
    table = np.zeros((len(eights), k, 1, c), dtype=weights.dtype)
    for place in range(7, -1, -1):
        table = np.concatenate([table, table + eights[:, place]], axis=2)
    return table.reshape(len(eights), 256 * k, c)


_SWAPS = [
    (4, np.uint64(4), np.uint64(0x0F0F0F0F0F0F0F0F)),
    (2, np.uint64(2), np.uint64(0x3333333333333333)),
    (1, np.uint64(1), np.uint64(0x5555555555555555)),
]


def _transpose8(rows: Bits) -> NDArray[np.uint8]:
    """Transpose every 8 × 8 block of bits: byte b of row r then has the bits of column 8·b + r.

    Rows are taken by eights, the last ones filled up with zeros; the shape is (eights, 8, bytes).
    """
    squares = np.zeros((8 * -(-len(rows) // 8), rows.shape[1]), dtype=np.uint64)
    squares[: len(rows)] = rows
    for distance, shift, mask in _SWAPS:
        pairs = squares.reshape(-1, 2, distance, rows.shape[1])
        upper, lower = pairs[:, 0], pairs[:, 1]
        swap = lower >> shift
        swap ^= upper
        swap &= mask
        upper ^= swap
        swap <<= shift
        lower ^= swap
    return squares.view(np.uint8).reshape(-1, 8, 8 * rows.shape[1])


def check_packed(bits: Any, m: int, n: int, who: str) -> Bits:
    """Refuse a packed matrix of another shape or dtype, or with ones in its padding."""
    shape = (m, n_words(n))
    if not isinstance(bits, np.ndarray) or bits.dtype != np.uint64 or bits.shape != shape:
        given = f"{bits.dtype} {bits.shape}" if isinstance(bits, np.ndarray) else type(bits).__name__
        raise ContractError(
            f"{who}.packed returned {given}; expected uint64 {shape}: use faithkit.plugin.pack_bits."
        )
    if n % 64 and (bits[:, -1] & ~ones(n)[-1]).any():
        raise ContractError(
            f"{who}.packed has ones behind bit {n}: pad with zeros, as faithkit.plugin.pack_bits does."
        )
    return bits
