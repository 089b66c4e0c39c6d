"""Serialise values as JSON and a list of arrays, without pickle."""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit import Rule
from faithkit.errors import InputError

Arrays = Sequence[NDArray[Any]]

# scalar types that JSON does not have: how to write and how to read them
_SCALARS: dict[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    bytes: (bytes.hex, bytes.fromhex),
    Decimal: (str, Decimal),
    dt.date: (str, dt.date.fromisoformat),
    dt.datetime: (str, dt.datetime.fromisoformat),
    dt.time: (str, dt.time.fromisoformat),
    dt.timedelta: (
        lambda span: [span.days, span.seconds, span.microseconds],
        lambda parts: dt.timedelta(*parts),
    ),
    pd.Interval: (
        lambda span: [*np.array([span.left, span.right]).tolist(), span.closed],
        lambda parts: pd.Interval(*parts),
    ),
    pd.Period: (lambda time: [str(time), time.freqstr], lambda parts: pd.Period(*parts)),
    pd.Timedelta: (pd.Timedelta.isoformat, pd.Timedelta),
    pd.Timestamp: (str, pd.Timestamp),
    type(pd.NA): (str, lambda _: pd.NA),
    type(pd.NaT): (str, lambda _: pd.NaT),
}
_SCALAR_READERS = {scalar.__name__: read for scalar, (_, read) in _SCALARS.items()}
_SEQUENCES = {"tuple": tuple, "frozenset": frozenset, "list": list}


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
        return _pack_array(_strip_mask(value), arrays)
    if isinstance(value, pd.DataFrame):
        columns = [_pack_column(value.iloc[:, j], arrays) for j in range(value.shape[1])]
        return {"frame": [len(value), pack(value.columns.tolist(), arrays), columns]}
    if isinstance(value, Rule):
        return {"rule": value.to_json()}
    if type(value) in _SCALARS:
        write, _ = _SCALARS[type(value)]
        return {type(value).__name__: write(value)}
    for tag, sequence in _SEQUENCES.items():
        if isinstance(value, sequence):
            return {tag: [pack(item, arrays) for item in value]}
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
    if tag in _SEQUENCES:
        return _SEQUENCES[tag](unpack(item, arrays) for item in content)
    return _READERS[tag](content, arrays)


def _strip_mask(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array without its mask, which must not hide a value."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    n_hidden = int(np.ma.getmaskarray(array).sum())
    if n_hidden:
        raise InputError(
            f"values within an explanation are a masked array, and {n_hidden} of them are hidden: the mask "
            "would be lost. Run without a store, or give array.filled(numpy.nan)."
        )
    return np.asarray(array.data)


def _pack_array(array: NDArray[Any], arrays: list[NDArray[Any]]) -> Any:
    if array.dtype.kind == "O":
        values = array.ravel()
        # many rows share a rule: each object is written once; equal but distinct objects stay distinct
        codes, _ = pd.factorize(np.fromiter(map(id, values), dtype=np.int64, count=len(values)))
        first_positions = np.unique(codes, return_index=True)[1]
        distinct = [pack(values[position], arrays) for position in first_positions]
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
    """Pack a column: its values, and unless they are an array's, its dtype."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return pack(column.to_numpy(), arrays)
    is_category = isinstance(dtype, pd.CategoricalDtype)
    name = [_pack_column(pd.Series(dtype.categories), arrays), dtype.ordered] if is_category else str(dtype)
    packed = {"column": [name, pack(column.to_numpy(dtype=object, na_value=None), arrays)]}
    try:
        is_exact = unpack(packed, arrays).equals(column.reset_index(drop=True))
    except (TypeError, ValueError):
        is_exact = False
    if not is_exact:
        raise InputError(
            f"a column of type {dtype} in an explanation cannot be stored: convert it, or run without a "
            "store."
        )
    return packed


def _unpack_column(content: Any, arrays: Arrays) -> "pd.Series[Any]":
    """Return a column of one of pandas' extension types."""
    dtype, values = content
    if isinstance(dtype, list):
        dtype = pd.CategoricalDtype(_as_series(unpack(dtype[0], arrays)), ordered=dtype[1])
    return pd.Series(pd.array(list(unpack(values, arrays)), dtype=dtype))


def _unpack_frame(content: Any, arrays: Arrays) -> pd.DataFrame:
    n, packed_names, packed_columns = content
    columns = {j: _as_series(unpack(column, arrays)) for j, column in enumerate(packed_columns)}
    frame = pd.DataFrame(columns, index=range(n))
    frame.columns = pd.Index(unpack(packed_names, arrays))  # of tuples, a MultiIndex
    return frame


def _as_series(column: Any) -> "pd.Series[Any]":
    """Return a column with its dtype; pandas alone would convert objects that are all texts."""
    return pd.Series(column, dtype=column.dtype)


_READERS: dict[str, Callable[[Any, Arrays], Any]] = {
    "array": lambda number, arrays: arrays[number],
    "table": _unpack_objects,
    "frame": _unpack_frame,
    "column": _unpack_column,
    "rule": lambda rule, _: Rule.from_json(rule),
    "dict": lambda items, arrays: {key: unpack(item, arrays) for key, item in items.items()},
}
