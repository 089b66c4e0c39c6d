"""Arrow's columns as pandas': every value stays what it is, or its column is refused in one line.

pandas chooses a dtype by the values it sees: integers with a gap among them become floats. So that a part of
a table is converted as the whole is, and no integer is rounded, the gaps are settled first.
"""

import contextlib
import json
import re
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.written import EXACT

_NULLABLE = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean")  # names of pandas' dtypes
_ADVICE = "Write it as numbers, texts, truth values or dates, or leave it out."


@attrs.frozen
class Gaps:
    """The columns of integers or truth values in which cells are missing.

    Those in `wide` have integers beyond 2**53, which floats would round. What is settled for a table holds
    for all of its parts.
    """

    some: frozenset[str] = frozenset()
    wide: frozenset[str] = frozenset()

    @classmethod
    def of(cls, table: Any) -> "Gaps":
        """Look at all cells of an Arrow table.

        Examples
        --------
        >>> Gaps.of(pa.table({"id": [2**60, None], "age": [31, 45]})) == Gaps({"id"}, {"id"})
        True
        """
        some = {
            field.name
            for field, column in zip(table.schema, table.columns, strict=True)
            if may_change(field.type) and column.null_count
        }
        return cls(frozenset(some), frozenset(name for name in some if is_wide(table.column(name))))


def may_change(kind: Any) -> bool:
    """Whether pandas has another dtype for a column of this type when a value is missing."""
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def is_wide(column: Any) -> bool:
    """Whether there are integers that floats would round."""
    if column.type not in (pa.int64(), pa.uint64()):
        return False
    ends = pc.min_max(column).as_py()
    return any(end is not None and abs(end) > EXACT for end in ends.values())


def as_frame(table: Any, gaps: Gaps, exact: bool = False, categories: bool = False) -> pd.DataFrame:
    """Convert an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of distinct names. The dtypes that pandas wrote beside them are kept where they fit.
    gaps : Gaps
        Of the whole table that this one is a part of.
    exact : bool
        Whether integers with gaps are integers whatever their size, as names are: pandas' Int64. Otherwise
        they are floats with NaN, which models take, unless a float would round one or pandas wrote another
        dtype beside them.
    categories : bool
        Whether a dictionary becomes a category; it differs between parts of a table.

    Examples
    --------
    >>> table = pa.table({"age": [31, None], "id": [2**60, None]})
    >>> as_frame(table, Gaps.of(table))
        age                   id
    0  31.0  1152921504606846976
    1   NaN                 <NA>
    """
    declared = {} if exact else _declared(table.schema)
    plain, others = {}, {}
    for field, column in zip(table.schema, table.columns, strict=True):
        name = field.name
        with foreign(f"the column {name!r} of type {field.type}", _ADVICE):
            _check_gaps(name, column, gaps)
            stays_whole = name in gaps.some and (exact or name in gaps.wide)
            dtype = declared.get(name) or (_nullable(field.type) if stays_whole else None)
            if dtype is not None or not (may_change(field.type) or pa.types.is_floating(field.type)):
                others[name] = _series(column, dtype, categories)
            elif name in gaps.some and pa.types.is_integer(field.type):
                plain[name] = column.cast(pa.float64())
            else:
                plain[name] = column
    frame = _with_truths(pa.table(plain).to_pandas(use_threads=False), gaps)
    if not others:
        return frame
    rest = pd.DataFrame(others, index=pd.RangeIndex(table.num_rows), copy=False)
    return pd.concat([frame, rest], axis=1)[table.column_names] if plain else rest


def columns_of(schema: Any) -> list[str]:
    """Return the names of a schema without those that pandas wrote as an index."""
    index = _pandas_says(schema).get("index_columns")
    left_out = {name for name in index if isinstance(name, str)} if isinstance(index, list) else set()
    return [name for name in schema.names if name not in left_out]


def check_flat(schema: Any, names: Sequence[str]) -> None:
    """Refuse lists, structures and maps where a cell has to be one value."""
    for name in names:
        kind = schema.field(name).type
        if pa.types.is_nested(kind.value_type if pa.types.is_dictionary(kind) else kind):
            raise InputError(
                f"the column {name!r} is of type {kind}; expected one value in a cell. "
                "Write each part as a column of its own."
            )


def _check_gaps(name: str, column: Any, gaps: Gaps) -> None:
    if may_change(column.type) and column.null_count and name not in gaps.some:
        raise InputError(
            f"the column {name!r} has missing cells, and the file's own statistics say that it has none. "
            "Write the file again."
        )


def _nullable(kind: Any) -> Any:
    """Return pandas' dtype for integers that may be missing; None for what is no integer."""
    if not pa.types.is_integer(kind):
        return None
    return pd.UInt64Dtype() if pa.types.is_unsigned_integer(kind) else pd.Int64Dtype()


def _with_truths(frame: pd.DataFrame, gaps: Gaps) -> pd.DataFrame:
    """Let truth values with gaps be objects, in a part that happens to have no gap, too."""
    truths = [name for name in gaps.some if name in frame and frame[name].dtype == np.dtype(bool)]
    return frame.astype(dict.fromkeys(truths, object)) if truths else frame


def _series(column: Any, dtype: Any, categories: bool) -> Any:
    kind = column.type
    column.validate(full=True)  # the texts of a Parquet file need not be UTF-8
    if dtype is not None:
        return dtype.__from_arrow__(column)
    if isinstance(kind, pa.BaseExtensionType) and not kind.extension_name.startswith("pandas."):
        return _series(column.cast(kind.storage_type), None, categories)  # as any reader would have it
    if pa.types.is_dictionary(kind) and not (categories and _is_category(column)):
        return _series(column.cast(kind.value_type), _nullable(kind.value_type), categories)
    if pa.types.is_nested(kind):
        return pd.Series(column.to_pylist(), dtype=object)
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_timestamp(kind) and not _is_zone(kind.tz):
        column = column.cast(pa.timestamp(kind.unit, "UTC"))  # the same instants
    return column.to_pandas()


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow's is one of its texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_category(column: Any) -> bool:
    """Whether pandas can take a dictionary as it is: its values differ, and none is missing."""
    values = [chunk.dictionary for chunk in column.chunks]
    return not any(one.null_count or len(one.unique()) < len(one) for one in values)


def _is_zone(zone: str | None) -> bool:
    if zone is None:
        return True
    with contextlib.suppress(Exception):  # whatever the libraries of zones raise about a name
        pa.lib.string_to_tzinfo(zone)
        return True
    return False


def _declared(schema: Any) -> dict[str, Any]:
    """Return the nullable dtypes that pandas wrote beside columns, None where they do not fit the column."""
    columns = _pandas_says(schema).get("columns")
    said = [one for one in columns if isinstance(one, dict)] if isinstance(columns, list) else []
    dtypes = {str(one.get("field_name")): str(one.get("numpy_type")) for one in said}
    return {field.name: _fitting(dtypes.get(field.name, ""), field.type) for field in schema}


def _fitting(name: str, kind: Any) -> Any:
    if name.partition("[")[0] == "string" and is_text(kind):
        return pd.StringDtype()
    dtype = pd.api.types.pandas_dtype(name) if _NULLABLE.fullmatch(name) else None
    return dtype if dtype is not None and pa.from_numpy_dtype(dtype.numpy_dtype) == kind else None


def _pandas_says(schema: Any) -> dict[str, Any]:
    """Return what pandas wrote beside the columns; what cannot be understood says nothing."""
    try:
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
