"""SHAP values of an ensemble: count reference rows once, then look up the values of each row."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.leaves import Leaves
from faithkit_feature_importance.shap_values.leaf_by_leaf.lookup_tables import (
    DeepLeafTables,
    SubtreeTables,
    indicator_matrix,
)

Floats = NDArray[np.float64]
Positions = list[NDArray[np.int32]]
ROWS_PER_BATCH = 1024


@attrs.frozen(eq=False)
class LeafGames:
    """The leaves of an ensemble, and the share of each player for every pattern of a row.

    Parameters
    ----------
    leaves : Leaves
    lookup_tables : list of SubtreeTables or DeepLeafTables
        One for every batch of subtrees.
    shape : tuple of int
        The numbers of columns and of outputs.
    """

    leaves: Leaves
    lookup_tables: list[SubtreeTables | DeepLeafTables]
    shape: tuple[int, int]

    @classmethod
    def count_reference(
        cls, leaves: Leaves, shape: tuple[int, int], reference: NDArray[Any], weights: Floats
    ) -> "LeafGames":
        """Count the reference rows by pattern and build the lookup tables.

        Parameters
        ----------
        leaves : Leaves
        shape : tuple of int
            The numbers of columns and of outputs.
        reference : (values, rows)
            The values of the reference rows, a row for each column that the trees compare.
        weights : (rows, weights)
            The weights of each reference row.
        """
        counts = [np.zeros((len(batch.output_sums), weights.shape[1])) for batch in leaves.batches]
        for rows, row_positions in _positions_in_batches(leaves, reference):
            for positions, count in zip(row_positions, counts, strict=True):
                count += indicator_matrix(positions.T, [len(positions)], len(count)).T @ weights[rows]
        lookup_tables = [
            (DeepLeafTables if batch.is_deep else SubtreeTables).of(batch, count, shape)
            for batch, count in zip(leaves.batches, counts, strict=True)
        ]
        return cls(leaves, lookup_tables, shape)

    def values(self, values: NDArray[Any], compute_weights: Callable[[Floats], Floats]) -> Floats:
        """Return the SHAP values (rows, columns, outputs).

        Parameters
        ----------
        values : (values, rows)
        compute_weights : callable
            Maps the sums of leaves (rows, outputs) to factors (rows, weights), by which each row multiplies
            the contributions of the reference rows with each weight.
        """
        batch_values = []
        for rows, row_positions in _positions_in_batches(self.leaves, values):
            weights = compute_weights(_sum_reached(self.leaves, rows, row_positions))
            totals = np.zeros((len(weights), self.shape[0] * self.shape[1], weights.shape[1]))
            for positions, tables in zip(row_positions, self.lookup_tables, strict=True):
                totals[:, tables.targets] += tables.look_up(positions)
            batch_values.append(_weighted_sum(totals, weights).reshape(-1, *self.shape))
        return np.concatenate(batch_values)


def sum_leaves(leaves: Leaves, values: NDArray[Any]) -> Floats:
    """Return the sums of the leaves that rows reach, (rows, outputs)."""
    return np.concatenate(
        [
            _sum_reached(leaves, rows, row_positions)
            for rows, row_positions in _positions_in_batches(leaves, values)
        ]
    )


def _positions_in_batches(leaves: Leaves, values: NDArray[Any]) -> Iterator[tuple[slice, Positions]]:
    """Yield the positions of rows in the tables of every batch of subtrees, some rows at a time."""
    for start in range(0, max(1, values.shape[1]), ROWS_PER_BATCH):
        rows = slice(start, min(start + ROWS_PER_BATCH, values.shape[1]))
        is_met = leaves.conditions.evaluate(values[:, rows])
        yield rows, [batch.table_positions(is_met) for batch in leaves.batches]


def _sum_reached(leaves: Leaves, rows: slice, row_positions: Positions) -> Floats:
    totals = np.zeros((rows.stop - rows.start, leaves.n_outputs))
    for batch, positions in zip(leaves.batches, row_positions, strict=True):
        totals += indicator_matrix(positions.T, [len(positions)], len(batch.output_sums)) @ batch.output_sums
    return totals


def _weighted_sum(values: Floats, weights: Floats) -> Floats:
    """Return the sum over the last axis, from the first weight to the last."""
    totals = np.zeros(values.shape[:2])
    for term in range(weights.shape[1]):
        totals += values[:, :, term] * weights[:, term, None]
    return totals
