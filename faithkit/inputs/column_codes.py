"""Encode one column of numbers, dates or categories as float64 codes, and decode it.

The Encoder has one such object per column. It remembers the dtype of the column, because a model needs the
types that it was trained on: strings as strings, ints as ints.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.dates import dates_to_days, days_to_dates, is_date_column
from faithkit.wording import join_few

_NUMBER_KINDS = {"integer", "floating", "mixed-integer-float", "decimal"}


def is_category(column: pd.Series) -> bool:
    """Return whether a column holds categories (strings, booleans, a categorical dtype)."""
    if is_date_column(column):
        return False
    if column.dtype.kind == "O" and not isinstance(column.dtype, pd.CategoricalDtype):
        return pd.api.types.infer_dtype(column, skipna=True) not in _NUMBER_KINDS
    return column.dtype.kind not in "iuf"


def holds_words(column: pd.Series) -> bool:
    """Whether a column holds categories that a model needs encoded; booleans count as numbers."""
    return is_category(column) and column.dtype.kind != "b"


def distinct_words(column: pd.Series) -> tuple[np.ndarray, list[str]]:
    """Return the code of each value, −1 where missing, and the word of each code.

    Each distinct value is converted to a word once. Two values can have the same word.

    Examples
    --------
    >>> distinct_words(pd.Series([True, None, 1, True], dtype=object))
    (array([ 0, -1,  1,  0]), ['True', '1'])
    """
    raw_values = column.array
    if column.dtype == object:  # 1 and True are equal, but different words
        values = column.to_numpy(dtype=object, na_value=None)
        raw_values = np.array([None if value is None else str(value) for value in values], dtype=object)
    codes, values = pd.factorize(raw_values)
    return codes, [str(value) for value in values]


def learn_column(name: str, column: pd.Series) -> "NumberColumn | DateColumn | CategoryColumn":
    """Build the encoder of a column from the background's values."""
    if is_date_column(column):
        return DateColumn(name, column.dtype)
    if column.dtype.kind in "mcV" or isinstance(column.dtype, pd.IntervalDtype):
        raise InputError(
            f"column {name!r} is {column.dtype}; expected numbers, dates, strings, booleans or categories. "
            "Convert it first, for example durations into days as numbers."
        )
    missing = _missing_marker(column)
    if not is_category(column):
        holds_integers = (
            column.dtype.kind == "O" and pd.api.types.infer_dtype(column, skipna=True) == "integer"
        )
        return NumberColumn(name, column.dtype, missing, holds_integers)
    try:
        values = tuple(_sorted_values(column))
    except TypeError as error:
        raise _unhashable_error(name, error) from error
    return CategoryColumn(name, column.dtype, values, _lookup(values, column.dtype, missing))


@attrs.frozen(eq=False)
class NumberColumn:
    """A column whose codes are its values, NaN where one is missing."""

    name: str
    dtype: Any
    missing: Any  # the marker of a missing value in an object column
    holds_integers: bool  # an object column with ints only

    def encode(self, column: pd.Series, keep_unseen: bool) -> np.ndarray:
        """Return the values as float64."""
        if column.dtype.kind not in "iufb":
            self._check_numbers(column)
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))

    def decode(self, codes: np.ndarray) -> Any:
        """Return the values in the column's dtype, or as floats if the dtype cannot hold them."""
        is_plain, is_float = isinstance(self.dtype, np.dtype), self.dtype.kind == "f"
        if is_plain and is_float:
            return codes.astype(self.dtype)
        present = codes[~np.isnan(codes)]
        if self.dtype.kind == "O":
            return self._decode_objects(codes, present)
        fits = is_float or _fits(present, self.dtype)
        if not is_plain:
            return pd.Series(codes, dtype="Float64").astype(self.dtype if fits else "Float64").array
        return codes.astype(self.dtype if fits and len(present) == len(codes) else np.float64)

    def _decode_objects(self, codes: np.ndarray, present: np.ndarray) -> np.ndarray:
        values = codes.astype(object)
        is_missing = np.isnan(codes)
        if self.holds_integers and _fits(present, np.dtype(np.int64)):
            values[~is_missing] = present.astype(np.int64).astype(object)
        values[is_missing] = self.missing
        return values

    def _check_numbers(self, column: pd.Series) -> None:
        values = column.to_numpy(dtype=object)
        values = values[~pd.isna(values)]
        if pd.api.types.infer_dtype(values) not in _NUMBER_KINDS | {"boolean", "empty"}:
            example = next((value for value in values if isinstance(value, str)), values[0])
            raise InputError(
                f"column {self.name!r} has the value {example!r}; the background has only numbers there. "
                "Give it in the dtype of the background."
            )


