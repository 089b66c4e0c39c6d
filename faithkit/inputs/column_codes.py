"""One column and its codes: how numbers, dates and categories become float64 and come back.

The Encoder is a list of these. A column holds numbers, dates or categories, and remembers the dtype in
which its values came, because a model is owed what it was trained on: strings as strings, ints as ints.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.dates import dates_of, days_of, holds_dates
from faithkit.wording import few

_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal"}


def is_category(column: Any) -> bool:
    """Whether a column holds categories (strings, booleans, a categorical dtype): no numbers and no dates."""
    if holds_dates(column):
        return False
    if column.dtype.kind == "O" and not isinstance(column.dtype, pd.CategoricalDtype):
        return pd.api.types.infer_dtype(column, skipna=True) not in _NUMBERS
    return column.dtype.kind not in "iuf"


def distinct_words(column: Any) -> tuple[np.ndarray, list[str]]:
    """Return the place of every cell among the values of a column, −1 where missing, and these as words.

    A value is written once, however many cells hold it. Two values can be written alike.

    Examples
    --------
    >>> distinct_words(pd.Series([True, None, 1, True], dtype=object))
    (array([ 0, -1,  1,  0]), ['True', '1'])
    """
    cells = column.array
    if column.dtype == object:  # may hold 1 and True, which are equal and not the same word
        values = column.to_numpy(dtype=object, na_value=None)
        cells = np.array([None if value is None else str(value) for value in values], dtype=object)
    place, values = pd.factorize(cells)
    return place, [str(value) for value in values]


def learn_column(name: str, column: Any) -> "NumberColumn | DateColumn | CategoryColumn":
    """Learn from a column of the background how to encode and decode it."""
    if holds_dates(column):
        return DateColumn(name, column.dtype)
    if column.dtype.kind in "mcV" or isinstance(column.dtype, pd.IntervalDtype):
        raise InputError(
            f"column {name!r} is {column.dtype}; expected numbers, dates, strings, booleans or categories. "
            "Convert it first, for example durations into days as numbers."
        )
    missing = _missing_marker(column)
    if not is_category(column):
        whole = column.dtype.kind == "O" and pd.api.types.infer_dtype(column, skipna=True) == "integer"
        return NumberColumn(name, column.dtype, missing, whole)
    try:
        values = tuple(_sorted_values(column))
    except TypeError as error:
        raise _untellable(name, error) from error
    return CategoryColumn(name, column.dtype, values, _lookup(values, column.dtype, missing))


@attrs.frozen(eq=False)
class NumberColumn:
    """A column whose codes are its own values, NaN where one is missing."""

    name: str
    dtype: Any
    missing: Any
    whole: bool  # an object column that held ints only

    def encode(self, column: Any, keep_unseen: bool) -> np.ndarray:
        """Return the values as float64."""
        if column.dtype.kind not in "iufb":
            self._check_numbers(column)
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def decode(self, codes: np.ndarray) -> Any:
        """Return the values in the column's dtype, or as floats where it has no room for them."""
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
        missing = np.isnan(codes)
        if self.whole and _fits(present, np.dtype(np.int64)):
            values[~missing] = present.astype(np.int64).astype(object)
        values[missing] = self.missing
        return values

    def _check_numbers(self, column: Any) -> None:
        values = column.to_numpy(dtype=object)
        values = values[~pd.isna(values)]
        if pd.api.types.infer_dtype(values) not in _NUMBERS | {"boolean", "empty"}:
            strange = next((value for value in values if isinstance(value, str)), values[0])
            raise InputError(
                f"column {self.name!r} has the value {strange!r}; the background has only numbers there. "
                "Give it in the dtype of the background."
            )


@attrs.frozen(eq=False)
class DateColumn:
    """A column of dates whose codes are days since 1970, NaN where one is missing."""

    name: str
    dtype: Any

    def encode(self, column: Any, keep_unseen: bool) -> np.ndarray:
        """Return the dates as days."""
        is_missing = column.dtype == object == self.dtype and column.isna().all()
        if not is_missing and not holds_dates(column):
            raise InputError(
                f"column {self.name!r} is {column.dtype}; the background has dates there ({self.dtype}). "
                "Give it in the dtype of the background."
            )
        return days_of(pd.Series(column))

    def decode(self, codes: np.ndarray) -> Any:
        """Return the dates in the column's dtype."""
        return dates_of(codes, self.dtype)


