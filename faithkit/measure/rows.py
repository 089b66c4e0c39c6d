"""Rows of anything a sample can be made of: arrays, frames, sparse matrices, lists of texts.

The one place that knows how each container counts, takes and joins its rows.
"""

from typing import Any

import numpy as np
import pandas as pd

from faithkit.errors import InputError


def n_rows(X: Any) -> int:
    """Return the number of rows of an array, frame, sparse matrix or list.

    Examples
    --------
    >>> n_rows([["a", "b"], ["c", "d"]])
    2
    """
    if isinstance(X, tuple):  # columns side by side, each of n rows
        return n_rows(X[0])
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: Any) -> Any:
    """Return the given rows (indices, a mask or a slice) in the same kind of container.

    Examples
    --------
    >>> take_rows(["good film", "bad film"], [1])
    ['bad film']
    """
    if X is None:
        return None
    if isinstance(X, tuple):
        return tuple(take_rows(part, rows) for part in X)
    if isinstance(X, pd.DataFrame | pd.Series):
        return X.iloc[rows]
    if isinstance(X, list):
        return [X[i] for i in np.arange(len(X))[rows]]
    return X[rows]


def concat_rows(parts: list[Any]) -> Any:
    """Join containers of one kind, in order; arrays of different dtypes are refused.

    Examples
    --------
    >>> concat_rows([np.zeros(1), np.ones(1)])
    array([0., 1.])
    """
    first = parts[0]
    if first is None or len(parts) == 1:
        return first
    if isinstance(first, tuple):
        return tuple(concat_rows(list(column)) for column in zip(*parts, strict=True))
    if isinstance(first, list):
        return [row for part in parts for row in part]
    if isinstance(first, pd.DataFrame):
        _same([tuple(map(str, part.dtypes)) for part in parts])
        return pd.concat(parts, ignore_index=True)
    if isinstance(first, np.ndarray):
        _same([part.dtype for part in parts])
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def _same(dtypes: list[Any]) -> None:
    for other in dtypes[1:]:
        if other != dtypes[0]:
            raise InputError(
                f"rows of {dtypes[0]} cannot be joined with rows of {other}: equal values would compare "
                "as different. Convert all parts to one dtype first."
            )