@attrs.frozen(eq=False)
class DateColumn:
    """A column of dates whose codes are days since 1970, NaN where one is missing."""

    name: str
    dtype: Any

    def encode(self, column: pd.Series, keep_unseen: bool) -> np.ndarray:
        """Return the dates as days."""
        is_all_missing = column.dtype == object == self.dtype and column.isna().all()
        if not is_all_missing and not is_date_column(column):
            raise InputError(
                f"column {self.name!r} is {column.dtype}; the background has dates there ({self.dtype}). "
                "Give it in the dtype of the background."
            )
        return dates_to_days(pd.Series(column))

    def decode(self, codes: np.ndarray) -> Any:
        """Return the dates in the column's dtype."""
        return days_to_dates(codes, self.dtype)


@attrs.frozen(eq=False)
class CategoryColumn:
    """A column whose codes are the ranks 0..K−1 of its values; K is a missing, K + 1 an unseen value."""

    name: str
    dtype: Any
    values: tuple[Any, ...]
    lookup: Any  # the value of each code, in the column's dtype; the last two are missing

    def encode(self, column: pd.Series, keep_unseen: bool) -> np.ndarray:
        """Return the codes as float64."""
        try:
            positions, values = column.array.factorize()  # each distinct value is looked up once
        except TypeError as error:
            raise _unhashable_error(self.name, error) from error
        code_of = {value: code for code, value in enumerate(self.values)}
        missing, unseen = len(self.values), len(self.values) + 1
        codes = [code_of.get(value, unseen) for value in np.asarray(values, dtype=object)]
        if unseen in codes and not keep_unseen:
            value = values[codes.index(unseen)]
            raise InputError(
                f"column {self.name!r} has the value {value!r}, which the background does not have "
                f"(it has {join_few(map(repr, self.values))}). Give a background that has it, or drop the "
                "row."
            )
        codes_or_missing = np.array([*codes, missing], dtype=np.float64)
        return np.asarray(codes_or_missing[positions])  # position −1 is missing

    def decode(self, codes: np.ndarray) -> Any:
        """Return the values in the column's dtype; the codes K and K + 1 are missing values."""
        is_invalid = ~((codes >= 0) & (codes <= len(self.values) + 1) & (codes == np.floor(codes)))
        if is_invalid.any():
            raise InputError(
                f"column {self.name!r} has the code {codes[is_invalid.argmax()]}; "
                f"expected a whole number from 0 to {len(self.values) + 1}. Round and clip such codes."
            )
        values = self.lookup.take(codes.astype(np.intp))
        if self.dtype == np.dtype(bool) and not (codes >= len(self.values)).any():
            return values.astype(bool)
        return values


def _unhashable_error(name: str, error: TypeError) -> InputError:
    return InputError(
        f"column {name!r} has values that cannot be compared ({error}); "
        "expected numbers, strings, booleans or categories. Convert or drop it."
    )


def _fits(values: np.ndarray, dtype: Any) -> bool:
    """Return whether all values are whole numbers that an integer dtype can hold."""
    limits = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
    # float(2**63 − 1) is 2**63, which does not fit: hence the strict comparison with max + 1
    in_range = (values >= float(limits.min)) & (values < float(limits.max) + 1.0)
    return bool(np.all(in_range & (values == np.floor(values))))


def _missing_marker(column: pd.Series) -> Any:
    """Return the missing value in an object column: None, NaN or NA."""
    if column.dtype.kind != "O":
        return None
    is_missing = column.isna().to_numpy()
    return column.iloc[int(is_missing.argmax())] if is_missing.any() else np.nan


def _sorted_values(column: pd.Series) -> Sequence[Any]:
    """Return the distinct values, sorted; an ordered categorical dtype has its own order."""
    dtype = column.dtype
    if dtype.kind == "b" or (
        dtype.kind == "O" and pd.api.types.infer_dtype(column, skipna=True) == "boolean"
    ):
        return [False, True]  # both, even if the background has one only
    values = [value for value in column.unique() if not pd.isna(value)]
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        return sorted(values, key=dtype.categories.get_loc)
    try:
        return sorted(values)
    except TypeError:  # values of several types, such as numbers among strings
        return sorted(values, key=lambda value: (type(value).__name__, value))


def _lookup(values: Sequence[Any], dtype: Any, missing: Any) -> Any:
    if isinstance(dtype, np.dtype):
        table = np.empty(len(values) + 2, dtype=object)
        table[:] = [*values, missing, missing]
        return table
    return pd.array([*values, None, None], dtype=dtype)
