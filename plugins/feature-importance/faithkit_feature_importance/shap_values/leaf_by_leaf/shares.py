"""What to look up: the shares of players in a block of parts, for every pattern that a row may have.

The tables of small parts are made for each player, the leaves of a part together: one place per player is
looked at. A large part is one leaf, whose three tables serve all players: two places are looked at.

Counting and looking up are products with sparse matrices of ones: a row for every row of the table (or every
row and player), and a one at each place of the tables that it looks at. Every sum has an order of its own, so
that no result depends on the rows that are looked up together.
"""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.leaves import Alike, Block
from faithkit_feature_importance.shap_values.leaf_by_leaf.tables import KINDS, looked_up, tables

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
FLOATS_AT_ONCE = 2**20  # of the tables of leaves before they are added up, 8 MiB


@attrs.frozen(eq=False)
class Shares:
    """The tables of a block of parts, and which pairs of a part and a player look into them.

    Parameters
    ----------
    parts, shifts : (pairs,)
        The part of each pair, and how far its table lies from where the part's would lie. Pairs are ordered
        by player.
    targets : (targets,)
        Which places of the result the block adds to: column · outputs + output.
    lengths : (targets,)
        How many pairs belong to each of them.
    table : (pairs · 2^bits, weights)
        What the player gets of the part, for every pattern.
    """

    parts: Integers
    shifts: NDArray[np.int32]
    targets: Integers
    lengths: Integers
    table: Floats

    @classmethod
    def of(cls, block: Block, count: Floats, shape: tuple[int, int]) -> "Shares":
        """Make the tables out of the weights of reference rows with each pattern, part by part."""
        parts = len(block.conditions)
        told = [_targets(alike, shape) * parts + alike.parts[:, None] for alike in block.leaves]
        pairs = np.unique(np.concatenate([one.ravel() for one in told]))
        table = np.zeros((len(pairs), 1 << block.bits, count.shape[1]))
        by_part = count.reshape(parts, 1 << block.bits, -1)
        for alike, into in zip(block.leaves, told, strict=True):
            for some in _slices(len(into), alike.k * table[0].size):
                _add(table, np.searchsorted(pairs, into[some]), _of_players(alike.taken(some), by_part))
        targets, lengths = np.unique(pairs // parts, return_counts=True)
        shifts = (np.arange(len(pairs)) - pairs % parts << block.bits).astype(np.int32)
        return cls(pairs % parts, shifts, targets, lengths, table.reshape(-1, count.shape[1]))

    def looked_up(self, places: NDArray[np.int32]) -> Floats:
        """Return what rows at these places (parts, rows) add: (rows, targets, weights)."""
        own = places[self.parts] + self.shifts[:, None]
        found = ones(own.T, self.lengths, len(self.table)) @ self.table
        return found.reshape(places.shape[1], len(self.targets), -1)


@attrs.frozen(eq=False)
class SharesOfLeaves:
    """The same for parts of one leaf each, or one for every output, whose tables all players share.

    Parameters
    ----------
    parts, leaves, bits : (pairs,)
        The part and the leaf of each pair, and which bit of the pattern is the player's.
    k : int
        How many players each leaf has.
    targets, lengths : (targets,)
    table : (leaves · 3 · 2^k, weights)
    """

    parts: Integers
    leaves: Integers
    bits: Integers
    k: int
    targets: Integers
    lengths: Integers
    table: Floats

    @classmethod
    def of(cls, block: Block, count: Floats, shape: tuple[int, int]) -> "SharesOfLeaves":
        """Make the tables out of the weights of reference rows with each pattern, leaf by leaf."""
        (alike,) = block.leaves
        into = _targets(alike, shape).ravel()
        order = np.argsort(into, kind="stable")
        targets, lengths = np.unique(into, return_counts=True)
        table = _of_leaves(alike, count.reshape(len(block.conditions), 1 << block.bits, -1))
        leaves, bits = np.divmod(order, alike.k)
        flat = table.reshape(-1, count.shape[1])
        return cls(alike.parts[leaves], leaves, bits, alike.k, targets, lengths, flat)

    def looked_up(self, places: NDArray[np.int32]) -> Floats:
        """Return what rows at these places (parts, rows) add: (rows, targets, weights)."""
        patterns = (places & (1 << self.k) - 1).astype(np.int32)
        both = np.empty((len(self.leaves), 2, places.shape[1]), dtype=np.int32)
        for bit in range(self.k):
            mine = self.bits == bit
            both[mine, 0], both[mine, 1] = looked_up(patterns[self.parts[mine]], bit, self.k)
        both += (self.leaves.astype(np.int32) * KINDS << self.k)[:, None, None]
        found = ones(both.transpose(2, 0, 1), 2 * self.lengths, len(self.table)) @ self.table
        return found.reshape(places.shape[1], len(self.targets), -1)


def ones(places: NDArray[Any], lengths: Any, size: int) -> Any:
    """Return the sparse matrix of ones at given places, in rows that have these lengths over and over.

    >>> ones(np.array([[0, 2], [1, 1]]), [2], 3).toarray()
    array([[1., 0., 1.],
           [0., 2., 0.]])
    """
    from scipy.sparse import csr_array

    indices = places.ravel()
    repeats = len(indices) // max(1, int(np.sum(lengths)))
    ends = np.concatenate([[0], np.cumsum(np.tile(lengths, repeats))]).astype(indices.dtype)
    return csr_array((np.ones(len(indices)), indices, ends), shape=(len(ends) - 1, size))


def _targets(alike: Alike, shape: tuple[int, int]) -> Integers:
    return alike.players * shape[1] + alike.outputs[:, None]


def _of_leaves(alike: Alike, by_part: Floats) -> Floats:
    """Return the tables of leaves by their own patterns, (leaves, 3, 2^k, weights)."""
    _, patterns, weights = by_part.shape
    seen, own = alike.patterns(patterns.bit_length() - 1), 1 << alike.k
    places = seen + np.arange(len(seen))[:, None] * own
    counted = ones(places, [1], len(seen) * own).T @ by_part[alike.parts].reshape(-1, weights)
    by_leaf = tables(counted.reshape(len(seen), own, weights).transpose(1, 0, 2)) * alike.values[:, None]
    return np.ascontiguousarray(by_leaf.transpose(2, 0, 1, 3))


def _of_players(alike: Alike, by_part: Floats) -> Floats:
    """Return what players get of leaves for each pattern of the part, (leaves, k, 2^bits, weights)."""
    patterns, weights = by_part.shape[1:]
    seen = alike.patterns(patterns.bit_length() - 1)
    by_leaf = _of_leaves(alike, by_part).reshape(len(seen), KINDS << alike.k, weights)
    leaf, found = np.arange(len(seen))[:, None], np.empty((len(seen), alike.k, patterns, weights))
    for player in range(alike.k):
        first, second = looked_up(seen, player, alike.k)
        found[:, player] = by_leaf[leaf, first] + by_leaf[leaf, second]
    return found


def _slices(leaves: int, floats: int) -> Iterator[slice]:
    """Cut leaves into slices whose tables, each of so many floats, are not too large."""
    step = max(1, FLOATS_AT_ONCE // floats)
    return (slice(start, start + step) for start in range(0, leaves, step))


def _add(table: Floats, into: Integers, found: Floats) -> None:
    """Add the tables of leaves and players to those of the pairs that they belong to."""
    order = np.argsort(into, axis=None, kind="stable")
    pairs, starts = np.unique(into.ravel()[order], return_index=True)
    table[pairs] += np.add.reduceat(found.reshape(-1, *found.shape[2:])[order], starts, axis=0)
