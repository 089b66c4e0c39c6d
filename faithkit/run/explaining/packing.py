"""Values as JSON, with their arrays beside it: data only, and no pickle."""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import unmasked
from faithkit.errors import InputError
from faithkit.explanations.rules import Rule

Arrays = Sequence[NDArray[Any]]

# what explanations and the values of a table are made of, beside text and numbers: how to write and read it
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
    """Turn a value into JSON, and append the arrays in it to `arrays`; tags say what plain JSON cannot.

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
        return _pack_array(unmasked(value, "values within an explanation"), arrays)
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
    """Turn JSON back into the value."""
    if not isinstance(value, dict):
        return value
    ((tag, inner),) = value.items()
    if tag in _SCALAR_READERS:
        return _SCALAR_READERS[tag](inner)
    return _READERS[tag](inner, arrays)


def _pack_array(array: NDArray[Any], arrays: list[NDArray[Any]]) -> Any:
    if array.dtype.kind == "O":
        flat = array.ravel()
        # many rows share a rule: each object is written once, and objects that are merely equal stay apart
        codes, _ = pd.factorize(np.fromiter(map(id, flat), dtype=np.int64, count=len(flat)))
        first = np.unique(codes, return_index=True)[1]
        table = [pack(flat[row], arrays) for row in first]
        return {"table": [table, pack(codes.astype(np.int64), arrays), list(array.shape)]}
    if array.dtype.hasobject:
        raise InputError(
            f"an array of type {array.dtype} in an explanation cannot be stored: run without a store, or let "
            "the explainer give numbers or text."
        )
    arrays.append(array)
    return {"array": len(arrays) - 1}


def _table(inner: Any, arrays: Arrays) -> NDArray[Any]:
    table = np.fromiter((unpack(item, arrays) for item in inner[0]), dtype=object)
    return table[unpack(inner[1], arrays)].reshape(inner[2])


def _pack_column(column: "pd.Series[Any]", arrays: list[NDArray[Any]]) -> Any:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = pack(column.cat.codes.to_numpy(), arrays)
        return {"category": [codes, _pack_column(pd.Series(dtype.categories), arrays), bool(dtype.ordered)]}
    if isinstance(dtype, np.dtype):
        return pack(column.to_numpy(), arrays)
    cells = column.to_numpy(dtype=object, na_value=None)
    try:
        is_exact = _extension(cells, str(dtype)).equals(column.reset_index(drop=True))
    except (TypeError, ValueError):
        is_exact = False
    if not is_exact:
        raise InputError(
            f"a column of type {dtype} in an explanation cannot be stored: convert it, or run without a "
            "store."
        )
    return {"column": [str(dtype), pack(cells, arrays)]}


def _extension(cells: NDArray[Any], dtype: str) -> "pd.Series[Any]":
    """Give cells one of pandas' own types."""
    return pd.Series(pd.array(list(cells), dtype=dtype))


def _frame(inner: Any, arrays: Arrays) -> pd.DataFrame:
    names = _series(inner[1], arrays)
    frame = pd.DataFrame(
        {j: _series(column, arrays) for j, column in enumerate(inner[2])}, index=range(inner[0])
    )
    are_tuples = len(names) > 0 and all(isinstance(name, tuple) for name in names)
    frame.columns = pd.MultiIndex.from_tuples(names) if are_tuples else pd.Index(names)
    return frame


def _series(value: Any, arrays: Arrays) -> "pd.Series[Any]":
    """Read a column; pandas would make text of objects that happen to be texts."""
    column = unpack(value, arrays)
    return pd.Series(column, dtype=column.dtype)


def _category(inner: Any, arrays: Arrays) -> "pd.Series[Any]":
    categories = pd.Index(_series(inner[1], arrays))
    return pd.Series(pd.Categorical.from_codes(unpack(inner[0], arrays), categories, ordered=inner[2]))


_READERS: dict[str, Callable[[Any, Arrays], Any]] = {
    "array": lambda inner, arrays: arrays[inner],
    "table": _table,
    "frame": _frame,
    "category": _category,
    "column": lambda inner, arrays: _extension(unpack(inner[1], arrays), inner[0]),
    "rule": lambda inner, _: Rule.from_json(inner),
    "tuple": lambda inner, arrays: tuple(unpack(item, arrays) for item in inner),
    "frozenset": lambda inner, arrays: frozenset(unpack(item, arrays) for item in inner),
    "list": lambda inner, arrays: [unpack(item, arrays) for item in inner],
    "dict": lambda inner, arrays: {key: unpack(item, arrays) for key, item in inner.items()},
}
