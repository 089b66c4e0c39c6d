"""Serialise values as JSON and a list of arrays, without pickle."""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import strip_mask
from faithkit.errors import InputError
from faithkit.explanations.rules import Rule

Arrays = Sequence[NDArray[Any]]

# scalar types other than text and numbers: their tag, how to write and how to read them
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


def pack(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Convert a value to JSON, and append its arrays to `arrays`.

    Types that JSON does not have become an object with one key, the type's tag.

    Examples
    --------
    >>> arrays = []
    >>> pack((1, np.array([2.5])), arrays)
    {'tuple': [1, {'array': 0}]}
    >>> unpack({'tuple': [1, {'array': 0}]}, arrays)
    (1, array([2.5]))
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biufSU":
        return pack(value.item(), arrays)
    if isinstance(value, np.ndarray):
        return _pack_array(strip_mask(value, "values within an explanation"), arrays)
    if isinstance(value, pd.DataFrame):
        columns = [_pack_column(value.iloc[:, j], arrays) for j in range(value.shape[1])]
        return {"frame": [len(value), _pack_column(pd.Series(value.columns), arrays), columns]}
    if isinstance(value, Rule):
        return {"rule": value.to_json()}
    if type(value) in _SCALARS:
        tag, write, _ = _SCALARS[type(value)]
        return {tag: write(value)}
    for kind in (tuple, frozenset, list):
        if isinstance(value, kind):
            return {kind.__name__: [pack(item, arrays) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: pack(item, arrays) for key, item in value.items()}}
    raise InputError(
        f"a {type(value).__name__} in an explanation cannot be stored: it is no number, text, tuple, Rule or "
        "array. Run without a store, or let the explainer give such values."
    )


def unpack(value: Any, arrays: Arrays) -> Any:
    """Convert the output of `pack` back to the value."""
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag in _SCALAR_READERS:
        return _SCALAR_READERS[tag](content)
    return _READERS[tag](content, arrays)


def _pack_array(array: NDArray[Any], arrays: list[NDArray[Any]]) -> Any:
    if array.dtype.kind == "O":
        values = array.ravel()
        # many rows share a rule: each object is written once; equal but distinct objects stay distinct
        codes, _ = pd.factorize(np.fromiter(map(id, values), dtype=np.int64, count=len(values)))
        first_places = np.unique(codes, return_index=True)[1]
        distinct = [pack(values[place], arrays) for place in first_places]
        return {"table": [distinct, pack(codes.astype(np.int64), arrays), list(array.shape)]}
    if array.dtype.hasobject:
        raise InputError(
            f"an array of type {array.dtype} in an explanation cannot be stored: run without a store, or let "
            "the explainer give numbers or text."
        )
    arrays.append(array)
    return {"array": len(arrays) - 1}


def _unpack_objects(content: Any, arrays: Arrays) -> NDArray[Any]:
    items, codes, shape = content
    distinct = np.fromiter((unpack(item, arrays) for item in items), dtype=object)
    return np.asarray(distinct[unpack(codes, arrays)].reshape(shape))


def _pack_column(column: "pd.Series[Any]", arrays: list[NDArray[Any]]) -> Any:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = pack(column.cat.codes.to_numpy(), arrays)
        return {"category": [codes, _pack_column(pd.Series(dtype.categories), arrays), bool(dtype.ordered)]}
    if isinstance(dtype, np.dtype):
        return pack(column.to_numpy(), arrays)
    values = column.to_numpy(dtype=object, na_value=None)
    try:
        is_exact = _extension_column(values, str(dtype)).equals(column.reset_index(drop=True))
    except (TypeError, ValueError):
        is_exact = False
    if not is_exact:
        raise InputError(
            f"a column of type {dtype} in an explanation cannot be stored: convert it, or run without a "
            "store."
        )
    return {"column": [str(dtype), pack(values, arrays)]}


def _extension_column(values: NDArray[Any], dtype: str) -> "pd.Series[Any]":
    """Return a column of one of pandas' extension types."""
    return pd.Series(pd.array(list(values), dtype=dtype))


def _unpack_frame(content: Any, arrays: Arrays) -> pd.DataFrame:
    n, packed_names, packed_columns = content
    names = _unpack_column(packed_names, arrays)
    columns = {j: _unpack_column(column, arrays) for j, column in enumerate(packed_columns)}
    frame = pd.DataFrame(columns, index=range(n))
    are_tuples = len(names) > 0 and all(isinstance(name, tuple) for name in names)
    frame.columns = pd.MultiIndex.from_tuples(names) if are_tuples else pd.Index(names)
    return frame


def _unpack_column(packed: Any, arrays: Arrays) -> "pd.Series[Any]":
    """Return a column with its dtype; pandas alone would convert objects that are all texts."""
    column = unpack(packed, arrays)
    return pd.Series(column, dtype=column.dtype)


def _unpack_categories(content: Any, arrays: Arrays) -> "pd.Series[Any]":
    codes, packed_categories, is_ordered = content
    categories = pd.Index(_unpack_column(packed_categories, arrays))
    return pd.Series(pd.Categorical.from_codes(unpack(codes, arrays), categories, ordered=is_ordered))


_READERS: dict[str, Callable[[Any, Arrays], Any]] = {
    "array": lambda number, arrays: arrays[number],
    "table": _unpack_objects,
    "frame": _unpack_frame,
    "category": _unpack_categories,
    "column": lambda content, arrays: _extension_column(unpack(content[1], arrays), content[0]),
    "rule": lambda rule, _: Rule.from_json(rule),
    "tuple": lambda items, arrays: tuple(unpack(item, arrays) for item in items),
    "frozenset": lambda items, arrays: frozenset(unpack(item, arrays) for item in items),
    "list": lambda items, arrays: [unpack(item, arrays) for item in items],
    "dict": lambda items, arrays: {key: unpack(item, arrays) for key, item in items.items()},
}
