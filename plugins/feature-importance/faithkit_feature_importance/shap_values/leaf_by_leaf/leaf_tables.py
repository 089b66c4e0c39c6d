"""The tables of one leaf: the shares of its players in its value, for every pattern of a row.

The players are the columns on the path to the leaf. For the leaf, a row is a pattern of bits: bit j says
whether the row meets all conditions on player j. A mixture of a row x and a reference row r reaches the leaf
if every player whose value is taken from x meets its conditions in x, and every other player meets them in r.
Let A be the players that meet their conditions only in x, and C those that meet them only in r. Then the leaf
is reached if all of A and none of C are taken from x (never, if a player meets its conditions in neither).
The Shapley values of this game are known: each player of A gets g(a, c) = (a − 1)! c! / (a + c)!, each player
of C loses l(a, c) = a! (c − 1)! / (a + c)!, all others get nothing.

If every player meets its conditions in x or in r, C is the set of players that do not meet them in x, and all
of them lose the same. A player j of A gets a sum over the rows r that do not meet the conditions on j: the
sum over all r, minus the sum over those that do; for the latter it does not matter whether x meets them. So
three tables without players are enough. For a pattern p with c zeros, they hold

- the gain, the sum of g(a, c) over all r with a ≥ 1,
- the excess, the sum of g(a, c − 1) over the same r, which is to be subtracted for p ∪ {j} and player j,
- the loss, the sum of l(a, c) over all r.
"""

from functools import lru_cache
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MAX_PLAYERS = 12  # of one leaf: a table has 2^k entries
N_TABLES = 3  # gains, excesses, losses


def build_tables(counts: Floats) -> Floats:
    """Return the gain, the negative excess and the negative loss of a leaf of value 1, for every pattern.

    Parameters
    ----------
    counts : (2^k, ...)
        The weight of the reference rows with each pattern; the tables are linear in it.

    Returns
    -------
    array of shape (3, 2^k, ...)
        The excess of a row that meets all conditions is never used: it is 0.

    Examples
    --------
    One player, and four reference rows of which three meet its conditions. The value of a row that meets them
    leads to the leaf in one case of four; the value of a row that does not leads away in three.

    >>> gain, excess, loss = build_tables(np.array([1.0, 3.0]))
    >>> gain[1] + excess[0], loss[0]
    (np.float64(1.0), np.float64(-3.0))
    """
    n_patterns = len(counts)
    flat_tables = _count_matrix(n_patterns.bit_length() - 1) @ counts.reshape(n_patterns, -1)
    return flat_tables.reshape(N_TABLES, *counts.shape)


def table_positions(patterns: Integers, player: int, k: int) -> tuple[Integers, Integers]:
    """Return the two positions in the concatenated tables that add up to the share of a player.

    Parameters
    ----------
    patterns : array
        The patterns of rows.
    player, k : int
        A player, and the number of players.

    Examples
    --------
    >>> first, second = table_positions(np.array([0, 1]), player=0, k=1)
    >>> table = build_tables(np.array([1.0, 3.0])).ravel()
    >>> table[first] + table[second]
    array([-3.,  1.])
    """
    size, bit = 1 << k, 1 << player
    is_met = (patterns & bit).astype(bool)
    first = patterns + np.where(is_met, 0, 2 * size)
    second = size + np.where(is_met, patterns & ~bit, size - 1)
    return first, second


@lru_cache(maxsize=MAX_PLAYERS + 1)
def _count_matrix(k: int) -> Any:
    """Return the sparse matrix from the weights of reference patterns to the tables, (3 · 2^k, 2^k).

    A reference row must meet the conditions that the row does not meet. So its pattern is the complement of
    the row's pattern and any subset of the row's own bits: 3^k pairs of the 4^k.
    """
    from scipy.sparse import csr_array

    row, reference = _pattern_pairs(k)
    a, c = (np.bitwise_count(bits).astype(np.int64) for bits in (row & ~reference, ~row & (1 << k) - 1))
    gains, losses = _gains_and_losses(k)
    has_gain, has_loss = a > 0, c > 0
    entries = [
        (has_gain, gains[a, c], 0),
        (has_gain & has_loss, -gains[a, np.maximum(c - 1, 0)], 1),
        (has_loss, -losses[a, c], 2),
    ]
    data = np.concatenate([weight[is_entry] for is_entry, weight, _ in entries])
    rows = np.concatenate([(table << k) + row[is_entry] for is_entry, _, table in entries])
    columns = np.concatenate([reference[is_entry] for is_entry, _, _ in entries])
    return csr_array((data, (rows, columns)), shape=(N_TABLES << k, 1 << k))


def _pattern_pairs(k: int) -> tuple[Integers, Integers]:
    """Return all pairs of patterns (row, reference) in which each of k bits is set in at least one."""
    row, reference = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for j in range(k):
        bit = 1 << j
        row = np.concatenate([row, row | bit, row | bit])
        reference = np.concatenate([reference | bit, reference, reference | bit])
    return row, reference


def _gains_and_losses(k: int) -> tuple[Floats, Floats]:
    """Return g and l at [a, c]: what each of a players of A gains, and each of c players of C loses."""
    gains, losses = np.zeros((k + 1, k + 1)), np.zeros((k + 1, k + 1))
    for a in range(k + 1):
        for c in range(k + 1 - a):
            if a:
                gains[a, c] = factorial(a - 1) * factorial(c) / factorial(a + c)
            if c:
                losses[a, c] = factorial(a) * factorial(c - 1) / factorial(a + c)
    return gains, losses
