"""Hash explanations by content, to put them in an order that depends on nothing else.

Equal rows have equal 64-bit words in every process and in any order of the rows. Different rows almost always
have different words; a collision only affects the order of the two rows.
"""

import hashlib
import numbers
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import as_objects, n_rows
from faithkit.arrays.grouping import equality_words, hash_rows

Words = NDArray[np.uint64]

_INHERITED_REPR: Any = object.__repr__  # which shows an address


def content_words(rows: Any) -> Words:
    """Return a 64-bit content hash for every row.

    Parameters
    ----------
    rows : array, DataFrame, sequence of hashables, or tuple of such parts
        Rows as `group` accepts them.

    Examples
    --------
    >>> hashes = content_words([("age", 1), frozenset("ab")])
    >>> reordered = content_words([frozenset("ba"), ("age", 1.0)])
    >>> hashes.tolist() == reordered[::-1].tolist(), bool(hashes[0] == hashes[1])
    (True, False)
    """
    if isinstance(rows, tuple):
        return _hash_columns([content_words(part) for part in rows], n_rows(rows))
    if isinstance(rows, pd.DataFrame):
        return _hash_columns([_column_words(rows.iloc[:, j]) for j in range(rows.shape[1])], len(rows))
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "biufM":
        return hash_rows(equality_words(rows[:, None] if rows.ndim == 1 else rows))
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return content_words(pd.DataFrame(rows))
    return _value_words(rows)


def _hash_columns(columns: list[Words], n: int) -> Words:
    return hash_rows(np.column_stack(columns)) if columns else np.zeros(n, dtype=np.uint64)


def _column_words(column: "pd.Series[Any]") -> Words:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM":
        return equality_words(column.to_numpy())
    return _value_words(as_objects(column))


def _value_words(values: Any) -> Words:
    texts = [_canonical_text(value).encode("utf-8", "surrogatepass") for value in values]
    digests = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _canonical_text(value: Any) -> str:
    """Return a text that equal values share; an object with the default `repr` has an empty text."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, numbers.Number | np.generic):
        return "nan" if value != value else str(hash(value))  # 1, 1.0 and True share it
    if isinstance(value, tuple):
        return f"({','.join(map(_canonical_text, value))})"
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_canonical_text, value)))}}}"
    if attrs.has(type(value)):
        fields = (getattr(value, field.name) for field in attrs.fields(type(value)) if field.eq)
        return type(value).__qualname__ + _canonical_text(tuple(fields))
    return "" if type(value).__repr__ is _INHERITED_REPR else repr(value)
