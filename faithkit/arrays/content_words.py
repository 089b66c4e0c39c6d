"""A word for what explanations contain, so that they can be put in an order that nothing else decides.

Equal rows have equal words, in every process and whatever the order of the rows. Different rows have other
words but for an accident, and all that it costs is the order of the two.
"""

import hashlib
import numbers
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import as_objects, n_rows
from faithkit.arrays.grouping import mix, words
from faithkit.foreign import foreign

Words = NDArray[np.uint64]


def content_words(rows: Any) -> Words:
    """Return a word for every row of what a relation reads.

    Parameters
    ----------
    rows : array, DataFrame, sequence of hashables, or tuple of such parts
        As `group` takes them.

    Examples
    --------
    >>> here = content_words([("age", 1), frozenset("ab")])
    >>> there = content_words([frozenset("ba"), ("age", 1.0)])
    >>> here.tolist() == there[::-1].tolist(), bool(here[0] == here[1])
    (True, False)
    """
    if isinstance(rows, tuple):
        return _mixed([content_words(part) for part in rows], n_rows(rows))
    if isinstance(rows, pd.DataFrame):
        return _mixed([_column(rows.iloc[:, j]) for j in range(rows.shape[1])], len(rows))
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "biufM":
        return mix(words(rows[:, None] if rows.ndim == 1 else rows))
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return content_words(pd.DataFrame(rows))
    return _value_words(rows)


def _mixed(columns: list[Words], n: int) -> Words:
    return mix(np.column_stack(columns)) if columns else np.zeros(n, dtype=np.uint64)


def _column(column: "pd.Series[Any]") -> Words:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM":
        return words(column.to_numpy())
    return _value_words(as_objects(column))


def _value_words(values: Any) -> Words:
    with foreign("an explanation", "Give values whose own methods do not fail."):
        texts = [_text(value).encode("utf-8", "surrogatepass") for value in values]
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _text(value: Any) -> str:
    """Write a value down, equal ones alike; an object that says nothing about itself has no text."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, numbers.Number | np.generic):
        return "nan" if value != value else str(hash(value))  # which 1, 1.0 and True share
    if isinstance(value, tuple):
        return f"({','.join(map(_text, value))})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_text, value)))}}}"
    if attrs.has(type(value)):
        fields = (getattr(value, field.name) for field in attrs.fields(type(value)) if field.eq)
        return type(value).__qualname__ + _text(tuple(fields))
    return "" if type(value).__repr__ is object.__repr__ else repr(value)
