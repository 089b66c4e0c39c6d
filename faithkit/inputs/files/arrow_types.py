"""Convert Arrow columns to pandas without changing a value; a column that pandas cannot hold is an error.

pandas chooses a dtype by the values it sees: integers with a missing value become floats. `MissingValues`
describes the whole table, so that a part is converted like the whole table and no integer is rounded.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from faithkit.arrays.containers import EXACT_LIMIT
from faithkit.errors import InputError
from faithkit.third_party import guard

_NULLABLE = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean")  # names of pandas' dtypes
_ADVICE = "Write it as numbers, texts, truth values or dates, or leave it out."


@attrs.frozen
class MissingValues:
    """The columns of integers or booleans with missing values, and the columns of large integers.

    The `wide` columns hold integers beyond 2**53, which floats would round.
    """

    columns: frozenset[str] = frozenset()
    wide: frozenset[str] = frozenset()

    @classmethod
    def of(cls, table: pa.Table) -> "MissingValues":
        """Find these columns in an Arrow table.

        Examples
        --------
        >>> table = pa.table({"id": [2**60, 1], "age": [31, None]})
        >>> MissingValues.of(table) == MissingValues({"age"}, {"id"})
        True
        """
        names = [field.name for field in table.schema if depends_on_missing(field.type)]
        return cls(
            frozenset(name for name in names if table.column(name).null_count),
            frozenset(name for name in names if _is_wide(table.column(name))),
        )

    def union(self, other: "MissingValues") -> "MissingValues":
        """Combine the columns of two tables, or of two parts of one table."""
        return MissingValues(self.columns | other.columns, self.wide | other.wide)


def depends_on_missing(arrow_type: pa.DataType) -> bool:
    """Return whether pandas uses another dtype for this type when a value is missing."""
    return bool(pa.types.is_integer(arrow_type) or pa.types.is_boolean(arrow_type))


def _is_wide(column: pa.ChunkedArray) -> bool:
    """Return whether a column has integers that floats would round."""
    if column.type not in (pa.int64(), pa.uint64()):
        return False
    ends = pc.min_max(column).as_py()
    return any(end is not None and abs(end) > EXACT_LIMIT for end in ends.values())


def as_frame(
    table: pa.Table, missing_values: MissingValues, exact: bool = False, categories: bool = False
) -> pd.DataFrame:
    """Convert an Arrow table.

    Parameters
    ----------
    table : pyarrow.Table
        Columns with distinct names. The dtypes in pandas' metadata are kept where they fit.
    missing_values : MissingValues
        The missing values of the whole table that this table is a part of.
    exact : bool
        Whether integers with missing values stay integers of any size (pandas' Int64), as labels do.
        Otherwise they become floats with NaN, which models accept, unless a float would round one or pandas'
        metadata has another dtype.
    categories : bool
        Whether a dictionary becomes a category. Parts of a table can have different dictionaries.

    Examples
    --------
    >>> table = pa.table({"age": [31, None], "id": [2**60, None]})
    >>> as_frame(table, MissingValues.of(table))
        age                   id
    0  31.0  1152921504606846976
    1   NaN                 <NA>
    """
    dtypes = {} if exact else _pandas_dtypes(table.schema)
    arrow_columns, series = {}, {}
    for field, column in zip(table.schema, table.columns, strict=True):
        name = field.name
        with guard(f"the column {name!r} of type {field.type}", _ADVICE):
            stays_integer = name in missing_values.columns and (exact or name in missing_values.wide)
            dtype = dtypes.get(name) or (_nullable(field.type) if stays_integer else None)
            if dtype is not None or not (depends_on_missing(field.type) or pa.types.is_floating(field.type)):
                series[name] = _series(column, dtype, categories)
            elif name in missing_values.columns and pa.types.is_integer(field.type):
                arrow_columns[name] = column.cast(pa.float64())
            else:
                arrow_columns[name] = column
    frame = pa.table(arrow_columns).to_pandas(use_threads=False)
    # booleans with missing values are objects, even in a part that has none missing
    booleans = [
        name for name in missing_values.columns if name in frame and frame[name].dtype == np.dtype(bool)
    ]
    frame = frame.astype(dict.fromkeys(booleans, object)) if booleans else frame
    if not series:
        return frame
    series_frame = pd.DataFrame(series, index=pd.RangeIndex(table.num_rows), copy=False)
    return pd.concat([frame, series_frame], axis=1)[table.column_names] if arrow_columns else series_frame


def columns_of(schema: pa.Schema) -> list[str]:
    """Return the column names of a schema without the columns of a pandas index."""
    index = _pandas_metadata(schema).get("index_columns")
    index_names = {name for name in index if isinstance(name, str)} if isinstance(index, list) else set()
    return [name for name in schema.names if name not in index_names]


def check_flat(schema: pa.Schema, names: Sequence[str]) -> None:
    """Check that columns hold single values: no lists, structures or maps."""
    for name in names:
        arrow_type = schema.field(name).type
        if pa.types.is_nested(value_type(arrow_type)):
            raise InputError(
                f"the column {name!r} is of type {arrow_type}; expected one number, text or date per row. "
                "Write each part as a column of its own."
            )


def value_type(arrow_type: pa.DataType) -> pa.DataType:
    """Return the value type of a dictionary type; return any other type unchanged."""
    return arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type


def is_text(arrow_type: pa.DataType) -> bool:
    """Return whether an Arrow type is one of its string types."""
    return bool(
        pa.types.is_string(arrow_type)
        or pa.types.is_large_string(arrow_type)
        or pa.types.is_string_view(arrow_type)
    )


def _nullable(arrow_type: pa.DataType) -> pd.api.extensions.ExtensionDtype | None:
    """Return pandas' nullable integer dtype; None for a type that is not an integer."""
    if not pa.types.is_integer(arrow_type):
        return None
    return pd.UInt64Dtype() if pa.types.is_unsigned_integer(arrow_type) else pd.Int64Dtype()


def _series(column: pa.ChunkedArray, dtype: Any, categories: bool) -> Any:
    arrow_type = column.type
    column.validate(full=True)  # strings in a Parquet file may be invalid UTF-8
    if dtype is not None:
        return dtype.__from_arrow__(column)
    if isinstance(arrow_type, pa.BaseExtensionType) and not arrow_type.extension_name.startswith("pandas."):
        return _series(column.cast(arrow_type.storage_type), None, categories)  # other readers do the same
    if pa.types.is_dictionary(arrow_type) and not (categories and _is_category(column)):
        return _series(column.cast(arrow_type.value_type), _nullable(arrow_type.value_type), categories)
    if pa.types.is_nested(arrow_type):
        return pd.Series(column.to_pylist(), dtype=object)
    if pa.types.is_null(arrow_type):
        return np.full(len(column), np.nan)
    return column.to_pandas()


def _is_category(column: pa.ChunkedArray) -> bool:
    """Return whether pandas accepts a dictionary unchanged: its values are distinct and none is missing."""
    dictionaries = [chunk.dictionary for chunk in column.chunks]
    return not any(values.null_count or len(values.unique()) < len(values) for values in dictionaries)


def _pandas_dtypes(schema: pa.Schema) -> dict[str, Any]:
    """Return the nullable dtypes in pandas' metadata, None where one does not fit its column."""
    columns = _pandas_metadata(schema).get("columns")
    descriptions = (
        [column for column in columns if isinstance(column, dict)] if isinstance(columns, list) else []
    )
    dtypes = {str(column.get("field_name")): str(column.get("numpy_type")) for column in descriptions}
    return {field.name: _fitting_dtype(dtypes.get(field.name, ""), field.type) for field in schema}


def _fitting_dtype(name: str, arrow_type: pa.DataType) -> Any:
    if name.partition("[")[0] == "string" and is_text(arrow_type):
        return pd.StringDtype()
    dtype = pd.api.types.pandas_dtype(name) if _NULLABLE.fullmatch(name) else None
    return dtype if dtype is not None and pa.from_numpy_dtype(dtype.numpy_dtype) == arrow_type else None


def _pandas_metadata(schema: pa.Schema) -> dict[str, Any]:
    """Return pandas' metadata; ignore metadata that cannot be parsed."""
    try:
        metadata = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        return {}
    return metadata if isinstance(metadata, dict) else {}
