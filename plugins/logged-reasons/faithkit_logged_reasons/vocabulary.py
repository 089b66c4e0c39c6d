"""The vocabulary of rules in text form: the columns of a table, their names and their values."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd
from pandas.api.types import is_hashable

from faithkit.plugin import Interval
from faithkit_logged_reasons.dates import get_zone, is_date_column

_NUMERIC_KINDS = ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")
_BOOLEANS = {"True": True, "False": False, "true": True, "false": False}


@attrs.frozen
class Column:
    """A column that conditions may name.

    Attributes
    ----------
    name : str or int
    is_numeric : bool
        Whether it can be compared with numbers, or with dates.
    values_by_text : dict
        Its values, by their text without surrounding spaces.
    has_dates : bool
    zone : str
        The time zone of its dates.
    """

    name: str | int
    is_numeric: bool
    values_by_text: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict)
    has_dates: bool = False
    zone: str = ""

    @classmethod
    def of(cls, name: str | int, values: pd.Series) -> "Column | None":
        """Build from the values of a column; None if no condition can compare them."""
        if isinstance(values.dtype, pd.CategoricalDtype):
            values = pd.Series(values.cat.categories)
        kind = values.dtype.kind
        inferred = pd.api.types.infer_dtype(values, skipna=True) if kind == "O" else ""
        if kind == "b" or inferred == "boolean":
            return cls(name, True, {text: (boolean,) for text, boolean in _BOOLEANS.items()})
        if kind in "iuf" or inferred in _NUMERIC_KINDS:
            return cls(name, True)
        if is_date_column(values):
            return cls(name, True, has_dates=True, zone=get_zone(values.dtype))
        if kind in "mc":
            return None
        present = values.dropna()
        distinct = present.unique() if inferred == "string" else filter(is_hashable, present)
        return cls(name, False, _group_by_text(distinct))

    def interval(self, low: float = -math.inf, high: float = math.inf, missing: bool = False) -> Interval:
        """Return the condition that a value lies in (low, high]."""
        return Interval(self.name, low, high, missing=missing, dates=self.has_dates, zone=self.zone)

    def union(self, other: "Column") -> "Column":
        """Merge the values of two parts of one column; one of the parts may be empty."""
        known = self.values_by_text
        additions = {
            text: values for text, values in other.values_by_text.items() if known.get(text) != values
        }
        if not additions and self.is_numeric == other.is_numeric:
            return self
        merged = {
            text: tuple(dict.fromkeys((*known.get(text, ()), *values))) for text, values in additions.items()
        }
        # a column of dates has no values by text and is numeric, so it does not come here with another one
        return Column(self.name, self.is_numeric and other.is_numeric, {**known, **merged})


def _group_by_text(values: Iterable[Any]) -> dict[str, tuple[Any, ...]]:
    values_by_text: dict[str, dict[Any, None]] = {}
    for value in values:
        values_by_text.setdefault(str(value).strip(), {})[value] = None
    return {text: tuple(values) for text, values in values_by_text.items()}


@attrs.frozen
class Vocabulary:
    """The columns that conditions may name; `is_text` if the rows are texts and conditions are about words.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [31, 45], "age group": ["young", "old"]})
    >>> [(column.name, rest) for column, rest in Vocabulary.of(X).match_columns("age group = old")]
    [('age group', ' = old'), ('age', ' group = old')]
    """

    columns: Mapping[str, Column]
    is_text: bool = False
    name_lengths: tuple[int, ...] = attrs.field(
        default=attrs.Factory(
            lambda self: tuple(sorted({len(name) for name in self.columns}, reverse=True)), takes_self=True
        )
    )

    @classmethod
    def of(cls, X: Any) -> "Vocabulary":
        """Build from a table; the columns of an array are named x0 or 0, as in other libraries."""
        if isinstance(X, list):
            return cls({}, is_text=True)
        if X.ndim > 2:  # images and the like have no columns
            return cls({})
        if isinstance(X, pd.DataFrame):
            columns_by_name = {str(name): Column.of(name, column_values) for name, column_values in X.items()}
        else:
            has_texts = X.dtype.kind in "OUS"
            column_values = (X[:, j] if has_texts else np.empty(0, X.dtype) for j in range(X.shape[1]))
            columns = [Column.of(j, pd.Series(values)) for j, values in enumerate(column_values)]
            columns_by_name = {f"{x}{j}": column for x in ("x", "") for j, column in enumerate(columns)}
        return cls({name: column for name, column in columns_by_name.items() if column is not None and name})

    def match_columns(self, text: str) -> Iterator[tuple[Column, str]]:
        """Yield the columns whose names a text starts with, longest first, and the rest of the text."""
        for length in self.name_lengths:
            column = self.columns.get(text[:length])
            if column is not None and len(text) >= length:
                yield column, text[length:]

    def union(self, other: "Vocabulary") -> "Vocabulary":
        """Merge the vocabularies of two parts of one table."""
        columns = {name: column.union(other.columns[name]) for name, column in self.columns.items()}
        return attrs.evolve(self, columns=columns)
