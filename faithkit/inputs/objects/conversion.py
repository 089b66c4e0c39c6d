"""Convert tables, columns and arrays of other libraries to pandas and NumPy, by the protocols they support.

Polars, Arrow, DuckDB and others support Arrow's C interface; tensors convert to arrays.
"""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.sparse import issparse

from faithkit.inputs.files.arrow_types import MissingValues, as_frame, columns_of
from faithkit.inputs.objects.adapters import adapt_object
from faithkit.inputs.rows import as_texts
from faithkit.third_party import guard

_ARROW_METHODS = ("__arrow_c_stream__", "__arrow_c_array__")
_NATIVE = pd.DataFrame | pd.Series | np.ndarray | list | tuple | str


def as_rows(X: Any, texts: bool = True) -> Any:
    """Return rows as a DataFrame, an array or a list of texts; return any other object unchanged.

    If `texts` is False, a column of texts stays a column.

    Examples
    --------
    >>> as_rows(pa.table({"age": [31, 40]})).columns.tolist()
    ['age']
    >>> as_rows(pd.Series(["good", "bad"]))
    ['good', 'bad']
    """
    if X is None or issparse(X):
        return X
    if not isinstance(X, _NATIVE):
        X = _convert(adapt_object(X, "rows"), "the rows")
    return as_texts(X) if texts else X


def as_column(values: Any) -> Any:
    """Return one value per row as an array, a Series or a list; return any other object unchanged.

    Examples
    --------
    >>> as_column(pa.array(["yes", "no"])).tolist()
    ['yes', 'no']
    """
    if values is None or isinstance(values, _NATIVE):
        return values
    return _convert(adapt_object(values, "predictions"), "the values")


def _convert(value: Any, name: str) -> Any:
    if isinstance(value, _NATIVE) or issparse(value):
        return value
    action = f"reading {name} from a {type(value).__module__}.{type(value).__qualname__}"
    with guard(action, "Give them as a pandas DataFrame or a NumPy array."):
        if any(hasattr(value, name) for name in _ARROW_METHODS):
            return _from_arrow(value)
        return _from_tensor(value)


def _from_arrow(value: Any) -> Any:
    try:
        table = pa.table(value)
    except (TypeError, ValueError, pa.ArrowInvalid):  # a column, not a table
        column = pa.chunked_array(value) if hasattr(value, "__arrow_c_stream__") else pa.array(value)
        table = pa.table({"values": column})
        return as_frame(table, MissingValues.of(table), exact=True, categories=True)["values"].rename(None)
    if len(set(table.column_names)) < table.num_columns:
        return table.to_pandas()  # a later check reports the duplicate names
    table = table.select(columns_of(table.schema))
    return as_frame(table, MissingValues.of(table), categories=True)


def _from_tensor(value: Any) -> Any:
    """Return a tensor as an array, detached from its gradient and in main memory."""
    for method in ("detach", "cpu"):
        value = getattr(value, method)() if callable(getattr(value, method, None)) else value
    return np.asarray(value) if hasattr(value, "__array__") else value
