"""The leaves of boosted trees, and explainers that read them instead of asking the model."""

from typing import Any, NamedTuple

import attrs
import numba
import numpy as np
from faithkit_feature_importance.shap_values.reference_rows import Reference

from faithkit_paper.compiled_trees import CompiledTrees

MAX_CELL = np.iinfo(np.int16).max


class Leaves(NamedTuple):
    """The leaves of all trees, those of the first class first.

    The cell of a value is the number of thresholds below it. A row reaches a leaf if its cells are at least
    `low` and at most `high` in the columns on the path. Scores are integers, so that sums do not depend on
    the order of their terms; they may overflow on the way, but not in the end.
    """

    columns: np.ndarray  # (leaves, the longest path)
    low: np.ndarray
    high: np.ndarray
    scores: np.ndarray
    ends: np.ndarray  # the number of leaves up to the end of each class
    start: np.ndarray  # the score of each class without trees
    scale: float  # by which all scores were multiplied

    @classmethod
    def of_model(cls, model: CompiledTrees) -> "Leaves":
        """Read the leaves of a model, and round their scores as finely as 32 bits allow."""
        trees, n_columns = model.trees, len(model.trees.first_split) - 1
        is_leaf = trees.left < 0
        leaves, splits = np.flatnonzero(is_leaf), np.flatnonzero(~is_leaf)
        parent = np.full(len(is_leaf), -1)
        parent[trees.left[splits]], parent[trees.right[splits]] = splits, splits
        n_thresholds = np.diff(trees.first_split).astype(np.int16)
        low, high = np.zeros((len(leaves), n_columns), np.int16), np.tile(n_thresholds, (len(leaves), 1))
        row, node = np.arange(len(leaves)), leaves
        while len(node):  # from all leaves towards the roots
            has_parent = parent[node] >= 0
            row, node = row[has_parent], node[has_parent]
            split = parent[node]
            is_left, column = trees.left[split] == node, trees.column[split]
            position = (trees.split[split] - trees.first_split[column]).astype(np.int16)
            high[row, column] = np.minimum(high[row, column], np.where(is_left, position, MAX_CELL))
            low[row, column] = np.maximum(low[row, column], np.where(is_left, 0, position + 1))
            node = split
        is_bounded = (low > 0) | (high < n_thresholds)
        columns = np.argsort(~is_bounded, axis=1, kind="stable")
        columns = columns[:, : is_bounded.sum(axis=1).max()]  # at most 8, the depth of the trees
        largest_leaf = np.maximum.reduceat(np.where(is_leaf, np.abs(trees.value), 0.0), trees.roots)
        largest_sums = np.abs(model.start) + np.add.reduceat(largest_leaf, [0, *trees.ends[:-1]])
        scale = 2.0 ** np.floor(31 - np.log2(largest_sums.max()))
        ends_of_classes = [*trees.roots, len(is_leaf)]
        return cls(
            columns.astype(np.uint8),
            np.take_along_axis(low, columns, axis=1),
            np.take_along_axis(high, columns, axis=1),
            np.rint(trees.value[leaves] * scale).astype(np.int32),
            np.array([np.searchsorted(leaves, ends_of_classes[end]) for end in trees.ends]),
            np.rint(model.start * scale).astype(np.int32),
            scale,
        )


@attrs.define(eq=False)
class LeafExplainer:
    """An explainer of `CompiledTrees` with reference rows.

    Parameters
    ----------
    reference : str
        The reference rows, as the parameter ``background`` of the explainer ``shap``.
    """

    reference: str
    rows_per_chunk = 1_024
    _leaves: Any = attrs.field(init=False, default=None)
    _trees: Any = attrs.field(init=False, default=None)
    _rows: Any = attrs.field(init=False, default=None)

    def _read(self, model: CompiledTrees, background: Any) -> None:
        """Read the leaves of a model, and choose the reference rows."""
        self._trees, self._leaves = model.trees, Leaves.of_model(model)
        self._rows = Reference.parse(self.reference).rows(np.asarray(background, dtype=float), ())


@numba.njit(cache=True)
def find_violated(cells: np.ndarray, leaves: Any) -> np.ndarray:
    """Return for each leaf the columns on its path whose conditions a row violates, as bits."""
    violated = np.zeros(len(leaves.scores), np.uint8)
    for leaf in range(len(violated)):
        for bit in range(leaves.columns.shape[1]):
            cell = cells[leaves.columns[leaf, bit]]
            violated[leaf] |= ((cell < leaves.low[leaf, bit]) | (cell > leaves.high[leaf, bit])) << bit
    return violated
