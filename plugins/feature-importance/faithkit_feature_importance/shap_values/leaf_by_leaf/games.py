"""SHAP values of an ensemble, the sum of its leaves' games: reference rows are counted once, rows look up."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.leaves import Leaves
from faithkit_feature_importance.shap_values.leaf_by_leaf.shares import Shares, SharesOfLeaves, ones

Floats = NDArray[np.float64]
Places = list[NDArray[np.int32]]
ROWS_AT_ONCE = 1024


@attrs.frozen(eq=False)
class LeafGames:
    """The leaves of an ensemble, and what each player gets of them for every pattern of a row.

    Parameters
    ----------
    leaves : Leaves
    shares : list of Shares or SharesOfLeaves
        What to look up, for every block of parts.
    shape : tuple of int
        Columns and outputs.
    """

    leaves: Leaves
    shares: list[Shares | SharesOfLeaves]
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
                count += ones(places.T, [len(places)], len(count)).T @ weights[rows]
        shares = [
            (SharesOfLeaves if block.is_deep else Shares).of(block, count, shape)
            for block, count in zip(leaves.blocks, counts, strict=True)
        ]
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
        total += ones(places.T, [len(places)], len(block.reached)) @ block.reached
    return total


def _weighted(found: Floats, weights: Floats) -> Floats:
    """Return the sum over the last axis, from the first weight to the last."""
    total = np.zeros(found.shape[:2])
    for term in range(weights.shape[1]):
        total += found[:, :, term] * weights[:, term, None]
    return total
