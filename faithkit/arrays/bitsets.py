"""Packed Boolean matrices: 64 instances per word, counted by popcount.

A relation's matrix is stored this way. Bit j of a row stands for instance j, in the order of
`numpy.packbits`. Rows are padded with zeros to full 64-bit words.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.batches import each_batch, spans
from faithkit.errors import ContractError

Bits = NDArray[np.uint64]

BATCH_WORDS = 262_144  # two megabytes: fits in the cache, and is large enough for threads to pay off
BATCH_COLUMNS = 1_600  # words: the same trade-off for `column_sums`
BATCH_ROWS = 4_096  # for `row_sums`
TABLE_BYTES = 32 * 2**20  # memory for the table of sums of `column_sums`
SQUARES = 8  # squares of 8 × 8 bits transposed at once: fewer calls, and they fit in the cache


def n_words(n: int) -> int:
    """Return the number of 64-bit words that n bits need."""
    return -(-n // 64)


def pack_bits(holds: NDArray[np.bool_]) -> Bits:
    """Pack a Boolean matrix into one row of words per row, padded with zeros.

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
    """Unpack the Boolean matrix of n columns.

    Examples
    --------
    >>> unpack_bits(pack_bits(np.array([[True, False, True]])), 3)
    array([[ True, False,  True]])
    """
    return np.unpackbits(bits.view(np.uint8), axis=1, count=n).view(np.bool_)


def ones(n: int) -> Bits:
    """Return one row with the first n bits set and zeros in the padding."""
    return np.asarray(pack_bits(np.ones((1, n), dtype=bool))[0])


