"""Explainers perturb, measure and sort numbers, models want the table they were trained on: this translates.

There is one Encoder for all explainers, so that a category, a missing value or a value never seen before
means the same to each of them.
"""

from collections.abc import Iterable
from typing import Any, Literal

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.dates import zone_of
from faithkit.explanations.predicates import Interval, Predicate
from faithkit.explanations.rules import Rule
from faithkit.inputs.column_codes import CategoryColumn, DateColumn, learn_column
from faithkit.inputs.rows import Rows, check_names, check_X, column_names, input_kind, iter_columns


class Encoder:
    """Map the mixed columns of a table to a float64 matrix of codes, and back.

    A number is its own code, NaN where it is missing. A date is the number of days since 1970 in UTC, to the
    microsecond. A category (string, categorical dtype, boolean) is
    its rank 0..K−1 among the sorted values of the background, K where it is missing and K + 1 where the
    background does not have it. Booleans are the categories False and True, so their codes are 0 and 1.

    Parameters
    ----------
    background : 2-D array or DataFrame
        The rows whose columns, dtypes and categories are learnt.

    Attributes
    ----------
    names : list of str
        The column names.
    categorical : tuple of int
        The positions of the columns that hold categories.
    categories : dict
        For each of these positions the list of values, in the order of their codes.
    n_columns : int
        How many columns there are.

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
        named = zip(self.names, iter_columns(background), strict=True)
        self._columns = [learn_column(name, column) for name, column in named]

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self._columns)

    @property
    def categorical(self) -> tuple[int, ...]:
        """The positions of the columns that hold categories."""
        return tuple(self.categories)

    @property
    def categories(self) -> dict[int, list[Any]]:
        """The values of each column that holds categories, in the order of their codes."""
        return {j: list(c.values) for j, c in enumerate(self._columns) if isinstance(c, CategoryColumn)}

    def encode(self, X: Rows, unseen: Literal["error", "keep"] = "error") -> np.ndarray:
        """Return the codes of X, float64 of shape (n, n_columns).

        Parameters
        ----------
        X : 2-D array or DataFrame
            A DataFrame's columns may come in any order; an array's are read by position.
        unseen : {"error", "keep"}
            Whether a category that the background does not have is an error, or the code K + 1.
        """
        if unseen not in ("error", "keep"):
            raise InputError(f"unseen is {unseen!r}; expected 'error' or 'keep'.")
        self._check_table(X)
        X = self._aligned(X)
        codes = np.empty((len(X), self.n_columns))
        for j, (learnt, column) in enumerate(zip(self._columns, iter_columns(X), strict=True)):
            codes[:, j] = learnt.encode(column, keep_unseen=unseen == "keep")
        return codes

    def decode(self, codes: np.ndarray) -> Rows:
        """Return the rows of the codes: container, columns, order and dtypes of the background.

        Integers and booleans come back as such where the codes allow it: a column of integers with a
        fraction or NaN comes back as floats. Categories with code K or K + 1 come back as missing.
        """
        codes = np.asarray(codes, dtype=np.float64)
        if codes.ndim != 2 or codes.shape[1] != self.n_columns:
            raise InputError(f"the codes have shape {codes.shape}; expected (n, {self.n_columns}).")
        if self._array_dtype is not None and self._array_dtype.kind == "f":
            return codes.astype(self._array_dtype, order="C")
        columns = [learnt.decode(codes[:, j]) for j, learnt in enumerate(self._columns)]
        return self._array(columns, len(codes)) if self._frame_columns is None else self._frame(columns)

    def rule(self, predicates: Iterable[Predicate]) -> Rule:
        """Return the rule of predicates whose limits are codes: those of dates become dates.

        Examples
        --------
        >>> encoder = Encoder(pd.DataFrame({"signed": pd.to_datetime(["2024-01-01", "2024-03-01"])}))
        >>> print(encoder.rule([Interval("signed", high=19730.0)]))
        signed ≤ 2024-01-08
        """
        labels = range(self.n_columns) if self._frame_columns is None else self._frame_columns
        columns = zip(labels, self._columns, strict=True)
        zones = {label: zone_of(column.dtype) for label, column in columns if isinstance(column, DateColumn)}
        return Rule(
            attrs.evolve(predicate, dates=True, zone=zones[predicate.column])
            if isinstance(predicate, Interval) and predicate.column in zones
            else predicate
            for predicate in predicates
        )

    def _frame(self, columns: list[Any]) -> Any:
        series = {j: _said(column) for j, column in enumerate(columns)}
        return pd.DataFrame(series, copy=False).set_axis(self._frame_columns, axis="columns")

    def _array(self, columns: list[Any], n: int) -> np.ndarray:
        rows = np.empty((n, len(columns)), dtype=np.result_type(*(column.dtype for column in columns)))
        for j, column in enumerate(columns):
            rows[:, j] = column
        is_text = self._array_dtype.kind in "US" and not pd.isna(rows).any()
        return rows.astype(self._array_dtype) if is_text else rows

    def _aligned(self, X: Rows) -> Rows:
        """Bring the columns into the background's order; by name where both sides have names."""
        if isinstance(X, pd.DataFrame) and self._frame_columns is not None:
            names = column_names(check_X(X) if len(X) else X)
            check_names(names, self.names)
            place = {name: j for j, name in enumerate(names)}
            return X if names == self.names else X.iloc[:, [place[name] for name in self.names]]
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


def _said(column: Any) -> Any:
    """Say the dtype of a column of objects, which pandas would otherwise take for strings."""
    return pd.Series(column, dtype=object, copy=False) if column.dtype == object else column
