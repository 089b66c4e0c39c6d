"""Convert Arrow columns to pandas: every value stays what it is, or its column is refused in one line.

pandas chooses a dtype by the values it sees: integers with a gap among them become floats. So that a part of
a table is converted as the whole is, and no integer is rounded, the gaps of the whole table are known first.
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
from faithkit.inputs.files.csv_types import EXACT

_NULLABLE = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean")  # names of pandas' dtypes
_ADVICE = "Write it as numbers, texts, truth values or dates, or leave it out."


@attrs.frozen
class MissingCells:
    """The columns of integers or truth values in which cells are missing, and those of large integers.

    Floats would round the integers of the `wide` columns, which are beyond 2**53.
    """

    columns: frozenset[str] = frozenset()
    wide: frozenset[str] = frozenset()

    @classmethod
    def of(cls, table: Any) -> "MissingCells":
        """Look at all cells of an Arrow table.

        Examples
        --------
        >>> MissingCells.of(pa.table({"id": [2**60, 1], "age": [31, None]})) == MissingCells({"age"}, {"id"})
        True
        """
        names = [field.name for field in table.schema if depends_on_gaps(field.type)]
        return cls(
            frozenset(name for name in names if table.column(name).null_count),
            frozenset(name for name in names if _is_wide(table.column(name))),
        )

    def union(self, other: "MissingCells") -> "MissingCells":
        """Return the gaps of two tables, or of two parts of one."""
        return MissingCells(self.columns | other.columns, self.wide | other.wide)


def depends_on_gaps(kind: Any) -> bool:
    """Return whether pandas has another dtype for a column of this type when a value is missing."""
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def _is_wide(column: Any) -> bool:
    """Return whether there are integers that floats would round."""
    if column.type not in (pa.int64(), pa.uint64()):
        return False
    ends = pc.min_max(column).as_py()
    return any(end is not None and abs(end) > EXACT for end in ends.values())


def as_frame(table: Any, gaps: MissingCells, exact: bool = False, categories: bool = False) -> pd.DataFrame:
    """Convert an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of distinct names. The dtypes that pandas wrote beside them are kept where they fit.
    gaps : MissingCells
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
    >>> as_frame(table, MissingCells.of(table))
        age                   id
    0  31.0  1152921504606846976
    1   NaN                 <NA>
    """
    dtypes = {} if exact else _pandas_dtypes(table.schema)
    plain, others = {}, {}
    for field, column in zip(table.schema, table.columns, strict=True):
        name = field.name
        with foreign(f"the column {name!r} of type {field.type}", _ADVICE):
            stays_whole = name in gaps.columns and (exact or name in gaps.wide)
            dtype = dtypes.get(name) or (_nullable(field.type) if stays_whole else None)
            if dtype is not None or not (depends_on_gaps(field.type) or pa.types.is_floating(field.type)):
                others[name] = _series(column, dtype, categories)
            elif name in gaps.columns and pa.types.is_integer(field.type):
                plain[name] = column.cast(pa.float64())
            else:
                plain[name] = column
    frame = pa.table(plain).to_pandas(use_threads=False)
    # truth values with gaps are objects, also in a part without a gap
    truths = [name for name in gaps.columns if name in frame and frame[name].dtype == np.dtype(bool)]
    frame = frame.astype(dict.fromkeys(truths, object)) if truths else frame
    if not others:
        return frame
    rest = pd.DataFrame(others, index=pd.RangeIndex(table.num_rows), copy=False)
    return pd.concat([frame, rest], axis=1)[table.column_names] if plain else rest


def columns_of(schema: Any) -> list[str]:
    """Return the names of a schema without those that pandas wrote as an index."""
    index = _pandas_metadata(schema).get("index_columns")
    left_out = {name for name in index if isinstance(name, str)} if isinstance(index, list) else set()
    return [name for name in schema.names if name not in left_out]


def check_flat(schema: Any, names: Sequence[str]) -> None:
    """Refuse lists, structures and maps where a cell has to be one value."""
    for name in names:
        kind = schema.field(name).type
        if pa.types.is_nested(value_type(kind)):
            raise InputError(
                f"the column {name!r} is of type {kind}; expected one value in a cell. "
                "Write each part as a column of its own."
            )


def value_type(kind: Any) -> Any:
    """Return the type of a dictionary's values, and any other type as it is."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_text(kind: Any) -> bool:
    """Return whether a type of Arrow's is one of its texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _nullable(kind: Any) -> Any:
    """Return pandas' dtype for integers that may be missing; None for what is no integer."""
    if not pa.types.is_integer(kind):
        return None
    return pd.UInt64Dtype() if pa.types.is_unsigned_integer(kind) else pd.Int64Dtype()


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


def _is_category(column: Any) -> bool:
    """Return whether pandas can take a dictionary as it is: its values differ, and none is missing."""
    dictionaries = [chunk.dictionary for chunk in column.chunks]
    return not any(values.null_count or len(values.unique()) < len(values) for values in dictionaries)


def _is_zone(zone: str | None) -> bool:
    if zone is None:
        return True
    with contextlib.suppress(Exception):  # whatever the libraries of zones raise about a name
        pa.lib.string_to_tzinfo(zone)
        return True
    return False


def _pandas_dtypes(schema: Any) -> dict[str, Any]:
    """Return the nullable dtypes that pandas wrote beside columns, None where they do not fit the column."""
    columns = _pandas_metadata(schema).get("columns")
    described = (
        [column for column in columns if isinstance(column, dict)] if isinstance(columns, list) else []
    )
    dtypes = {str(column.get("field_name")): str(column.get("numpy_type")) for column in described}
    return {field.name: _fitting_dtype(dtypes.get(field.name, ""), field.type) for field in schema}


def _fitting_dtype(name: str, kind: Any) -> Any:
    if name.partition("[")[0] == "string" and is_text(kind):
        return pd.StringDtype()
    dtype = pd.api.types.pandas_dtype(name) if _NULLABLE.fullmatch(name) else None
    return dtype if dtype is not None and pa.from_numpy_dtype(dtype.numpy_dtype) == kind else None


def _pandas_metadata(schema: Any) -> dict[str, Any]:
    """Return what pandas wrote beside the columns; metadata that cannot be parsed is ignored."""
    try:
        metadata = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return {}
    return metadata if isinstance(metadata, dict) else {}
