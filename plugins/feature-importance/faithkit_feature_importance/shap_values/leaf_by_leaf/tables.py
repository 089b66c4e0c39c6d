"""What a leaf is: who gets how much of its value, for every row that could come.

The players are the columns on the path to the leaf. A row is for the leaf only a pattern of bits: bit j says
whether it meets all conditions on player j. A mixture of a row x and a reference row r reaches the leaf where
every player whose cell is taken from x meets its conditions in x, and every other in r. So with A the players
that only x meets and C those that only r meets, the leaf is reached where all of A and none of C are taken
from x (never, where a player is met by neither), and the Shapley values of that game are known: one of A gets
g(a, c) = (a − 1)! c! / (a + c)!, one of C loses l(a, c) = a! (c − 1)! / (a + c)!, the rest get nothing.

Where no player is met by neither, C are just those that x does not meet. So all of them lose the same. What a
player j of A gets is a sum over the r that do not meet j: the sum over all r, less that over those that do,
and for them it does not matter whether x meets j. Three tables without players say it all, for a pattern p,
and c the number of its zeros:

- the gain, the sum of g(a, c) over all r with a ≥ 1,
- the excess, the sum of g(a, c − 1) over the same, which p ∪ {j} has too much for the player j,
- the loss, the sum of l(a, c) over all r.
"""

from functools import lru_cache
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MOST_PLAYERS = 12  # of one leaf: a table has 2^k entries
KINDS = 3  # of tables: gains, excesses, losses


def tables(counts: Floats) -> Floats:
    """Return the gain, minus the excess and minus the loss of a leaf with the value 1, for every pattern.

    Parameters
    ----------
    counts : (2^k, ...)
        The weight of the reference rows with each pattern; the tables are linear in it.

    Returns
    -------
    array of shape (3, 2^k, ...)
        A row that meets everything has no player to whom its excess would matter: it is 0.

    Examples
    --------
    One player, and four reference rows of which three meet its conditions: a row that meets them too is led
    to the leaf by its own cell in one case of four, a row that does not is led away in three.

    >>> gain, excess, loss = tables(np.array([1.0, 3.0]))
    >>> gain[1] + excess[0], loss[0]
    (np.float64(1.0), np.float64(-3.0))
    """
    patterns = len(counts)
    found = _sums(patterns.bit_length() - 1) @ counts.reshape(patterns, -1)
    return found.reshape(KINDS, *counts.shape)


def looked_up(patterns: Integers, player: int, k: int) -> tuple[Integers, Integers]:
    """Return the two places of the tables, one after the other, that add up to what a player gets.

    Parameters
    ----------
    patterns : array
        Of rows.
    player, k : int
        One of the k players.

    Examples
    --------
    >>> first, second = looked_up(np.array([0, 1]), player=0, k=1)
    >>> table = tables(np.array([1.0, 3.0])).ravel()
    >>> table[first] + table[second]
    array([-3.,  1.])
    """
    size, bit = 1 << k, 1 << player
    meets = (patterns & bit).astype(bool)
    first = patterns + np.where(meets, 0, 2 * size)
    second = size + np.where(meets, patterns & ~bit, size - 1)
    return first, second


@lru_cache(maxsize=MOST_PLAYERS + 1)
def _sums(k: int) -> Any:
    """Return the sparse matrix from the weights of reference patterns to the tables, (3 · 2^k, 2^k).

    A reference row must meet what the row does not, so its pattern is the row's complement and any part of
    the row's own bits: 3^k pairs of the 4^k.
    """
    from scipy.sparse import csr_array

    row, reference = _pairs(k)
    a, c = (np.bitwise_count(one).astype(np.int64) for one in (row & ~reference, ~row & (1 << k) - 1))
    gains, losses = _weights(k)
    some, unmet = a > 0, c > 0
    parts = [
        (some, gains[a, c], 0),
        (some & unmet, -gains[a, np.maximum(c - 1, 0)], 1),
        (unmet, -losses[a, c], 2),
    ]
    data = np.concatenate([weight[where] for where, weight, _ in parts])
    places = np.concatenate([(kind << k) + row[where] for where, _, kind in parts])
    columns = np.concatenate([reference[where] for where, _, _ in parts])
    return csr_array((data, (places, columns)), shape=(KINDS << k, 1 << k))


def _pairs(k: int) -> tuple[Integers, Integers]:
    """Return all pairs of patterns (row, reference) in which each of k bits is set in one or the other."""
    row, reference = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for j in range(k):
        bit = 1 << j
        row = np.concatenate([row, row | bit, row | bit])
        reference = np.concatenate([reference | bit, reference, reference | bit])
    return row, reference


def _weights(k: int) -> tuple[Floats, Floats]:
    """Return g and l: what one of a players of the row gains, and one of c others loses, at [a, c]."""
    gains, losses = np.zeros((k + 1, k + 1)), np.zeros((k + 1, k + 1))
    for a in range(k + 1):
        for c in range(k + 1 - a):
            if a:
                gains[a, c] = factorial(a - 1) * factorial(c) / factorial(a + c)
            if c:
                losses[a, c] = factorial(a) * factorial(c - 1) / factorial(a + c)
    return gains, losses
