"""The Encoder: convert a table to numbers, which explainers perturb and sort, and back for the model.

All explainers use this Encoder, so that a category, a missing value or an unseen value means the same to each
of them.
"""

from collections.abc import Iterable
from typing import Any, Literal

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.dates import get_zone
from faithkit.explanations.predicates import Interval, Predicate
from faithkit.explanations.rules import Rule
from faithkit.inputs.column_codes import CategoryColumn, DateColumn, learn_column
from faithkit.inputs.rows import Rows, check_names, check_X, column_names, input_kind, iter_columns


class Encoder:
    """Map the mixed columns of a table to a float64 matrix of codes, and back.

    The code of a number is the number, NaN where it is missing. The code of a date is the number of days
    since 1970 in UTC, to the microsecond. The code of a category (string, categorical dtype, boolean) is its
    rank 0..K−1 among the sorted values of the background, K if it is missing and K + 1 if the background does
    not have it. Booleans are the categories False and True, so their codes are 0 and 1.

    Parameters
    ----------
    background : 2-D array or DataFrame
        The rows that define the columns, dtypes and categories.

    Attributes
    ----------
    names : list of str
        The column names; "x0", "x1", … for an array, whose columns rules name by number.
    categorical : tuple of int
        The positions of the columns that hold categories.
    categories : dict
        For each of these positions the list of values, in the order of their codes.
    n_columns : int
        The number of columns.

    Notes
    -----
    Integers beyond 2**53 are rounded, as every conversion to float64 rounds them.

    Examples
    --------
    >>> background = pd.DataFrame({"age": [31, 45, 28], "job": ["smith", "clerk", None]})
    >>> encoder = Encoder(background)
    >>> encoder.categories
    {1: ['clerk', 'smith']}
    >>> codes = encoder.encode(background)
    >>> codes.tolist()
    [[31.0, 1.0], [45.0, 0.0], [28.0, 2.0]]
    >>> encoder.decode(codes)
       age    job
    0   31  smith
    1   45  clerk
    2   28    NaN
    """

    def __init__(self, background: Rows) -> None:
        self._check_table(background)
        check_X(background)
        self.names = column_names(background)
        self._frame_columns = background.columns if isinstance(background, pd.DataFrame) else None
        self._array_dtype: Any = None if isinstance(background, pd.DataFrame) else background.dtype
        named_columns = zip(self.names, iter_columns(background), strict=True)
        self._columns = [learn_column(name, column) for name, column in named_columns]

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self._columns)

    @property
    def categorical(self) -> tuple[int, ...]:
        """The positions of the columns that hold categories."""
        return tuple(self.categories)

    @property
    def categories(self) -> dict[int, list[Any]]:
        """The values of each column that holds categories, in the order of their codes."""
        return {
            j: list(column.values)
            for j, column in enumerate(self._columns)
            if isinstance(column, CategoryColumn)
        }

    def encode(self, X: Rows, unseen: Literal["error", "keep"] = "error") -> np.ndarray:
        """Return the codes of X, float64 of shape (n, n_columns).

        Parameters
        ----------
        X : 2-D array or DataFrame
            The columns of a DataFrame may have any order; those of an array are read by position.
        unseen : {"error", "keep"}
            Whether a category that the background does not have is an error, or gets the code K + 1.
        """
        if unseen not in ("error", "keep"):
            raise InputError(f"unseen is {unseen!r}; expected 'error' or 'keep'.")
        self._check_table(X)
        X = self._align(X)
        codes = np.empty((len(X), self.n_columns))
        for j, (column_encoder, column) in enumerate(zip(self._columns, iter_columns(X), strict=True)):
            codes[:, j] = column_encoder.encode(column, keep_unseen=unseen == "keep")
        return codes

    def decode(self, codes: np.ndarray) -> Rows:
        """Return the rows of the codes, with the container, columns, order and dtypes of the background.

        Integers and booleans keep their dtype where the codes allow it: a column of integers with a fraction
        or NaN becomes floats. Categories with code K or K + 1 become missing values.
        """
        codes = np.asarray(codes, dtype=np.float64)
        if codes.ndim != 2 or codes.shape[1] != self.n_columns:
            raise InputError(f"the codes have shape {codes.shape}; expected (n, {self.n_columns}).")
        if self._array_dtype is not None and self._array_dtype.kind == "f":
            return codes.astype(self._array_dtype, order="C")
        columns = [column_encoder.decode(codes[:, j]) for j, column_encoder in enumerate(self._columns)]
        if self._frame_columns is None:
            return self._build_array(columns, len(codes))
        return self._build_frame(columns)

    def rule(self, predicates: Iterable[Predicate]) -> Rule:
        """Build a rule from predicates whose limits are codes; limits of date columns become dates.

        Examples
        --------
        >>> encoder = Encoder(pd.DataFrame({"signed": pd.to_datetime(["2024-01-01", "2024-03-01"])}))
        >>> print(encoder.rule([Interval("signed", high=19730.0)]))
        signed ≤ 2024-01-08
        """
        labels = range(self.n_columns) if self._frame_columns is None else self._frame_columns
        columns = zip(labels, self._columns, strict=True)
        zones = {label: get_zone(column.dtype) for label, column in columns if isinstance(column, DateColumn)}
        return Rule(
            attrs.evolve(predicate, dates=True, zone=zones[predicate.column])
            if isinstance(predicate, Interval) and predicate.column in zones
            else predicate
            for predicate in predicates
        )

    def _build_frame(self, columns: list[Any]) -> Any:
        series = {j: _with_dtype(column) for j, column in enumerate(columns)}
        return pd.DataFrame(series, copy=False).set_axis(self._frame_columns, axis="columns")

    def _build_array(self, columns: list[Any], n: int) -> np.ndarray:
        rows = np.empty((n, len(columns)), dtype=np.result_type(*(column.dtype for column in columns)))
        for j, column in enumerate(columns):
            rows[:, j] = column
        is_text = self._array_dtype.kind in "US" and not pd.isna(rows).any()
        return rows.astype(self._array_dtype) if is_text else rows

    def _align(self, X: Rows) -> Rows:
        """Reorder the columns like the background's, by name if both have names."""
        if isinstance(X, pd.DataFrame) and self._frame_columns is not None:
            names = column_names(check_X(X) if len(X) else X)
            check_names(names, self.names)
            position_of = {name: j for j, name in enumerate(names)}
            return X if names == self.names else X.iloc[:, [position_of[name] for name in self.names]]
        if X.ndim != 2 or X.shape[1] != self.n_columns:
            raise InputError(
                f"X has shape {X.shape}; expected {self.n_columns} columns, as in the background."
            )
        return X

    def _check_table(self, X: Rows) -> None:
        kind = input_kind(X)
        if kind == "array":
            raise InputError(
                f"rows of shape {X.shape[1:]} have no columns to encode: give X.reshape(len(X), -1), where "
                "the model takes it, or use an explainer of images or series."
            )
        if kind != "table":
            raise InputError(f"the Encoder was given {kind} input; expected a 2-D array or a DataFrame.")


def _with_dtype(column: Any) -> Any:
    """Keep the dtype of a column of objects, which pandas would otherwise convert to strings."""
    return pd.Series(column, dtype=object, copy=False) if column.dtype == object else column
