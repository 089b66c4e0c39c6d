"""Permutation SHAP of the class that boosted trees predict, as a number.

The values are those of the explainer ``shap`` with ``algorithm=permutation`` and the same reference rows.
That one asks the model for the class of each mixture: a row with the instance's values in a coalition of
columns and those of a reference row in the others. Here the leaves are read instead. A mixture reaches a leaf
if it meets the conditions of each column on the path. So its coalition contains the columns whose conditions
the reference row violates, and lacks those whose conditions the instance violates. The sums of the leaves for
all coalitions make a table, in which the coalitions of the walks are looked up.
"""

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from faithkit_feature_importance.shap_values.sampling import PermutationWalks

import faithkit
from faithkit_paper.leaves import LeafExplainer, find_violated

MIN_TABLE = 16
PADDING = 48  # so that the tables do not compete for the same lines of the processor's cache


class ClassNumberShap(LeafExplainer):
    """SHAP values of the number of the predicted class, divided by the highest one."""

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "ClassNumberShap":
        """Read the trees of a `ClassNumberModel`."""
        self._read(predictor.model.model, background)
        return self

    def explain(self, X: Any, seeds: Sequence[int]) -> faithkit.Explanations:
        """Return a vector for each row."""
        X = np.asarray(X, dtype=float)
        values, leaves = np.zeros(X.shape), self._leaves
        cells_of_rows, cells_of_references = self._trees.cells(X), self._trees.cells(self._rows)
        by_reference = np.ascontiguousarray(
            np.transpose([find_violated(cells, leaves) for cells in cells_of_references])
        )
        max_players = max((cells_of_references != cells).sum(axis=1).max() for cells in cells_of_rows)
        tables = np.empty((len(self._rows), max(MIN_TABLE, 1 << max_players) + PADDING), np.int32)
        for row, cells in enumerate(cells_of_rows):
            columns = np.flatnonzero((self._rows != X[row]).any(axis=0))
            walks = columns[PermutationWalks.draw(len(columns), int(seeds[row])).orders]
            gains = sum_gains(find_violated(cells, leaves), by_reference, walks, X.shape[1], leaves, tables)
            values[row] = gains / (len(walks) * len(self._rows))
            faithkit.plugin.report_progress()
        return faithkit.Explanations.vectors(values / max(1, len(leaves.ends) - 1))


@numba.njit(cache=True)
def sum_gains(
    by_instance: np.ndarray,
    by_reference: np.ndarray,
    walks: np.ndarray,
    n_columns: int,
    leaves: Any,
    tables: np.ndarray,
) -> np.ndarray:
    """Return for each column by how much the class rises when it joins, summed over walks and references.

    `by_instance` and `by_reference` have the violated columns of each leaf, and of each leaf and reference
    row. `tables` has space for a table for each reference row.
    """
    n_rows, (n_walks, n_steps) = by_reference.shape[1], walks.shape
    best_scores = np.empty((n_rows, n_walks, n_steps + 1), np.int32)
    classes = np.zeros(best_scores.shape, np.int8)
    bit, n_players, begin = np.empty((n_rows, n_columns), np.int64), np.empty(n_rows, np.int64), 0
    for label in range(len(leaves.ends)):
        fill_tables(
            range(begin, leaves.ends[label]), by_instance, by_reference, leaves, bit, n_players, tables
        )
        for row in range(n_rows):
            table = tables[row, : max(MIN_TABLE, 1 << n_players[row])]
            sum_over_subsets(table)
            look_up_walks(walks, bit[row], table, label, leaves.start, best_scores[row], classes[row])
        begin = leaves.ends[label]
    gains = np.zeros(n_columns, np.int64)
    for row in range(n_rows):
        for walk in range(n_walks):
            for step in range(n_steps):
                gains[walks[walk, step]] += classes[row, walk, step + 1] - classes[row, walk, step]
    return gains


