"""Lookup tables of the players' shares in a batch of subtrees, for every pattern of a row.

A small subtree has one table per player, for all of its leaves together: one lookup per player. A large
subtree is a single leaf, with three tables for all players: two lookups per player.

Counting and looking up are products with sparse indicator matrices. They have a row for every row of the
table (or every row and player), and a one at each position of the tables that is looked up. Every sum has a
fixed order, so that no result depends on which rows are looked up together.
"""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.leaf_tables import (
    N_TABLES,
    build_tables,
    table_positions,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.leaves import LeafGroup, SubtreeBatch

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
FLOATS_PER_BATCH = 2**20  # of the tables of leaves before they are added up, 8 MiB


@attrs.frozen(eq=False)
class SubtreeTables:
    """The tables of a batch of small subtrees, one per pair of a subtree and a player.

    Parameters
    ----------
    subtrees, shifts : (pairs,)
        The subtree of each pair, and the offset of its table from the position of the subtree. Pairs are
        ordered by player.
    targets : (targets,)
        The entries of the result that the batch adds to: column · outputs + output.
    lengths : (targets,)
        The number of pairs of each target.
    table : (pairs · 2^bits, weights)
        The share of the player in the subtree, for every pattern.
    """

    subtrees: Integers
    shifts: NDArray[np.int32]
    targets: Integers
    lengths: Integers
    table: Floats

    @classmethod
    def of(cls, batch: SubtreeBatch, counts: Floats, shape: tuple[int, int]) -> "SubtreeTables":
        """Build the tables from the weights of the reference rows with each pattern, by subtree."""
        n_subtrees = len(batch.conditions)
        pairs_by_group = [
            _target_numbers(group, shape) * n_subtrees + group.subtrees[:, None] for group in batch.leaves
        ]
        pairs = np.unique(np.concatenate([group_pairs.ravel() for group_pairs in pairs_by_group]))
        table = np.zeros((len(pairs), 1 << batch.bits, counts.shape[1]))
        counts_by_subtree = counts.reshape(n_subtrees, 1 << batch.bits, -1)
        for group, group_pairs in zip(batch.leaves, pairs_by_group, strict=True):
            for leaves in _divide_leaves(len(group_pairs), group.k * table[0].size):
                _add_to_pairs(
                    table,
                    np.searchsorted(pairs, group_pairs[leaves]),
                    _player_tables(group.subset(leaves), counts_by_subtree),
                )
        targets, lengths = np.unique(pairs // n_subtrees, return_counts=True)
        shifts = (np.arange(len(pairs)) - pairs % n_subtrees << batch.bits).astype(np.int32)
        return cls(pairs % n_subtrees, shifts, targets, lengths, table.reshape(-1, counts.shape[1]))

    def look_up(self, positions: NDArray[np.int32]) -> Floats:
        """Return the shares of rows at these positions (subtrees, rows): (rows, targets, weights)."""
        pair_positions = positions[self.subtrees] + self.shifts[:, None]
        shares = indicator_matrix(pair_positions.T, self.lengths, len(self.table)) @ self.table
        return shares.reshape(positions.shape[1], len(self.targets), -1)


@attrs.frozen(eq=False)
class DeepLeafTables:
    """The tables of a batch of deep leaves, which all players of a leaf share.

    Parameters
    ----------
    subtrees, leaves, bits : (pairs,)
        The subtree and the leaf of each pair, and the bit of the player in the pattern.
    k : int
        The number of players of each leaf.
    targets, lengths : (targets,)
    table : (leaves · 3 · 2^k, weights)
    """

    subtrees: Integers
    leaves: Integers
    bits: Integers
    k: int
    targets: Integers
    lengths: Integers
    table: Floats

    @classmethod
    def of(cls, batch: SubtreeBatch, counts: Floats, shape: tuple[int, int]) -> "DeepLeafTables":
        """Build the tables from the weights of the reference rows with each pattern, by leaf."""
        (group,) = batch.leaves
        target_of_pair = _target_numbers(group, shape).ravel()
        order = np.argsort(target_of_pair, kind="stable")
        targets, lengths = np.unique(target_of_pair, return_counts=True)
        table = _leaf_tables(group, counts.reshape(len(batch.conditions), 1 << batch.bits, -1))
        leaves, bits = np.divmod(order, group.k)
        flat = table.reshape(-1, counts.shape[1])
        return cls(group.subtrees[leaves], leaves, bits, group.k, targets, lengths, flat)

    def look_up(self, positions: NDArray[np.int32]) -> Floats:
        """Return the shares of rows at these positions (subtrees, rows): (rows, targets, weights)."""
        patterns = (positions & (1 << self.k) - 1).astype(np.int32)
        lookups = np.empty((len(self.leaves), 2, positions.shape[1]), dtype=np.int32)
        for bit in range(self.k):
            has_bit = self.bits == bit
            lookups[has_bit, 0], lookups[has_bit, 1] = table_positions(
                patterns[self.subtrees[has_bit]], bit, self.k
            )
        lookups += (self.leaves.astype(np.int32) * N_TABLES << self.k)[:, None, None]
        shares = indicator_matrix(lookups.transpose(2, 0, 1), 2 * self.lengths, len(self.table)) @ self.table
        return shares.reshape(positions.shape[1], len(self.targets), -1)


def indicator_matrix(positions: NDArray[Any], lengths: Any, n_columns: int) -> Any:
    """Return the sparse matrix with ones at these positions, in rows with repeating lengths.

    >>> indicator_matrix(np.array([[0, 2], [1, 1]]), [2], 3).toarray()
    array([[1., 0., 1.],
           [0., 2., 0.]])
    """
    from scipy.sparse import csr_array

    indices = positions.ravel()
    repeats = len(indices) // max(1, int(np.sum(lengths)))
    ends = np.concatenate([[0], np.cumsum(np.tile(lengths, repeats))]).astype(indices.dtype)
    return csr_array((np.ones(len(indices)), indices, ends), shape=(len(ends) - 1, n_columns))


def _target_numbers(group: LeafGroup, shape: tuple[int, int]) -> Integers:
    return group.players * shape[1] + group.outputs[:, None]


def _leaf_tables(group: LeafGroup, counts_by_subtree: Floats) -> Floats:
    """Return the tables of leaves by pattern of the leaf, (leaves, 3, 2^k, weights)."""
    _, n_patterns, n_weights = counts_by_subtree.shape
    leaf_patterns, n_leaf_patterns = group.patterns(n_patterns.bit_length() - 1), 1 << group.k
    positions = leaf_patterns + np.arange(len(leaf_patterns))[:, None] * n_leaf_patterns
    indicators = indicator_matrix(positions, [1], len(leaf_patterns) * n_leaf_patterns)
    leaf_counts = indicators.T @ counts_by_subtree[group.subtrees].reshape(-1, n_weights)
    counts_by_pattern = leaf_counts.reshape(len(leaf_patterns), n_leaf_patterns, n_weights).transpose(1, 0, 2)
    by_leaf = build_tables(counts_by_pattern) * group.values[:, None]
    return np.ascontiguousarray(by_leaf.transpose(2, 0, 1, 3))


def _player_tables(group: LeafGroup, counts_by_subtree: Floats) -> Floats:
    """Return the shares of players by pattern of the subtree, (leaves, k, 2^bits, weights)."""
    n_patterns, n_weights = counts_by_subtree.shape[1:]
    leaf_patterns = group.patterns(n_patterns.bit_length() - 1)
    by_leaf = _leaf_tables(group, counts_by_subtree).reshape(
        len(leaf_patterns), N_TABLES << group.k, n_weights
    )
    leaf = np.arange(len(leaf_patterns))[:, None]
    shares = np.empty((len(leaf_patterns), group.k, n_patterns, n_weights))
    for player in range(group.k):
        first, second = table_positions(leaf_patterns, player, group.k)
        shares[:, player] = by_leaf[leaf, first] + by_leaf[leaf, second]
    return shares


def _divide_leaves(n_leaves: int, floats_per_leaf: int) -> Iterator[slice]:
    """Divide leaves into slices of bounded memory; each leaf takes so many floats."""
    step = max(1, FLOATS_PER_BATCH // floats_per_leaf)
    return (slice(start, start + step) for start in range(0, n_leaves, step))


def _add_to_pairs(table: Floats, pair_numbers: Integers, leaf_shares: Floats) -> None:
    """Add the tables of leaves and players to the tables of their pairs."""
    order = np.argsort(pair_numbers, axis=None, kind="stable")
    pairs, starts = np.unique(pair_numbers.ravel()[order], return_index=True)
    table[pairs] += np.add.reduceat(leaf_shares.reshape(-1, *leaf_shares.shape[2:])[order], starts, axis=0)
