"""What conditions can be about: the columns of a table by the names that texts give them, and their words."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs
import numpy as np
import pandas as pd
from pandas.api.types import is_hashable

from faithkit.explanations.dates import holds_dates, zone_of

_TRUTHS = {"True": True, "False": False, "true": True, "false": False}
_NUMBERS = ("integer", "floating", "mixed-integer-float", "empty")


@attrs.frozen
class Column:
    """A column of a table: whether it can be compared with numbers or dates, and which words occur in it."""

    name: str | int
    numbers: bool
    words: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict)  # by what they are without spaces around
    dates: bool = False
    zone: str = ""  # of dates

    @classmethod
    def of(cls, name: str | int, cells: pd.Series) -> "Column | None":
        """Look at the cells; None where no condition could be about them."""
        if isinstance(cells.dtype, pd.CategoricalDtype):
            cells = pd.Series(cells.cat.categories)
        kind = cells.dtype.kind
        inferred = pd.api.types.infer_dtype(cells, skipna=True) if kind == "O" else ""
        if kind in "iuf" or inferred in _NUMBERS:
            return cls(name, True)
        if kind == "b" or inferred == "boolean":
            return cls(name, True, {word: (truth,) for word, truth in _TRUTHS.items()})
        if holds_dates(cells):
            return cls(name, True, dates=True, zone=zone_of(cells.dtype))
        if kind in "mc":
            return None
        there = cells.dropna()
        return cls(
            name, False, _words(there.unique() if inferred == "string" else filter(is_hashable, there))
        )

    def united(self, other: "Column") -> "Column":
        """Return the column with the words of another part of it, too; one of the parts may be empty."""
        new = {word: values for word, values in other.words.items() if self.words.get(word) != values}
        if not new and self.numbers == other.numbers:
            return self
        both = {
            word: tuple(dict.fromkeys((*self.words.get(word, ()), *values))) for word, values in new.items()
        }
        is_number = self.numbers and other.numbers
        zone = self.zone if self.zone == other.zone else ""
        return Column(self.name, is_number, {**self.words, **both}, self.dates and other.dates, zone)


def _words(values: Iterable[Any]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, dict[Any, None]] = {}
    for value in values:
        found.setdefault(str(value).strip(), {})[value] = None
    return {word: tuple(values) for word, values in found.items()}


@attrs.frozen
class Vocabulary:
    """The columns that conditions may name; of texts instead, the words that they may contain.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [31, 45], "age group": ["young", "old"]})
    >>> [(column.name, rest) for column, rest in Vocabulary.of(X).leading("age group = old")]
    [('age group', ' = old'), ('age', ' group = old')]
    """

    columns: Mapping[str, Column]
    texts: bool = False
    lengths: tuple[int, ...] = attrs.field(
        default=attrs.Factory(
            lambda self: tuple(sorted({len(name) for name in self.columns}, reverse=True)), takes_self=True
        )
    )

    @classmethod
    def of(cls, X: Any) -> "Vocabulary":
        """Look at a table; the columns of an array are called x0 or 0, as libraries do."""
        if isinstance(X, list):
            return cls({}, texts=True)
        if X.ndim > 2:  # its rows are no rows of columns
            return cls({})
        if isinstance(X, pd.DataFrame):
            found = {str(name): Column.of(name, cells) for name, cells in X.items()}
        else:
            worded = X.dtype.kind in "OUS"
            cells = (X[:, j] if worded else np.empty(0, X.dtype) for j in range(X.shape[1]))
            columns = [Column.of(j, pd.Series(one)) for j, one in enumerate(cells)]
            found = {f"{x}{j}": column for x in ("x", "") for j, column in enumerate(columns)}
        return cls({name: column for name, column in found.items() if column is not None and name})

    def leading(self, text: str) -> Iterator[tuple[Column, str]]:
        """Yield the columns whose name a text begins with, the longest first, and the rest of the text."""
        for length in self.lengths:
            column = self.columns.get(text[:length])
            if column is not None and len(text) >= length:
                yield column, text[length:]

    def united(self, other: "Vocabulary") -> "Vocabulary":
        """Return the words of two parts of one table."""
        pairs = {name: column.united(other.columns[name]) for name, column in self.columns.items()}
        return attrs.evolve(self, columns=pairs)
