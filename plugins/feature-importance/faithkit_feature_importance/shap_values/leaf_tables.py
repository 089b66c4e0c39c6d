"""The game that one leaf of a tree is: who gets how much of its value, for every row that could come.

The players are the columns on the path to the leaf. A row is for the leaf only a pattern of bits: bit j says
whether it meets all conditions on player j. A mixture of a row x and a reference row r reaches the leaf where
every player whose cell is taken from x meets its conditions in x, and every other in r. So with A the players
that only x meets and C those that only r meets, the leaf is reached where all of A and none of C are taken
from x (never, where a player is met by neither), and the Shapley values of that game are known: one of A gets
(|A| − 1)! |C|! / (|A| + |C|)!, one of C loses |A|! (|C| − 1)! / (|A| + |C|)!, the rest get nothing.
"""

from functools import lru_cache
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_PLAYERS = 12  # of one leaf: a table has 2^k entries for each of k players


def tables(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each player gets of a leaf's value 1, for every pattern that a row may have.

    Parameters
    ----------
    counts : (2^k, ...)
        The weight of the reference rows with each pattern; the table is linear in it.

    Returns
    -------
    array of shape (k, 2^k, ...)
        The share of player j for a row with the pattern p at [j, p].

    Examples
    --------
    One player, and four reference rows of which three meet its conditions: a row that meets them too is led
    to the leaf by its own cell in one case of four, a row that does not is led away in three.

    >>> tables(np.array([1.0, 3.0]))
    array([[-3.,  1.]])
    """
    patterns = len(counts)
    k = patterns.bit_length() - 1
    shares = _shares(k) @ counts.reshape(patterns, -1)
    return shares.reshape(k, *counts.shape)


@lru_cache(maxsize=MOST_PLAYERS + 1)
def _shares(k: int) -> Any:
    """Return the sparse matrix from the weights of reference patterns to the shares, (k · 2^k, 2^k).

    A reference row must meet what the row does not, so its pattern is the row's complement and any part of
    the row's own bits: 3^k pairs of the 4^k.
    """
    from scipy.sparse import csr_array

    row, reference = _pairs(k)
    only_row, only_reference = row & ~reference, reference & ~row
    a, c = np.bitwise_count(only_row), np.bitwise_count(only_reference)
    gains, losses = _weights(k)
    places, columns, weights = [], [], []
    for j in range(k):
        for one, worth in ((only_row, gains), (only_reference, -losses)):
            here = (one >> j & 1).astype(bool)
            places.append((j << k) + row[here])
            columns.append(reference[here])
            weights.append(worth[a[here], c[here]])
    flat = (np.concatenate(part) for part in (weights, places, columns))
    data, rows, cols = flat
    return csr_array((data, (rows, cols)), shape=(k << k, 1 << k))


def _pairs(k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of patterns (row, reference) in which each of k bits is set in one or the other."""
    row, reference = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for j in range(k):
        bit = 1 << j
        row = np.concatenate([row, row | bit, row | bit])
        reference = np.concatenate([reference | bit, reference, reference | bit])
    return row, reference


def _weights(k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what one of a players of the row gains and one of c of the reference loses, at [a, c]."""
    gains, losses = np.zeros((k + 1, k + 1)), np.zeros((k + 1, k + 1))
    for a in range(k + 1):
        for c in range(k + 1 - a):
            if a:
                gains[a, c] = factorial(a - 1) * factorial(c) / factorial(a + c)
            if c:
                losses[a, c] = factorial(a) * factorial(c - 1) / factorial(a + c)
    return gains, losses