@numba.njit(cache=True)
def fill_tables(
    leaf_numbers: range,
    by_instance: np.ndarray,
    by_reference: np.ndarray,
    leaves: Any,
    bit: np.ndarray,
    n_players: np.ndarray,
    tables: np.ndarray,
) -> None:
    """Fill the table of each reference row with the terms of all coalitions, of which sums are scores.

    A column gets a bit when it first divides the mixtures of two rows, and their table doubles.
    """
    bit[:], n_players[:], tables[:, :MIN_TABLE] = 0, 0, 0
    n_rows = by_reference.shape[1]
    reached_from = np.empty(n_rows + 1, np.int64)
    for leaf in leaf_numbers:
        outside, n_reached, can_be_reached = by_instance[leaf], 0, False
        for row in range(n_rows):
            can_be_reached |= (by_reference[leaf, row] & outside) == 0
        if can_be_reached:
            for row in range(n_rows):
                reached_from[n_reached] = row
                n_reached += (by_reference[leaf, row] & outside) == 0
        for row in reached_from[:n_reached]:
            add_leaf(leaf, outside, by_reference[leaf, row], leaves, bit[row], n_players[row:], tables[row])


@numba.njit(cache=True)
def add_leaf(
    leaf: int,
    outside_path: int,
    inside_path: int,
    leaves: Any,
    bit: np.ndarray,
    n_players: np.ndarray,
    table: np.ndarray,
) -> None:
    """Add the terms of a leaf that coalitions with the columns inside and without those outside reach.

    Let s be 1 for columns in a coalition and 0 for others. Then the leaf adds its score times the product of
    s over the columns inside and of 1 − s over those outside. Each term of that product belongs to a set of
    columns, and is the score or its negative. It is negative in the table if the set is odd: then all terms
    of a leaf have the same sign.
    """
    inside, outside, term = 0, 0, leaves.scores[leaf]
    for step in range(leaves.columns.shape[1]):
        if ((outside_path | inside_path) >> step) & 1:
            column = leaves.columns[leaf, step]
            if bit[column] == 0:
                bit[column] = 1 << n_players[0]
                table[bit[column] : 2 * bit[column]] = 0
                n_players[0] += 1
            if (inside_path >> step) & 1:
                inside |= bit[column]
                term = -term
            else:
                outside |= bit[column]
    subset = outside
    while True:
        table[inside | subset] += term
        if subset == 0:
            break
        subset = (subset - 1) & outside


@numba.njit(cache=True)
def sum_over_subsets(table: np.ndarray) -> None:
    """Replace the terms of each set by the sum over its subsets, of which odd ones have the wrong sign."""
    for begin in range(0, len(table), MIN_TABLE):
        block = table[begin : begin + MIN_TABLE]
        for half in (1, 2, 4, 8):
            for i in range(MIN_TABLE):
                if i & half:
                    block[i] = block[i - half] - block[i]
    half = MIN_TABLE
    while half < len(table):
        for begin in range(0, len(table), 2 * half):
            without, with_column = table[begin : begin + half], table[begin + half : begin + 2 * half]
            for i in range(half):
                with_column[i] = without[i] - with_column[i]
        half *= 2


@numba.njit(cache=True)
def look_up_walks(
    walks: np.ndarray,
    bit: np.ndarray,
    table: np.ndarray,
    label: int,
    start: np.ndarray,
    best_scores: np.ndarray,
    classes: np.ndarray,
) -> None:
    """Choose the class of each step of each walk, among this one and those before."""
    for walk in range(len(walks)):
        coalition = 0
        for step in range(walks.shape[1] + 1):
            if step:
                coalition |= bit[walks[walk, step - 1]]
            score = table[coalition] + start[label]
            if len(start) == 1:
                classes[walk, step] = score >= 0
            elif label == 0 or score > best_scores[walk, step]:
                best_scores[walk, step], classes[walk, step] = score, label
