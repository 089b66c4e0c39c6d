"""Values as JSON, and the content of their arrays as bytes behind it: data only, and no pickle.

What is read back is trusted in nothing. The JSON tells an array's type and shape, and the bytes of arrays
follow in the order in which they are mentioned; so every size is held against the bytes that are left before
anything is made of it.
"""

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.measure.containers import unmasked
from faithkit.measure.rules import Rule
from faithkit.run.explaining.framing import Content

DEEPEST = 32  # of values within values: a level of them is up to four of JSON
KINDS = "biufcmMS"  # of NumPy's types: numbers, times and plain bytes
WIDEST = 2**20  # of an array without elements, whose shape no byte vouches for

# what explanations and the cells of a table are made of, beside text and numbers: how it is written, and read
_SCALARS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    Decimal: ("decimal", str, Decimal),
    dt.date: ("date", str, dt.date.fromisoformat),
    dt.datetime: ("datetime", str, dt.datetime.fromisoformat),
    dt.time: ("time", str, dt.time.fromisoformat),
    dt.timedelta: (
        "timedelta",
        lambda span: [span.days, span.seconds, span.microseconds],
        lambda parts: dt.timedelta(*parts),
    ),
    pd.Interval: (
        "interval",
        lambda span: [*np.array([span.left, span.right]).tolist(), span.closed],
        lambda parts: pd.Interval(*parts),
    ),
    pd.Period: ("period", lambda time: [str(time), time.freqstr], lambda parts: pd.Period(*parts)),
    pd.Timedelta: ("pandas timedelta", pd.Timedelta.isoformat, pd.Timedelta),
    pd.Timestamp: ("pandas timestamp", str, pd.Timestamp),
    type(pd.NA): ("NA", str, lambda _: pd.NA),
    type(pd.NaT): ("NaT", str, lambda _: pd.NaT),
}
_SCALAR_READERS = {tag: read for tag, _, read in _SCALARS.values()}


def pack(value: Any, blobs: list[bytes], depth: int = 0) -> Any:
    """Turn a value into JSON, and the arrays in it into bytes; tags say what plain JSON cannot.

    Examples
    --------
    >>> blobs = []
    >>> days = pack((1, np.array([2.5])), blobs)
    >>> unpack(days, Content(memoryview(b"".join(blobs))))
    (1, array([2.5]))
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if depth > DEEPEST:
        raise InputError(
            f"an explanation is nested more than {DEEPEST} deep, and cannot be stored: let the explainer "
            "give flatter values, or run without a store."
        )
    if isinstance(value, np.generic) and value.dtype.kind in "biufSU":
        return pack(value.item(), blobs, depth)
    if isinstance(value, np.ndarray):
        return _pack_array(unmasked(value, "values within an explanation"), blobs, depth)
    if isinstance(value, pd.DataFrame):
        return _pack_frame(value, blobs, depth)
    if isinstance(value, Rule):
        return {"rule": value.to_json()}
    if type(value) in _SCALARS:
        tag, write, _ = _SCALARS[type(value)]
        return {tag: write(value)}
    for kind in (tuple, frozenset, list):
        if isinstance(value, kind):
            return {kind.__name__: [pack(item, blobs, depth + 1) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: pack(item, blobs, depth + 1) for key, item in value.items()}}
    raise InputError(
        f"a {type(value).__name__} in an explanation cannot be stored: it is no number, text, tuple, Rule or "
        "array. Run without a store, or let the explainer give such values."
    )


def unpack(value: Any, content: Content) -> Any:
    """Turn JSON back into the value; anything that `pack` does not write raises an exception."""
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a list without a tag")
        return value
    ((tag, inner),) = value.items()
    if tag in _SCALAR_READERS:
        return _SCALAR_READERS[tag](inner)
    return _READERS[tag](inner, content)


def _pack_array(array: NDArray[Any], blobs: list[bytes], depth: int) -> Any:
    if array.dtype.kind in "OU":
        flat = array.astype(object).ravel()
        # many rows share a rule: each object is written once, and objects that are merely equal stay apart
        codes, _ = pd.factorize(np.fromiter(map(id, flat), dtype=np.int64, count=len(flat)))
        first = np.unique(codes, return_index=True)[1]
        table = [pack(flat[row], blobs, depth + 1) for row in first]
        return {"table": [table, pack(codes.astype(np.int64), blobs), list(array.shape)]}
    if array.dtype.kind not in KINDS or not array.dtype.itemsize or _is_too_wide(array.shape):
        raise InputError(
            f"an array of type {array.dtype} and shape {array.shape} in an explanation cannot be stored: run "
            "without a store, or let the explainer give numbers or text."
        )
    blobs.append(array.tobytes())
    return {"array": [array.dtype.str, list(array.shape)]}


def _is_too_wide(shape: tuple[int, ...]) -> bool:
    return 0 in shape and max(shape) > WIDEST


def _shape(given: Any) -> tuple[int, ...]:
    if not all(type(size) is int and size >= 0 for size in given) or _is_too_wide(tuple(given)):
        raise ValueError(f"no shape: {given!r:.60}")
    return tuple(given)


def _array(inner: Any, content: Content) -> NDArray[Any]:
    text, shape = inner[0], _shape(inner[1])
    dtype = np.dtype(text)
    if dtype.kind not in KINDS or dtype.str != text or not dtype.itemsize:
        raise ValueError(f"no type of numbers: {text!r:.60}")
    data = content.take(math.prod(shape) * dtype.itemsize)
    if dtype.kind == "b" and data.strip(b"\0\1"):
        raise ValueError("truth values other than 0 and 1")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


def _table(inner: Any, content: Content) -> NDArray[Any]:
    table = np.fromiter((unpack(item, content) for item in inner[0]), dtype=object)
    codes, shape = _array_of(unpack(inner[1], content), "i"), _shape(inner[2])
    if codes.size != math.prod(shape) or ((codes < 0) | (codes >= len(table))).any():
        raise ValueError("codes of values that are not there")
    return table[codes].reshape(shape)


def _array_of(given: Any, kind: str) -> NDArray[Any]:
    if not isinstance(given, np.ndarray) or given.dtype.kind != kind or given.ndim != 1:
        raise ValueError(f"no column of type {kind!r}: {given!r:.60}")
    return given


def _pack_frame(frame: pd.DataFrame, blobs: list[bytes], depth: int) -> Any:
    columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
    names = _pack_column(pd.Series(frame.columns), blobs, depth)
    return {"frame": [len(frame), names, [_pack_column(column, blobs, depth) for column in columns]]}


def _pack_column(column: "pd.Series[Any]", blobs: list[bytes], depth: int) -> Any:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = pack(column.cat.codes.to_numpy(), blobs)
        categories = _pack_column(pd.Series(dtype.categories), blobs, depth)
        return {"category": [codes, categories, bool(dtype.ordered)]}
    if isinstance(dtype, np.dtype):
        return pack(column.to_numpy(), blobs, depth + 1)
    cells = column.to_numpy(dtype=object, na_value=None)
    try:
        exact = _extension(cells, str(dtype)).equals(column.reset_index(drop=True))
    except (TypeError, ValueError):
        exact = False
    if not exact:
        raise InputError(
            f"a column of type {dtype} in an explanation cannot be stored: convert it, or run without a "
            "store."
        )
    return {"column": [str(dtype), pack(cells, blobs, depth + 1)]}


def _extension(cells: NDArray[Any], dtype: str) -> "pd.Series[Any]":
    """Give cells one of pandas' own types."""
    return pd.Series(pd.array(list(cells), dtype=dtype))


