"""Rows of anything a sample can be made of: arrays, frames, sparse matrices, lists of texts.

The one place that knows how each container counts, takes and joins its rows.
"""

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
    if isinstance(X, pd.DataFrame | pd.Series):
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


def as_objects(values: Any) -> NDArray[Any]:
    """Return one value per row as Python objects, each exactly what it was; None where one is missing.

    Examples
    --------
    >>> as_objects(pd.Series(pd.Categorical([2**53 + 1, None], categories=pd.Index([2**53 + 1])))).tolist()
    [9007199254740993, None]
    """
    if isinstance(values, np.ndarray) and values.ndim == 1:
        values = pd.Series(values, copy=False)
    if isinstance(values, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        values = pd.Series(values, copy=False)
        if isinstance(values.dtype, pd.CategoricalDtype):  # pandas makes floats of integers with a gap
            return np.array([*as_objects(values.cat.categories), None], dtype=object)[values.cat.codes]
        return _of_python(values.to_numpy(dtype=object, na_value=None))
    objects = np.fromiter(values, dtype=object)
    objects[pd.isna(objects)] = None
    return _of_python(objects)


def _of_python(objects: NDArray[Any]) -> NDArray[Any]:
    """Return objects with Python's integers for NumPy's, which are rounded when compared with floats."""
    if not any(issubclass(kind, np.integer) for kind in set(map(type, objects))):
        return objects
    return np.fromiter((one.item() if isinstance(one, np.integer) else one for one in objects), dtype=object)


def as_series(values: Any) -> "pd.Series[Any]":
    """Return one value per row as a Series in which different values stay different.

    Left to themselves, pandas makes floats of integers that stand next to a gap or a float, and NumPy makes
    texts of numbers that stand next to a text: 2**53 and 2**53 + 1, or 1 and "1", would be one value.

    Parameters
    ----------
    values : Series, array or iterable
        Categories of numbers become numbers, and Python objects the dtype that holds all of them: integers
        with gaps are floats where no float rounds one, else pandas' Int64 or UInt64. Gaps alone are floats,
        too. Objects that no dtype holds stay objects, with None for gaps.

    Examples
    --------
    >>> as_series([1, None]).tolist(), as_series([2**53 + 1, None]).tolist()
    ([1.0, nan], [9007199254740993, <NA>])
    >>> as_series([2**53 + 1, 0.5]).tolist(), as_series([1, "1"]).tolist()
    ([9007199254740993, 0.5], [1, '1'])
    """
    column = _inferable(values)
    if column.dtype != object:
        return column
    gaps = column.isna().to_numpy()
    numbers = column[~gaps]
    kind = pd.api.types.infer_dtype(numbers)
    if kind not in _NUMBERS or (kind == "integer" and not gaps.any()) or not len(column):
        return column.infer_objects()
    if _are_floats(numbers):
        return column.mask(gaps, np.nan).astype(np.float64)
    if kind == "integer":
        for dtype in ("Int64", "UInt64"):
            with contextlib.suppress(OverflowError):
                return column.mask(gaps, pd.NA).astype(dtype)
    return column.mask(gaps, None)


def as_array(values: Any) -> NDArray[Any]:
    """Return values as NumPy does, but one value per row as `as_series` does; a ragged list is a ValueError.

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
    """Return rows of values, in a 2-D array or in lists, as a table of columns that `as_series` makes.

    Examples
    --------
    >>> as_table([[2**53 + 1, 0.5], [None, 1]]).dtypes.tolist()
    [Int64Dtype(), dtype('float64')]
    """
    cells = rows if isinstance(rows, np.ndarray) else np.array([*map(list, rows)], dtype=object)
    return pd.DataFrame({j: as_series(cells[:, j]) for j in range(cells.shape[1])}, index=range(len(cells)))


def may_be_rounded(numbers: NDArray[Any]) -> bool:
    """Return whether some of the numbers are floats so large that they may stand for another integer."""
    return numbers.dtype.kind == "f" and bool((np.abs(numbers) >= WHOLE).any())


_NUMBERS = ("integer", "mixed-integer-float", "empty")  # columns that may have a dtype for numbers


def _inferable(values: Any) -> "pd.Series[Any]":
    """Return a Series of the dtype that the values have, or of Python objects."""
    if isinstance(values, np.ndarray | pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        column = pd.Series(values, copy=False)
    else:
        column = pd.Series(np.fromiter(values, dtype=object), dtype=object)
    held = column.cat.categories.dtype if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype
    is_converted = isinstance(column.dtype, pd.CategoricalDtype | pd.ArrowDtype) and held.kind in "iu"
    if held != np.dtype(object) and not is_converted:
        return column
    return pd.Series(as_objects(column), column.index, object, column.name)


def _are_floats(numbers: "pd.Series[Any]") -> bool:
    try:
        return bool((numbers.astype(np.float64) == numbers).all())
    except OverflowError:  # an integer beyond all floats
        return False


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
    return numbers if numbers.dtype.kind in "iu" and may_be_rounded(floats) else floats
