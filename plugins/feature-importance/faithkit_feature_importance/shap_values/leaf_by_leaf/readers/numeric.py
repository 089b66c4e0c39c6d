"""Tables as the numbers that the trees of other libraries compare."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def as_numbers(table: Any, dtype: Any, categories: Mapping[int, Any] | None = None) -> Any:
    """Return a table as numbers of a precision, NaN where missing; a sparse one stays sparse.

    Parameters
    ----------
    table : array, DataFrame or sparse matrix
    dtype : numpy dtype
    categories : mapping, optional
        For columns of categories: those that the model knows, in the order of their codes. Others are
        missing.

    Examples
    --------
    >>> job = pd.Categorical(["cook", "smith", None, "diver"])
    >>> as_numbers(pd.DataFrame({"job": job}), np.float32, {0: ["smith", "cook"]})[:, 0]
    array([ 1.,  0., nan, nan], dtype=float32)
    """
    if hasattr(table, "toarray"):
        return table.tocsr().astype(dtype)
    if hasattr(table, "iloc"):
        return _coded(table, categories or {}).to_numpy(dtype=np.float64, na_value=np.nan).astype(dtype)
    return np.asarray(table, dtype=dtype)


def with_missing(cells: Any, missing: Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]) -> Any:
    """Return numbers with NaN where a model takes one for missing, which it tells by number and column.

    >>> with_missing(np.array([[0.0, 0.0], [1.0, 1.0]]), lambda numbers, columns: numbers == columns)
    array([[nan,  0.],
           [ 1., nan]])
    """
    if not hasattr(cells, "toarray"):
        return np.where(missing(cells, np.arange(cells.shape[1])), np.nan, cells)
    found = cells.copy()
    found.data = np.where(missing(cells.data, cells.indices), np.nan, cells.data)
    return found


def _coded(table: Any, categories: Mapping[int, Any]) -> Any:
    found = table.copy(deep=False)
    for j, kind in enumerate(table.dtypes):
        if isinstance(kind, pd.CategoricalDtype):
            column = table.iloc[:, j].cat.set_categories(categories.get(j, kind.categories))
            found.isetitem(j, column.cat.codes.where(column.notna()))
    return found
