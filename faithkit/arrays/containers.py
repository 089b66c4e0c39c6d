"""Containers of rows: arrays, data frames, sparse matrices, lists of texts.

This is the only module that counts, selects, copies and joins rows by the type of their container.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.wording import join_few

Rows: TypeAlias = Any
"""The rows of a sample: numpy.ndarray, pandas.DataFrame, SciPy sparse matrix or list of str."""

EXACT_LIMIT = 2.0**53  # floats represent all smaller integers exactly; all larger floats are integers
_COPIES_ON_WRITE = int(pd.__version__.partition(".")[0]) >= 3  # a shallow copy is then as safe as a deep one


def strip_mask(array: Any, subject: str) -> Any:
    """Return an array without its mask; raise an error if the mask hides a value.

    Examples
    --------
    >>> strip_mask(np.ma.array([1.5, 2.5], mask=[False, True]), "the explanations")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the explanations are a masked array, and 1 of its values are hidden: ...
    """
    if not isinstance(array, np.ma.MaskedArray):
        return array
    n_hidden = int(np.ma.getmaskarray(array).sum())
    if n_hidden:
        raise InputError(
            f"{subject} are a masked array, and {n_hidden} of its values are hidden: the mask would be lost. "
            "Give array.filled(numpy.nan) where hidden values are missing ones."
        )
    return array.data


def n_rows(X: Rows) -> int:
    """Return the number of rows of an array, frame, sparse matrix or list.

    Examples
    --------
    >>> n_rows(np.zeros((4, 9))), n_rows(["good", "bad"])
    (4, 2)
    """
    if isinstance(X, tuple):  # parts side by side, each with n rows
        return n_rows(X[0])
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Rows, rows: Any) -> Rows:
    """Return the selected rows (a slice, indices or a mask) in the same kind of container.

    Examples
    --------
    >>> take_rows(["a", "b", "c"], [2, 0])
    ['c', 'a']
    """
    if X is None:
        return None
    if isinstance(X, tuple):
        return tuple(take_rows(part, rows) for part in X)
    if not isinstance(rows, slice):
        rows = np.asarray(rows, dtype=None if len(rows) else np.intp)
        if rows.dtype == bool:  # resolved here: containers treat masks differently
            rows = np.arange(n_rows(X))[rows]
    if isinstance(X, pd.DataFrame | pd.Series):
        return X.iloc[rows]
    if isinstance(X, list):
        return [X[i] for i in np.arange(len(X))[rows]]
    return X[rows] if isinstance(X, np.ndarray) else X.tocsr()[rows]


def copy_rows(X: Rows) -> Rows:
    """Copy rows, so that changes to the copy do not change the original.

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


