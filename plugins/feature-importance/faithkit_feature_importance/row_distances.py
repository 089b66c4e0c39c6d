"""Distances of rows by the ranks of their numbers, and by whether categories are equal."""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]

MISSING = -2.0  # the code of a missing number: at least 1 from any other code
CODE_BITS = 52  # of the hash of a category that the background lacks, so that its code is a whole float


class RowCoder:
    """Codes of rows, such that the distance of two values of a column is min(1, |difference of codes|).

    The code of a number is its mid-rank among the background's numbers, from 0 to 1: the share of them below
    it, plus half of the share equal to it. Categories have whole numbers. A missing value has distance 0 from
    a missing value, and 1 from any other. Dates are numbers, booleans are categories.

    Two rows have equal codes in all columns exactly if they are equal, provided that the background has one
    of them.

    Parameters
    ----------
    background : 2-D array or DataFrame

    Attributes
    ----------
    names : list of str
        The names of the columns.
    codes : (m, columns) array
        The codes of the background.

    Examples
    --------
    >>> jobs = ["cook", "smith", "cook", None]
    >>> coder = RowCoder(pd.DataFrame({"age": [20.0, 30.0, 30.0, None], "job": jobs}))
    >>> coder.codes.tolist()
    [[0.16..., 0.0], [0.66..., 1.0], [0.66..., 0.0], [-2.0, 2.0]]
    >>> coder.encode(pd.DataFrame({"age": [25.0], "job": ["smith"]})).tolist()
    [[0.33..., 1.0]]
    """

    def __init__(self, background: Any) -> None:
        self._encoder = faithkit.plugin.Encoder(background)
        self.names = self._encoder.names
        raw_codes = self._encoder.encode(background)
        self.is_number = np.ones(len(self.names), dtype=bool)
        self.is_number[list(self._encoder.categorical)] = False
        self._numbers = {j: _sort_present(raw_codes[:, j]) for j in np.flatnonzero(self.is_number).tolist()}
        self.codes = self._to_codes(background, raw_codes)
        self._words = faithkit.plugin.hash_content(self.codes)
        self._order = np.argsort(self._words)

    def encode(self, X: Any) -> Floats:
        """Return the codes of other rows, which may have categories that the background lacks."""
        return self._to_codes(X, self._encoder.encode(X, unseen="keep"))

    def has_copy(self, codes: Floats) -> NDArray[np.bool_]:
        """Return whether the background has a row with these codes in all columns."""
        words, in_order = faithkit.plugin.hash_content(codes), self._words[self._order]
        position = np.searchsorted(in_order, words).clip(max=len(in_order) - 1)
        return np.asarray((self.codes[self._order[position]] == codes).all(axis=1))

    def _to_codes(self, X: Any, raw_codes: Floats) -> Floats:
        codes = raw_codes.copy()
        for j, numbers in self._numbers.items():
            column = raw_codes[:, j]
            place = np.searchsorted(numbers, column, "left") + np.searchsorted(numbers, column, "right")
            codes[:, j] = np.where(np.isnan(column), MISSING, place / (2 * max(1, len(numbers))))
        for j, categories in self._encoder.categories.items():
            is_unseen = raw_codes[:, j] == len(categories) + 1
            if is_unseen.any():  # by value: two rows may share a category that the background lacks
                words = faithkit.plugin.hash_content(self._column(X, j)[is_unseen])
                codes[is_unseen, j] = len(categories) + 1 + (words >> np.uint64(64 - CODE_BITS))
        return codes

    def _column(self, X: Any, j: int) -> NDArray[Any]:
        column = X.iloc[:, list(map(str, X.columns)).index(self.names[j])] if _is_frame(X) else X[:, j]
        return np.asarray(column, dtype=object)


@attrs.frozen(eq=False)
class DistanceColumns:
    """The codes of rows column by column, to which the distances of single rows are computed.

    Examples
    --------
    >>> columns = DistanceColumns.of(np.array([[0.1, 0.0], [0.4, 2.0]]), np.array([True, False]))
    >>> columns.distances(np.array([0.2, 2.0]), np.array([0, 1])).round(6).tolist()
    [1.1, 0.2]
    """

    codes: Floats  # (columns, rows)
    may_exceed_one: NDArray[np.bool_]  # (columns,): whether differences must be cut at 1

    @classmethod
    def of(cls, codes: Floats, is_number: NDArray[np.bool_]) -> "DistanceColumns":
        """Store codes (rows, columns) by column."""
        columns = np.ascontiguousarray(codes.T)
        return cls(columns, ~is_number | (columns < 0).any(axis=1))

    def __len__(self) -> int:
        return self.codes.shape[1]

    def distances(self, row: Floats, features: NDArray[np.int64]) -> Floats:
        """Return the distance of every row to one row of codes, summed over some columns: at least one."""
        total, gap = np.empty(len(self)), np.empty(len(self))
        for k, j in enumerate(features.tolist()):
            out = gap if k else total
            np.subtract(self.codes[j], row[j], out=out)
            np.abs(out, out=out)
            if self.may_exceed_one[j] or row[j] < 0:
                np.minimum(out, 1.0, out=out)
            if k:
                total += gap
        return total


def _sort_present(column: Floats) -> Floats:
    return np.sort(column[~np.isnan(column)])


def _is_frame(X: Any) -> bool:
    return isinstance(X, pd.DataFrame)