@attrs.frozen(eq=False)
class CategoryColumn:
    """A column whose codes are the ranks 0..K−1 of its values; K is missing, K + 1 a value never seen."""

    name: str
    dtype: Any
    values: tuple[Any, ...]
    lookup: Any  # the values and twice a missing one, in the column's dtype: decoding is one take

    def encode(self, column: Any, keep_unseen: bool) -> np.ndarray:
        """Return the codes as float64."""
        try:
            place, found = column.array.factorize()  # a value is looked up once, however many cells hold it
        except TypeError as error:
            raise _untellable(self.name, error) from error
        known = {value: code for code, value in enumerate(self.values)}
        missing, unseen = len(self.values), len(self.values) + 1
        codes = [known.get(value, unseen) for value in np.asarray(found, dtype=object)]
        if unseen in codes and not keep_unseen:
            value = found[codes.index(unseen)]
            raise InputError(
                f"column {self.name!r} has the value {value!r}, which the background does not have "
                f"(it has {few(map(repr, self.values))}). Give a background that has it, or drop the row."
            )
        return np.array([*codes, missing], dtype=np.float64)[place]  # a missing cell has the place −1

    def decode(self, codes: np.ndarray) -> Any:
        """Return the values in the column's dtype; the codes K and K + 1 are missing values."""
        wrong = ~((codes >= 0) & (codes <= len(self.values) + 1) & (codes == np.floor(codes)))
        if wrong.any():
            raise InputError(
                f"column {self.name!r} has the code {codes[wrong.argmax()]}; "
                f"expected a whole number from 0 to {len(self.values) + 1}. Round and clip such codes."
            )
        cells = self.lookup.take(codes.astype(np.intp))
        if self.dtype == np.dtype(bool) and not (codes >= len(self.values)).any():
            return cells.astype(bool)
        return cells


def _untellable(name: str, error: TypeError) -> InputError:
    return InputError(
        f"column {name!r} has cells that cannot be told apart ({error}); "
        "expected numbers, strings, booleans or categories. Convert or drop it."
    )


def _fits(values: np.ndarray, dtype: Any) -> bool:
    """Whether all values are whole numbers that an integer dtype can hold."""
    limits = np.iinfo(getattr(dtype, "numpy_dtype", dtype))
    # float(2**63 − 1) is 2**63, which is out: hence the strict comparison with max + 1
    in_range = (values >= float(limits.min)) & (values < float(limits.max) + 1.0)
    return bool(np.all(in_range & (values == np.floor(values))))


def _missing_marker(column: Any) -> Any:
    """Return what an object column writes for a missing value: None, NaN or NA."""
    if column.dtype.kind != "O":
        return None
    missing = column.isna().to_numpy()
    return column.iloc[int(missing.argmax())] if missing.any() else np.nan


def _sorted_values(column: Any) -> Sequence[Any]:
    """Return the values that occur, sorted; an ordered categorical dtype sorts them its own way."""
    dtype = column.dtype
    if dtype.kind == "b" or (
        dtype.kind == "O" and pd.api.types.infer_dtype(column, skipna=True) == "boolean"
    ):
        return [False, True]  # both are known even where the background has one
    values = [value for value in column.unique() if not pd.isna(value)]
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        return sorted(values, key=dtype.categories.get_loc)
    try:
        return sorted(values)
    except TypeError:  # of several types: numbers among strings
        return sorted(values, key=lambda value: (type(value).__name__, value))


def _lookup(values: Sequence[Any], dtype: Any, missing: Any) -> Any:
    if isinstance(dtype, np.dtype):
        table = np.empty(len(values) + 2, dtype=object)
        table[:] = [*values, missing, missing]
        return table
    return pd.array([*values, None, None], dtype=dtype)
