"""Helpers of the readers: tables as numbers, and nested trees as lists of nodes."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Integers


def to_numbers(table: Any, dtype: Any, categories: Mapping[int, Any] | None = None) -> Any:
    """Return a table as numbers of type `dtype`, NaN for missing values. Sparse tables stay sparse.

    Parameters
    ----------
    table : array, DataFrame or sparse matrix
    dtype : numpy dtype
    categories : mapping, optional
        The categories that the model knows for each categorical column, in the order of their codes. Other
        categories become missing.

    Examples
    --------
    >>> job = pd.Categorical(["cook", "smith", None, "diver"])
    >>> to_numbers(pd.DataFrame({"job": job}), np.float32, {0: ["smith", "cook"]})[:, 0]
    array([ 1.,  0., nan, nan], dtype=float32)
    """
    if hasattr(table, "toarray"):
        return table.tocsr().astype(dtype)
    if hasattr(table, "iloc"):
        return (
            _encode_categories(table, categories or {})
            .to_numpy(dtype=np.float64, na_value=np.nan)
            .astype(dtype)
        )
    return np.asarray(table, dtype=dtype)


def mark_missing(values: Any, is_missing: Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]) -> Any:
    """Return values with NaN where `is_missing(numbers, columns)` is true.

    >>> mark_missing(np.array([[0.0, 0.0], [1.0, 1.0]]), lambda numbers, columns: numbers == columns)
    array([[nan,  0.],
           [ 1., nan]])
    """
    if not hasattr(values, "toarray"):
        return np.where(is_missing(values, np.arange(values.shape[1])), np.nan, values)
    marked = values.copy()
    marked.data = np.where(is_missing(values.data, values.indices), np.nan, values.data)
    return marked


def _encode_categories(table: Any, categories: Mapping[int, Any]) -> Any:
    encoded = table.copy(deep=False)
    for j, kind in enumerate(table.dtypes):
        if isinstance(kind, pd.CategoricalDtype):
            column = table.iloc[:, j].cat.set_categories(categories.get(j, kind.categories))
            encoded.isetitem(j, column.cat.codes.where(column.notna()))
    return encoded


def flatten_tree(root: Any, left: str, right: str) -> tuple[list[Any], Integers, Integers]:
    """Return the nodes of a nested tree, the root first, and the numbers of their children, −1 for leaves.

    Parameters
    ----------
    root : dict
    left, right : str
        The keys of a node's children.

    Examples
    --------
    >>> nodes, left, right = flatten_tree({"no": {"value": 1}, "yes": {"value": 2}}, "no", "yes")
    >>> len(nodes), left.tolist(), right.tolist()
    (3, [1, -1, -1], [2, -1, -1])
    """
    nodes, first_children = [root], []
    for node in nodes:  # the list grows during the loop
        first_children.append(len(nodes) if left in node else -1)
        nodes += [node[left], node[right]] if left in node else []
    left_children = np.array(first_children, dtype=np.int64)
    return nodes, left_children, np.where(left_children < 0, -1, left_children + 1)
