"""SHAP values of an ensemble as the sum of its leaves' games: reference rows are counted once, rows look up.

Counting and looking up are products with sparse matrices of ones: a row for every row of the table (or every
row and player), and a one at each place of the tables that it looks at. Every sum has an order of its own, so
that no result depends on the rows that are looked up together.
"""

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_tables import tables
from faithkit_feature_importance.shap_values.leaves import Alike, Block, Leaves

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Places = list[NDArray[np.int32]]
ROWS_AT_ONCE = 1024


@attrs.frozen(eq=False)
class LeafGames:
    """The leaves of an ensemble, and what each player gets of them for every pattern of a row.

    Parameters
    ----------
    leaves : Leaves
    shares : list of Shares
        What to look up, for every block of parts.
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
        counts = [np.zeros((len(block.reached), weights.shape[1])) for block in leaves.blocks]
        for rows, found in _places(leaves, reference):
            for places, count in zip(found, counts, strict=True):
                count += _ones(places.T, [len(places)], len(count)).T @ weights[rows]
        shares = [Shares.of(block, count, shape) for block, count in zip(leaves.blocks, counts, strict=True)]
        return cls(leaves, shares, shape)

    def values(self, cells: NDArray[Any], weigh: Callable[[Floats], Floats]) -> Floats:
        """Return for every row the shares of all columns in all outputs, (rows, columns, outputs).

        Parameters
        ----------
        cells : (cells, rows)
        weigh : callable
            From what the leaves of rows add up to, (rows, outputs), to (rows, weights): by how much each row
            multiplies what the reference rows with each weight give.
        """
        parts = [np.zeros((0, *self.shape))]
        for rows, found in _places(self.leaves, cells):
            weights = weigh(_reached(self.leaves, rows, found))
            total = np.zeros((len(weights), self.shape[0] * self.shape[1], weights.shape[1]))
            for places, shares in zip(found, self.shares, strict=True):
                total[:, shares.targets] += shares.looked_up(places)
            parts.append(_weighted(total, weights).reshape(-1, *self.shape))
        return np.concatenate(parts)


@attrs.frozen(eq=False)
class Shares:
    """The tables of a block of parts, a pair of part and player after the other, ordered by player.

    Parameters
    ----------
    parts, shifts : (pairs,)
        The part of each pair, and how far its table lies from where the part's would lie.
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
            _add(table, np.searchsorted(pairs, into), _of_leaves(alike, by_part))
        targets, lengths = np.unique(pairs // parts, return_counts=True)
        shifts = (np.arange(len(pairs)) - pairs % parts << block.bits).astype(np.int32)
        return cls(pairs % parts, shifts, targets, lengths, table.reshape(-1, count.shape[1]))

    def looked_up(self, places: NDArray[np.int32]) -> Floats:
        """Return what rows at these places (parts, rows) add: (rows, targets, weights)."""
        own = places[self.parts] + self.shifts[:, None]
        found = _ones(own.T, self.lengths, len(self.table)) @ self.table
        return found.reshape(places.shape[1], len(self.targets), -1)


def scores(leaves: Leaves, cells: NDArray[Any]) -> Floats:
    """Return what the leaves that rows reach add up to, (rows, outputs)."""
    return np.concatenate([_reached(leaves, rows, found) for rows, found in _places(leaves, cells)])


def _places(leaves: Leaves, cells: NDArray[Any]) -> Iterator[tuple[slice, Places]]:
    """Return where rows are found in the tables of every block, some rows at a time."""
    for start in range(0, max(1, cells.shape[1]), ROWS_AT_ONCE):
        rows = slice(start, min(start + ROWS_AT_ONCE, cells.shape[1]))
        met = leaves.conditions.met(cells[:, rows])
        yield rows, [block.places(met) for block in leaves.blocks]


def _reached(leaves: Leaves, rows: slice, found: Places) -> Floats:
    total = np.zeros((rows.stop - rows.start, leaves.n_outputs))
    for block, places in zip(leaves.blocks, found, strict=True):
        total += _ones(places.T, [len(places)], len(block.reached)) @ block.reached
    return total


def _targets(alike: Alike, shape: tuple[int, int]) -> Integers:
    return alike.players * shape[1] + alike.outputs[:, None]


def _of_leaves(alike: Alike, by_part: Floats) -> Floats:
    """Return what players get of leaves for each pattern of the part, (leaves, k, 2^bits, weights)."""
    _, patterns, weights = by_part.shape
    seen = alike.patterns(patterns.bit_length() - 1)
    leaves, own = len(seen), 1 << alike.k
    places = seen + np.arange(leaves)[:, None] * own
    counted = _ones(places, [1], leaves * own).T @ by_part[alike.parts].reshape(-1, weights)
    shares = tables(counted.reshape(leaves, own, weights).transpose(1, 0, 2)) * alike.values[:, None]
    by_leaf = shares.transpose(2, 0, 1, 3)  # (leaves, k, own patterns, weights)
    return np.take_along_axis(by_leaf, seen[:, None, :, None], axis=2)


def _add(table: Floats, into: Integers, found: Floats) -> None:
    """Add the tables of leaves and players to those of the pairs that they belong to."""
    order = np.argsort(into, axis=None, kind="stable")
    pairs, starts = np.unique(into.ravel()[order], return_index=True)
    table[pairs] += np.add.reduceat(found.reshape(-1, *found.shape[2:])[order], starts, axis=0)


def _ones(places: NDArray[Any], lengths: Any, size: int) -> Any:
    """Return the sparse matrix of ones at given places, in rows that have these lengths over and over."""
    from scipy.sparse import csr_array

    indices = places.ravel()
    repeats = len(indices) // max(1, int(np.sum(lengths)))
    ends = np.concatenate([[0], np.cumsum(np.tile(lengths, repeats))]).astype(indices.dtype)
    return csr_array((np.ones(len(indices)), indices, ends), shape=(len(ends) - 1, size))


def _weighted(found: Floats, weights: Floats) -> Floats:
    """Return the sum over the last axis, from the first weight to the last."""
    total = np.zeros(found.shape[:2])
    for term in range(weights.shape[1]):
        total += found[:, :, term] * weights[:, term, None]
    return total