def concat_rows(parts: Sequence[Rows]) -> Rows:
    """Join containers of one type, in order; columns and dtypes must match.

    Examples
    --------
    >>> concat_rows([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    if not parts:
        raise InputError("there are no parts to join; expected at least one sample.")
    first = parts[0]
    if len(parts) == 1 or all(part is None for part in parts):
        return first
    if isinstance(first, tuple):
        return tuple(concat_rows(column) for column in zip(*parts, strict=True))
    _check_same_layout(parts)
    if isinstance(first, list):
        return [row for part in parts for row in part]
    if isinstance(first, pd.DataFrame):
        return pd.concat(list(parts))
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def _check_same_layout(parts: Sequence[Rows]) -> None:
    type_names = sorted({type(part).__name__ for part in parts})
    if len(type_names) > 1:
        raise InputError(f"the parts are of different kinds ({join_few(type_names)}); expected one kind.")
    first, *rest = parts
    for part in rest:
        if _columns(first) != _columns(part):
            raise InputError(
                f"the parts have different columns: {join_few(_columns(first))}; and "
                f"{join_few(_columns(part))}. Give all of them the same columns in the same order."
            )
        if _dtypes(first) != _dtypes(part):
            raise InputError(
                f"rows of {join_few(_dtypes(first))} cannot be joined with rows of "
                f"{join_few(_dtypes(part))}: equal values would compare as different. Convert all parts to "
                "one dtype first."
            )


def _columns(X: Rows) -> list[str]:
    if isinstance(X, pd.DataFrame):
        return [str(name) for name in X.columns]
    if getattr(X, "ndim", 1) > 2:
        return [f"rows of shape {X.shape[1:]}"]
    return [] if getattr(X, "ndim", 1) < 2 else [f"x{j}" for j in range(X.shape[1])]


def _dtypes(X: Rows) -> list[str]:
    if isinstance(X, pd.DataFrame):
        return [str(dtype) for dtype in X.dtypes]
    return [str(X.dtype)] if hasattr(X, "dtype") else []


def as_objects(values: Any) -> NDArray[Any]:
    """Return one value per row as Python objects, unchanged; None where a value is missing.

    Examples
    --------
    >>> as_objects(pd.Series(pd.Categorical([2**53 + 1, None], categories=pd.Index([2**53 + 1])))).tolist()
    [9007199254740993, None]
    """
    if _is_column(values):
        column = pd.Series(values, copy=False)
        if isinstance(column.dtype, pd.CategoricalDtype):  # pandas makes floats of integers beside None
            column = column.astype(object)
        return np.array(column.to_numpy(dtype=object, na_value=None))
    objects = np.fromiter(values, dtype=object)
    objects[pd.isna(objects)] = None
    return objects


def _is_column(values: Any) -> bool:
    is_array = isinstance(values, np.ndarray) and values.ndim == 1
    return is_array or isinstance(values, pd.Series | pd.Index | pd.api.extensions.ExtensionArray)


def as_series(values: Any) -> "pd.Series[Any]":
    """Return one value per row as a Series in which different values stay different.

    By default, pandas converts integers to floats beside a missing value or a float, and NumPy converts
    numbers to texts beside a text. 2**53 and 2**53 + 1, or 1 and "1", would become one value.

    Examples
    --------
    >>> as_series([1, None]).tolist(), as_series([2**53 + 1, None]).tolist()
    ([1.0, nan], [9007199254740993, None])
    >>> as_series([2**53 + 1, 0.5]).tolist(), as_series([1, "1"]).tolist()
    ([9007199254740993, 0.5], [1, '1'])
    """
    column = pd.Series(values if _is_column(values) else np.fromiter(values, dtype=object), copy=False)
    if column.dtype != object:
        return column
    inferred = column.infer_objects() if column.notna().any() else column.astype(np.float64)
    if may_be_rounded(inferred) and any(isinstance(value, int | np.integer) for value in column):
        return column
    return inferred


def as_array(values: Any) -> NDArray[Any]:
    """Return values as `numpy.asarray` does, but a 1-D input as `as_series` does.

    A ragged list raises ValueError.

    Examples
    --------
    >>> as_array([1, "1"]).tolist(), as_array([[1, 2], [3, 4]]).shape
    ([1, '1'], (2, 2))
    """
    array = np.asarray(values)
    if array.ndim != 1 or (isinstance(values, np.ndarray) and values.dtype != object):
        return array
    column = as_series(values)
    return as_objects(column) if column.hasnans and column.dtype.kind != "f" else column.to_numpy()


def as_table(rows: Any) -> pd.DataFrame:
    """Return rows of values, from a 2-D array or lists, as a DataFrame whose columns `as_series` builds.

    Examples
    --------
    >>> as_table([[2**53 + 1, 0.5], [None, 1]]).dtypes.tolist()
    [dtype('O'), dtype('float64')]
    """
    values = rows if isinstance(rows, np.ndarray) else np.array([*map(list, rows)], dtype=object)
    return pd.DataFrame(
        {j: as_series(values[:, j]) for j in range(values.shape[1])}, index=range(len(values))
    )


def may_be_rounded(numbers: Any) -> bool:
    """Return whether any number is a float so large that it may be a rounded integer."""
    return numbers.dtype.kind == "f" and bool((np.abs(numbers) >= EXACT_LIMIT).any())


def as_floats(numbers: Any) -> Any:
    """Convert an array of numbers to floats if the conversion is exact; return anything else unchanged.

    A result that depends on the content of rows must not depend on the dtype of the file they came from.

    Examples
    --------
    >>> as_floats(np.array([[1, 2]])), as_floats(np.array([2**60])).dtype
    (array([[1., 2.]]), dtype('int64'))
    """
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "biuf":
        return numbers
    floats = numbers.astype(np.float64, copy=False)
    return numbers if numbers.dtype.kind in "iu" and may_be_rounded(floats) else floats