def get_bits(bits: Bits, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the bit at each pair of row and column."""
    as_bytes = bits.view(np.uint8)
    selected_bytes = as_bytes.ravel().take(rows * as_bytes.shape[1] + (columns >> 3))
    return np.asarray(selected_bytes >> (7 - (columns & 7)).astype(np.uint8) & 1, dtype=bool)


def popcount(bits: Bits) -> NDArray[np.int64]:
    """Count the set bits of every row."""
    # NumPy adds bytes twice as fast in 32 bits as in 64; 32 bits count four billion instances
    total: NDArray[np.int64] = np.bitwise_count(bits).sum(axis=1, dtype=np.uint32).astype(np.int64)
    return total


def count_labels(bits: Bits, label_bits: Bits, partition: bool = False) -> NDArray[np.int64]:
    """Count the set bits of every row by label; this is the inner loop of the tally.

    Parameters
    ----------
    bits : (m, words)
    label_bits : (k, words)
    partition : bool
        Whether every bit belongs to exactly one label. The last count is then the total minus the others.

    Returns
    -------
    (m, k) int64
    """
    m, words = bits.shape
    counts = np.empty((m, len(label_bits)), dtype=np.int64)

    def count(start: int, stop: int) -> None:
        batch = bits[start:stop]
        masked = np.empty_like(batch)
        for y, row in enumerate(label_bits[:-1] if partition else label_bits):
            counts[start:stop, y] = popcount(np.bitwise_and(batch, row, out=masked))
        if partition:
            counts[start:stop, -1] = popcount(batch) - counts[start:stop, :-1].sum(axis=1)

    each_batch(count, m, BATCH_WORDS // max(1, words))
    return counts


def row_sums(bits: Bits, values: NDArray[Any]) -> NDArray[Any]:
    """Sum, for every row, the values of the columns whose bit is set.

    A table gives the sum of eight columns at a time.

    Parameters
    ----------
    bits : (m, words)
    values : (n, c)

    Returns
    -------
    (m, c), with the dtype of `values`

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
        total, table_sums = sums[start:stop], np.empty((stop - start, values.shape[1]), dtype=values.dtype)
        for table, byte_column in zip(tables, columns, strict=True):
            np.take(table, byte_column, axis=0, out=table_sums, mode="clip")  # no buffered copy
            total += table_sums

    each_batch(add, len(bits), BATCH_ROWS)
    return sums


def column_sums(bits: Bits, weights: NDArray[Any], labels: NDArray[np.int64]) -> NDArray[Any]:
    """Sum, for every column, the weights of the rows whose bit is set; weights depend on the column's label.

    Eight rows are added at a time: their bits form one byte per column, and a table of 256 sums per label
    turns that byte into one addition.

    Parameters
    ----------
    bits : (m, words)
    weights : (m, k, c)
        Row u adds `weights[u, y]` to a column of label y.
    labels : (n,) int
        The label of each column.

    Returns
    -------
    (n, c), with the dtype of `weights`
    """
    (m, k, c), n, words = weights.shape, len(labels), bits.shape[1]
    narrow = np.min_scalar_type(256 * k)
    padded = np.zeros(64 * words, dtype=narrow)
    padded[:n] = 256 * labels
    # a transposed byte holds bit r of each byte: columns stay in that order until the end
    offsets = np.ascontiguousarray(padded.reshape(-1, 8).T)
    sums = np.zeros((8, 8 * words, c), dtype=weights.dtype)

    def add(start: int, stop: int) -> None:
        columns = slice(8 * start, 8 * stop)
        offset, total = np.ascontiguousarray(offsets[:, columns]), np.ascontiguousarray(sums[:, columns])
        index, table_sums = np.empty(offset.shape, dtype=np.intp), np.empty_like(total)
        for row_start, row_stop in spans(len(rows), 8 * SQUARES):
            octets = _transpose8(rows[row_start:row_stop, start:stop])
            for octet, row_bytes in enumerate(octets, row_start // 8):
                # add in a narrow dtype, then widen to the index dtype of `take`: fastest in NumPy
                np.copyto(index, row_bytes.astype(narrow) + offset)
                np.take(tables[octet], index, axis=0, out=table_sums, mode="clip")  # no buffered copy
                total += table_sums
        sums[:, columns] = total

    for top, bottom in spans(m, 8 * SQUARES * max(1, TABLE_BYTES // (SQUARES * 256 * k * c * 8))):
        rows, tables = bits[top:bottom], _subset_sums(weights[top:bottom])
        each_batch(add, words, BATCH_COLUMNS)
    return np.ascontiguousarray(sums.transpose(1, 0, 2)).reshape(-1, c)[:n]


def _subset_sums(weights: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of weights that each byte value selects, for every eight rows and every label.

    The shape is (m / 8, k·256, c). The first of eight rows is the most significant bit.
    """
    m, k, c = weights.shape
    octets = np.zeros((-(-m // 8), 8, k, 1, c), dtype=weights.dtype)
    octets.reshape(-1, k, c)[:m] = weights
    table = np.zeros((len(octets), k, 1, c), dtype=weights.dtype)
    for position in range(7, -1, -1):
        table = np.concatenate([table, table + octets[:, position]], axis=2)
    return table.reshape(len(octets), 256 * k, c)


_SWAPS = [
    (4, np.uint64(4), np.uint64(0x0F0F0F0F0F0F0F0F)),
    (2, np.uint64(2), np.uint64(0x3333333333333333)),
    (1, np.uint64(1), np.uint64(0x5555555555555555)),
]


def _transpose8(rows: Bits) -> NDArray[np.uint8]:
    """Transpose every 8 × 8 square of bits: byte b of row r then has the bits of column 8·b + r.

    Rows are processed eight at a time, and the last eight are padded with zeros. The shape is
    (octets, 8, bytes).
    """
    squares = np.zeros((8 * -(-len(rows) // 8), rows.shape[1]), dtype=np.uint64)
    squares[: len(rows)] = rows
    for distance, shift, mask in _SWAPS:
        pairs = squares.reshape(-1, 2, distance, rows.shape[1])
        upper, lower = pairs[:, 0], pairs[:, 1]
        swapped = lower >> shift
        swapped ^= upper
        swapped &= mask
        upper ^= swapped
        swapped <<= shift
        lower ^= swapped
    return squares.view(np.uint8).reshape(-1, 8, 8 * rows.shape[1])


def check_packed(bits: Any, m: int, n: int, owner: str) -> Bits:
    """Return a packed matrix, or raise an error if its shape, dtype or padding is wrong."""
    shape = (m, n_words(n))
    if not isinstance(bits, np.ndarray) or bits.dtype != np.uint64 or bits.shape != shape:
        received = f"{bits.dtype} {bits.shape}" if isinstance(bits, np.ndarray) else type(bits).__name__
        raise ContractError(
            f"{owner}.packed returned {received}; expected uint64 {shape}: use faithkit.plugin.pack_bits."
        )
    if n % 64 and (bits[:, -1] & ~ones(n)[-1]).any():
        raise ContractError(
            f"{owner}.packed has ones behind bit {n}: pad with zeros, as faithkit.plugin.pack_bits does."
        )
    return bits
