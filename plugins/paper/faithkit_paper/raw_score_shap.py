"""Exact SHAP values of the raw scores of boosted trees, for many reference rows and many leaves.

The values are those of the explainer ``shap`` with ``algorithm=tree,output=raw,target=all``. A leaf matters
only for reference rows that violate none of the conditions which the instance violates. So its share of a
value depends on the conditions that the instance violates alone, and is looked up.
"""

from collections.abc import Sequence
from math import factorial
from typing import Any

import numba
import numpy as np

import faithkit
from faithkit_paper.leaves import LeafExplainer, find_violated

DECIMALS = 4  # as `shap` rounds scores of models in float32
SHARES = np.array([[factorial(n) * factorial(m) / factorial(n + m + 1) for m in range(8)] for n in range(8)])
"""The share of orders in which a player comes after n certain others and before m certain others."""


class RawScoreShap(LeafExplainer):
    """SHAP values of the raw scores of all classes, side by side."""

    _shares: np.ndarray

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "RawScoreShap":
        """Read the leaves of `CompiledTrees`, and sum over the reference rows for each leaf."""
        self._read(predictor.model, background)
        reference_cells = np.ascontiguousarray(self._trees.cells(self._rows).T)
        self._shares = share_leaves(reference_cells, self._leaves, SHARES)
        return self

    def explain(self, X: Any, seeds: Sequence[int]) -> faithkit.Explanations:
        """Return the values of each row, those of the first class first."""
        X = np.asarray(X, dtype=float)
        values = np.zeros((len(X), len(self._leaves.ends), X.shape[1]))
        for row, cells in enumerate(self._trees.cells(X)):
            add_shares(find_violated(cells, self._leaves), self._leaves, self._shares, values[row])
            faithkit.plugin.report_progress()
        return faithkit.Explanations.vectors(
            np.round(values / self._leaves.scale, DECIMALS).reshape(len(X), -1)
        )


@numba.njit(cache=True)
def share_leaves(reference_cells: np.ndarray, leaves: Any, shares: np.ndarray) -> np.ndarray:
    """Return what a leaf gives to each column on its path, by the violated columns of an instance.

    The cells have a row for each column; the result has the shape (leaves, sets of columns, columns).
    """
    n_rows, (n_leaves, n_path) = reference_cells.shape[1], leaves.columns.shape
    n_sets = 1 << n_path
    sizes = np.array([count_members(number) for number in range(n_sets)])
    violated, counts = np.empty(n_rows, np.uint8), np.empty(n_sets, np.int64)
    leaf_shares = np.zeros((n_leaves, n_sets, n_path), np.float32)
    for leaf in range(n_leaves):
        violated[:], counts[:] = 0, 0
        for step in range(n_path):
            cells, bit = reference_cells[leaves.columns[leaf, step]], np.uint8(1 << step)
            low, high = leaves.low[leaf, step], leaves.high[leaf, step]
            for row in range(n_rows):
                violated[row] |= bit if (cells[row] < low) | (cells[row] > high) else np.uint8(0)
        for row in range(n_rows):
            counts[violated[row]] += 1
        for inside in np.flatnonzero(counts):
            score = leaves.scores[leaf] * counts[inside] / n_rows
            others = outside = (n_sets - 1) & ~inside
            while outside >= 0:
                n, m = sizes[inside], sizes[outside]
                for step in range(n_path):
                    if (inside >> step) & 1:
                        leaf_shares[leaf, outside, step] += score * shares[n - 1, m]
                    elif (outside >> step) & 1:
                        leaf_shares[leaf, outside, step] -= score * shares[n, m - 1]
                outside = (outside - 1) & others if outside else -1
    return leaf_shares


@numba.njit(cache=True)
def count_members(number: int) -> int:
    """Return the size of a set: how many bits of its number are set."""
    count = 0
    while number:
        number &= number - 1
        count += 1
    return count


@numba.njit(cache=True)
def add_shares(violated: np.ndarray, leaves: Any, shares: np.ndarray, values: np.ndarray) -> None:
    """Add the shares of all leaves to the values of a row, (classes, columns)."""
    begin = 0
    for label in range(len(leaves.ends)):
        for leaf in range(begin, leaves.ends[label]):
            for step in range(shares.shape[2]):
                values[label, leaves.columns[leaf, step]] += shares[leaf, violated[leaf], step]
        begin = leaves.ends[label]
