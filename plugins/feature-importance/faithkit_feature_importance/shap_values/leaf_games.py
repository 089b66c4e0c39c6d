"""SHAP values of an ensemble as the sum of its leaves' games: reference rows are counted once, rows look up.

Counting and looking up are products with sparse matrices of ones: a row for every row of the table (or every
row and player), and a one at each place of the tables that it looks at. Every sum has an order of its own, so
that no result depends on the rows that are looked up together.
"""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_tables import tables
from faithkit_feature_importance.shap_values.leaves import Block, Leaves

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ROWS_AT_ONCE = 256


@attrs.frozen(eq=False)
class LeafGames:
    """The leaves of an ensemble, and what each player gets of them for every pattern of a row.

    Parameters
    ----------
    leaves : Leaves
    shares : list of Shares
        What to look up, for every block of leaves.
    shape : tuple of int
        Columns and outputs.
    """

    leaves: Leaves
    shares: "list[Shares]"
    shape: tuple[int, int]

    @classmethod
    def counted(
        cls, leaves: Leaves, shape: tuple[int, int], reference: NDArray[Any], weights: Floats
    ) -> "LeafGames":
        """Count the reference rows.

        Parameters
        ----------
        leaves : Leaves
        shape : tuple of int
            Columns and outputs.
        reference : (cells, rows)
            Their cells, a row for each column that the trees compare.
        weights : (rows, weights)
            What each of them counts, once or several times.
        """
        counts = [np.zeros((len(block.values) << block.k, weights.shape[1])) for block in leaves.blocks]
        for rows, met in _met(leaves, reference):
            for block, count in zip(leaves.blocks, counts, strict=True):
                places = block.patterns(met) + _starts(len(block.values), 1 << block.k)
                count += _ones(places.T, [len(places)], len(count)).T @ weights[rows]
        shares = [Shares.of(block, count, shape) for block, count in zip(leaves.blocks, counts, strict=True)]
        return cls(leaves, shares, shape)

    def values(self, cells: NDArray[Any], weights: Floats) -> Floats:
        """Return for every row the shares of all columns in all outputs, (rows, columns, outputs).

        Parameters
        ----------
        cells : (cells, rows)
        weights : (rows, weights)
            By how much each row multiplies what the reference rows with each weight give.
        """
        parts = [np.zeros((0, *self.shape))]
        for rows, met in _met(self.leaves, cells):
            found = np.zeros((met.shape[1], self.shape[0] * self.shape[1], weights.shape[1]))
            for block, shares in zip(self.leaves.blocks, self.shares, strict=True):
                found[:, shares.targets] += shares.looked_up(block.patterns(met))
            parts.append(_weighted(found, weights[rows]).reshape(-1, *self.shape))
        return np.concatenate(parts)


@attrs.frozen(eq=False)
class Shares:
    """The tables of a block of leaves, a pair of leaf and player after the other, ordered by player.

    Parameters
    ----------
    leaves : (pairs,)
        The leaf of each pair.
    targets : (targets,)
        Which places of the result the block adds to: column · outputs + output.
    pairs : (targets,)
        How many pairs belong to each of them.
    table : (pairs · 2^k, weights)
        The share of the player, times the leaf's value, for every pattern.
    """

    leaves: Integers
    targets: Integers
    pairs: Integers
    table: Floats

    @classmethod
    def of(cls, block: Block, count: Floats, shape: tuple[int, int]) -> "Shares":
        """Make the tables out of the weights of reference rows with each pattern, leaf by leaf."""
        counted = count.reshape(len(block.values), 1 << block.k, -1).transpose(1, 0, 2)
        found = (tables(counted) * block.values[:, None]).transpose(2, 0, 1, 3)  # (leaves, k, 2^k, weights)
        into = (block.players * shape[1] + block.outputs[:, None]).ravel()
        order = np.argsort(into, kind="stable")
        targets, pairs = np.unique(into, return_counts=True)
        table = found.reshape(len(into), 1 << block.k, -1)[order]
        return cls(order // block.k, targets, pairs, table.reshape(-1, count.shape[1]))

    def looked_up(self, patterns: NDArray[np.uint16]) -> Floats:
        """Return what rows with these patterns (leaves, rows) add: (rows, targets, weights)."""
        pairs = len(self.leaves)
        places = patterns[self.leaves] + _starts(pairs, len(self.table) // pairs)
        found = _ones(places.T, self.pairs, len(self.table)) @ self.table
        return found.reshape(patterns.shape[1], len(self.targets), -1)


def scores(leaves: Leaves, n_outputs: int, cells: NDArray[Any]) -> Floats:
    """Return what the leaves that rows reach add up to, (rows, outputs)."""
    found = np.zeros((cells.shape[1], n_outputs))
    for rows, met in _met(leaves, cells):
        for block in leaves.blocks:
            patterns = block.patterns(met)
            reached = np.where(patterns == (1 << block.k) - 1, block.values[:, None], 0.0).T
            for output in np.unique(block.outputs):
                # row by row in memory, so that each has its own sum, in one order
                found[rows, output] += np.ascontiguousarray(reached[:, block.outputs == output]).sum(axis=1)
    return found


def _met(leaves: Leaves, cells: NDArray[Any]) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
    for start in range(0, cells.shape[1], ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        yield rows, leaves.conditions.met(cells[:, rows])


def _starts(tables: int, size: int) -> NDArray[np.int32]:
    """Return where each of some tables begins that lie one after the other."""
    return (np.arange(tables, dtype=np.int32) * np.int32(size))[:, None]


def _ones(places: NDArray[np.int32], lengths: Any, size: int) -> Any:
    """Return the sparse matrix of ones at given places, in rows that have these lengths over and over."""
    from scipy.sparse import csr_array

    indices = places.ravel()
    repeats = len(indices) // max(1, int(np.sum(lengths)))
    ends = np.concatenate([[0], np.cumsum(np.tile(lengths, repeats))]).astype(np.int32)
    return csr_array((np.ones(len(indices)), indices, ends), shape=(len(ends) - 1, size))


def _weighted(found: Floats, weights: Floats) -> Floats:
    """Return the sum over the last axis, from the first weight to the last."""
    total = np.zeros(found.shape[:2])
    for term in range(weights.shape[1]):
        total += found[:, :, term] * weights[:, term, None]
    return total
