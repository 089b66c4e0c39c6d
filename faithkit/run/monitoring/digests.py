"""Names of explanations that are kept instead of them: 128 bits of what equality compares.

Equal explanations have equal digests, in every process, on every machine and in whatever type a file has its
numbers: 1 is 1.0. Different ones have different digests but for an accident of one in 2**128.
"""

import datetime as dt
import hashlib
import math
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.inputs.seeds import cell_words
from faithkit.measure.containers import as_objects
from faithkit.measure.explanations import Explanations, object_array

SIZE = 16  # bytes
_WRITTEN = (bytes, dt.datetime, dt.date, dt.time, dt.timedelta, pd.Period, pd.Interval)


def digests(identities: Any) -> list[bytes]:
    """Return a digest for every row of what equality compares.

    Parameters
    ----------
    identities : array, DataFrame, sequence of hashables, or tuple of such parts
        As `faithkit.measure.grouping.group` takes them.

    Examples
    --------
    >>> one, two = digests(np.array([[1, 2], [3, 4]])), digests(np.array([[3.0, 4.0], [-0.0, np.nan]]))
    >>> one[1] == two[0], len(set(one + two)), len(one[0])
    (True, 3, 16)
    """
    return [_digest(b"".join(cells)) for cells in zip(*map(_cells, _columns(identities)), strict=True)]


def form(explanations: Explanations) -> dict[str, Any]:
    """Return what two logs must have in common for their explanations to be comparable.

    The names of columns; the width of floats, as 0.1 in single precision is another number than in double;
    and the type of dates and times, as neither equals its text.

    Examples
    --------
    >>> form(Explanations.vectors(np.zeros((2, 2), dtype=np.float32)))
    {'kind': 'vector', 'columns': None, 'identity': ['float32', 'float32']}
    """
    columns = _columns(explanations.identities)
    names = explanations.shared.get("names")
    return {"kind": explanations.kind, "columns": names, "identity": [_type(column) for column in columns]}


def _columns(identities: Any) -> list[Any]:
    """Return the columns, each an array or a Series."""
    if isinstance(identities, tuple):
        return [column for part in identities for column in _columns(part)]
    if isinstance(identities, np.ndarray) and identities.ndim == 2:
        return [pd.Series(identities[:, j]) for j in range(identities.shape[1])]
    if isinstance(identities, pd.DataFrame):
        return [identities.iloc[:, j] for j in range(identities.shape[1])]
    if isinstance(identities, np.ndarray) and identities.dtype != object:
        return [pd.Series(identities)]
    return [object_array(identities)]


def _type(column: Any) -> str:
    if _is_numeric(column):
        narrow = column.dtype.kind == "f" and column.dtype.itemsize < 8
        return str(column.dtype) if narrow else "number"
    types = (_time_type(cell) for cell in _objects(column) if cell is not None and cell is not pd.NaT)
    first = next(types, "value")
    return first if first == "value" or all(other == first for other in types) else "value"


def _is_numeric(column: Any) -> bool:
    return column.dtype.kind in "biuf" and not isinstance(column.dtype, pd.CategoricalDtype)


def _time_type(cell: Any) -> str:
    """Name the type of a date or a time; anything else is a "value"."""
    if isinstance(cell, dt.datetime):
        return "datetime" if cell.tzinfo is None else "datetime with time zone"
    types = (dt.date, dt.time, dt.timedelta)
    return next((kind.__name__ for kind in types if isinstance(cell, kind)), "value")


def _objects(column: Any) -> Any:
    return column if isinstance(column, np.ndarray) else as_objects(column)


def _cells(column: Any) -> Iterable[bytes]:
    """Return every cell as bytes: a number or a datetime as one word, others as the digest of their text."""
    if not _is_numeric(column) and column.dtype.kind != "M":
        return [_digest(_text(cell)) for cell in _objects(column)]
    words = cell_words(column).astype("<u8").tobytes()
    return [words[start : start + 8] for start in range(0, len(words), 8)]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=SIZE).digest()


def _text(value: Any) -> bytes:
    """Write a value down: equal ones alike, different ones not."""
    if isinstance(value, str):
        return b"s" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, np.generic):
        return _text(value.item())
    if isinstance(value, numbers.Real | Decimal):
        return b"n" + _number(value).encode()
    if isinstance(value, tuple):
        return _joined(b"t", map(_text, value))
    if isinstance(value, frozenset):
        return _joined(b"f", sorted(map(_text, value)))
    if attrs.has(type(value)):
        fields = (getattr(value, field.name) for field in attrs.fields(type(value)) if field.eq)
        return _joined(b"a" + type(value).__qualname__.encode() + b":", map(_text, fields))
    if value is None:
        return b"-"
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC)
    for kind in _WRITTEN:  # equal ones have one text
        if isinstance(value, kind):
            return b"w" + f"{kind.__name__} {value!s}".encode()
    raise InputError(
        f"an explanation is or holds a {type(value).__name__}, which has no name to be kept by: give "
        "numbers, texts, tuples or rules."
    )


def _joined(kind: bytes, parts: Iterable[bytes]) -> bytes:
    """Put parts together such that nobody can take them for others: each with its length in front."""
    return kind + b"".join(b"%d:%b" % (len(part), part) for part in parts)


def _number(value: Any) -> str:
    if value != value:
        return "nan"
    return str(float(value)) if math.isinf(value) else "{}/{}".format(*value.as_integer_ratio())
