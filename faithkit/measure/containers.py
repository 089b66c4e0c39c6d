"""Rows of anything a sample can be made of: arrays, frames, sparse matrices, lists of texts.

The one place that knows how each container counts, takes and joins its rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.wording import few

WHOLE = 2.0**53  # floats hold all smaller integers
_COPIES_ON_WRITE = int(pd.__version__.partition(".")[0]) >= 3  # then a shallow copy is as good as a deep one


def unmasked(array: Any, who: str) -> Any:
    """Return an array without its mask where that hides nothing, else refuse it.

    Examples
    --------
    >>> unmasked(np.ma.array([1.5, 2.5], mask=[False, True]), "the explanations")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the explanations are a masked array, and 1 of its values are hidden: ...
    """
    if not isinstance(array, np.ma.MaskedArray):
        return array
    hidden = int(np.ma.getmaskarray(array).sum())
    if hidden:
        raise InputError(
            f"{who} are a masked array, and {hidden} of its values are hidden: the mask would be lost. "
            "Give array.filled(numpy.nan) where hidden values are missing ones."
        )
    return array.data


def n_rows(X: Any) -> int:
    """Return the number of rows of an array, frame, sparse matrix or list.

    Examples
    --------
    >>> n_rows(np.zeros((4, 9))), n_rows(["good", "bad"])
    (4, 2)
    """
    if isinstance(X, tuple):  # columns side by side, each of n rows
        return n_rows(X[0])
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: Any) -> Any:
    """Return the given rows (a slice, indices or a mask) in the same kind of container.

    Examples
    --------
    >>> take_rows(["a", "b", "c"], [2, 0])
    ['c', 'a']
    """
    if X is None:
        return None
    if isinstance(X, tuple):
        return tuple(take_rows(part, rows) for part in X)
    if not isinstance(rows, slice):  # indices or a mask, resolved here: no container reads them its own way
        rows = np.arange(n_rows(X))[np.asarray(rows, dtype=None if len(rows) else np.intp)]
    if isinstance(X, pd.DataFrame):
        return X.iloc[rows]
    if isinstance(X, list):
        return [X[i] for i in np.arange(len(X))[rows]]
    return X[rows] if isinstance(X, np.ndarray) else X.tocsr()[rows]


def copy_rows(X: Any) -> Any:
    """Return rows that belong to whoever gets them: what is done to them changes nobody else's.

    Examples
    --------
    >>> rows = np.zeros((2, 1))
    >>> copy_rows(rows)[0] = 1.0
    >>> rows[0]
    array([0.])
    """
    if isinstance(X, pd.DataFrame):
        return X.copy(deep=not _COPIES_ON_WRITE)
    return list(X) if isinstance(X, list) else X.copy()


def concat_rows(parts: Sequence[Any]) -> Any:
    """Join containers of one kind, in order; other columns or other dtypes are refused.

    Examples
    --------
    >>> concat_rows([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    if not parts:
        raise InputError("there are no parts to put together; expected at least one sample.")
    first = parts[0]
    if len(parts) == 1 or all(part is None for part in parts):
        return first
    if isinstance(first, tuple):
        return tuple(concat_rows(column) for column in zip(*parts, strict=True))
    _check_alike(parts)
    if isinstance(first, list):
        return [row for part in parts for row in part]
    if isinstance(first, pd.DataFrame):
        return pd.concat(list(parts))
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def _check_alike(parts: Sequence[Any]) -> None:
    kinds = sorted({type(part).__name__ for part in parts})
    if len(kinds) > 1:
        raise InputError(f"the parts are of different kinds ({few(kinds)}); expected one kind.")
    first, *more = parts
    for part in more:
        if _columns(first) != _columns(part):
            raise InputError(
                f"the parts have different columns: {few(_columns(first))}; and {few(_columns(part))}. "
                "Give all of them the same columns in the same order."
            )
        if _dtypes(first) != _dtypes(part):
            raise InputError(
                f"rows of {few(_dtypes(first))} cannot be joined with rows of {few(_dtypes(part))}: equal "
                "values would compare as different. Convert all parts to one dtype first."
            )


def _columns(X: Any) -> list[str]:
    if isinstance(X, pd.DataFrame):
        return [str(name) for name in X.columns]
    if getattr(X, "ndim", 1) > 2:
        return [f"rows of shape {X.shape[1:]}"]
    return [] if getattr(X, "ndim", 1) < 2 else [f"x{j}" for j in range(X.shape[1])]


def _dtypes(X: Any) -> list[str]:
    if isinstance(X, pd.DataFrame):
        return [str(dtype) for dtype in X.dtypes]
    return [str(X.dtype)] if hasattr(X, "dtype") else []


def as_floats(numbers: Any) -> Any:
    """Return an array of numbers as floats where these hold them exactly; anything else as it is.

    What is made of the content of rows must not depend on the file that they came from.

    Examples
    --------
    >>> as_floats(np.array([[1, 2]])), as_floats(np.array([2**60])).dtype
    (array([[1., 2.]]), dtype('int64'))
    """
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "biuf":
        return numbers
    floats = numbers.astype(np.float64, copy=False)
    return numbers if numbers.dtype.kind in "iu" and (np.abs(floats) >= WHOLE).any() else floats