def _frame(inner: Any, content: Content) -> pd.DataFrame:
    (n,), names = _shape([inner[0]]), _series(inner[1], content)
    columns = {j: _series(column, content) for j, column in enumerate(inner[2])}
    if any(len(column) != n for column in columns.values()) or (not columns and n > WIDEST):
        raise ValueError("columns of other lengths than their table")
    frame = pd.DataFrame(columns, index=range(n))
    are_tuples = len(names) > 0 and all(isinstance(name, tuple) for name in names)
    frame.columns = pd.MultiIndex.from_tuples(names) if are_tuples else pd.Index(names)
    return frame


def _series(value: Any, content: Content) -> "pd.Series[Any]":
    """Read a column; pandas would make text of objects that happen to be texts."""
    read = unpack(value, content)
    if not isinstance(read, pd.Series | np.ndarray):
        raise ValueError("a column is expected")
    return pd.Series(read, dtype=read.dtype)


def _category(inner: Any, content: Content) -> "pd.Series[Any]":
    codes = _array_of(unpack(inner[0], content), "i")
    categories = pd.Index(_series(inner[1], content))
    return pd.Series(pd.Categorical.from_codes(codes, categories, ordered=inner[2] is True))


def _column(inner: Any, content: Content) -> "pd.Series[Any]":
    if "dateutil" in inner[0]:  # whose zones are files, by any path
        raise ValueError("a time zone that is a file")
    return _extension(unpack(inner[1], content), str(inner[0]))


_READERS: dict[str, Callable[[Any, Content], Any]] = {
    "array": _array,
    "table": _table,
    "frame": _frame,
    "category": _category,
    "column": _column,
    "rule": lambda inner, content: Rule.from_json(_list(inner)),
    "tuple": lambda inner, content: tuple(_items(inner, content)),
    "frozenset": lambda inner, content: frozenset(_items(inner, content)),
    "list": lambda inner, content: _items(inner, content),
    "dict": lambda inner, content: {key: unpack(item, content) for key, item in inner.items()},
}


def _list(inner: Any) -> list[Any]:
    if not isinstance(inner, list):
        raise ValueError("a list is expected")
    return inner


def _items(inner: Any, content: Content) -> list[Any]:
    return [unpack(item, content) for item in _list(inner)]
