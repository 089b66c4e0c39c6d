"""Find the two nearest rows that contradict each other: the nearer they are, the clearer the evidence."""

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays import Floats
from faithkit.arrays.containers import n_rows

MAX_CANDIDATES = 300  # rows of each side; more would take long, and hardly come nearer
MAX_PIXELS = 1024  # of an image, evenly spaced: more would take long, and hardly change the order


def find_nearest_pair(first: Any, second: Any, is_allowed: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the positions of two rows, one of each table, that differ least.

    Two rows differ by one for each column with different categories, and for numbers by their distance as a
    part of the column's range. Texts differ by the words that only one of them has.

    Parameters
    ----------
    first, second : array, DataFrame, sparse matrix or list of str
        Rows with the same columns.
    is_allowed : (m, n) bool
        Which pairs may be returned: at least one.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [20, 60, 58], "job": ["cook", "cook", None]})
    >>> find_nearest_pair(X.iloc[:1], X.iloc[1:], np.ones((1, 2), dtype=bool))
    (0, 0)
    """
    distances = np.where(is_allowed, measure_distances(first, second), np.inf)
    row, other = np.unravel_index(int(distances.argmin()), distances.shape)
    return int(row), int(other)


def measure_distances(first: Any, second: Any) -> Floats:
    """Return how far each row of one table differs from each row of another, as in `find_nearest_pair`."""
    m = n_rows(first)
    distances = sum(_distances(column[:m], column[m:]) for column in _columns(first, second))
    return np.asarray(distances).round(9)  # the last bits must not decide


def _columns(first: Any, second: Any) -> "list[NDArray[Any]]":
    """Return the columns of both tables, the second below the first: numbers, codes, or sets of words."""
    if isinstance(first, list):
        return [np.array([frozenset(str(text).split()) for text in [*first, *second]], dtype=object)]
    tables = [rows.toarray() if hasattr(rows, "toarray") else rows for rows in (first, second)]
    frames = [rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(_flat(rows)) for rows in tables]
    both = pd.concat(frames, ignore_index=True)
    return [_comparable(both.iloc[:, j]) for j in range(both.shape[1])]


def _flat(rows: NDArray[Any]) -> NDArray[Any]:
    """Flatten each row of an array; subsample large images."""
    values = rows.reshape(len(rows), -1)
    return values if rows.ndim == 2 else values[:, :: math.ceil(values.shape[1] / MAX_PIXELS)]


def _comparable(column: "pd.Series[Any]") -> NDArray[Any]:
    if column.dtype.kind in "mM":  # durations and dates
        column = column.astype("int64").where(column.notna())
    is_number = pd.api.types.is_numeric_dtype(column) and column.dtype.kind in "iuf"
    if not is_number:
        column = column.astype(object)
        try:
            return np.asarray(pd.factorize(column)[0])
        except TypeError:  # lists and dicts cannot be hashed
            return np.asarray(pd.factorize(column.map(repr))[0])
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    finite = values[np.isfinite(values)]
    width = np.ptp(finite) if len(finite) else 0.0
    return (values - finite.min()) / width if width > 0 else np.where(np.isfinite(values), 0.0, values)


def _distances(first: NDArray[Any], second: NDArray[Any]) -> Floats:
    if first.dtype == object:
        differences = [[len(words ^ other_words) for other_words in second] for words in first]
        return np.array(differences, dtype=np.float64)
    if first.dtype.kind == "i":
        return np.asarray(first[:, None] != second, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        difference = np.abs(first[:, None] - second)
    is_same = (first[:, None] == second) | (np.isnan(first)[:, None] & np.isnan(second))
    return np.where(is_same, 0.0, np.where(np.isfinite(difference), difference, 1.0))  # missing, or infinite
