"""Tables, columns and arrays of other libraries, as pandas and NumPy: by what they can do, not by name.

Polars, Arrow, DuckDB and others speak Arrow's C interface; others the dataframe interchange protocol; tensors
are arrays.
"""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.sparse import issparse

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.arrow_types import MissingCells, as_frame, columns_of
from faithkit.inputs.objects.adapters import adapted
from faithkit.inputs.rows import as_texts

_ARROW = ("__arrow_c_stream__", "__arrow_c_array__")
_OURS = pd.DataFrame | np.ndarray | list | tuple | str


def as_rows(X: Any, texts: bool = True) -> Any:
    """Return rows as a DataFrame, an array or a list of texts; what is none of these, as it is.

    Where `texts` is False, a column stays a column.

    Examples
    --------
    >>> as_rows(pa.table({"age": [31, 40]})).columns.tolist()
    ['age']
    >>> as_rows(pd.Series(["good", "bad"]))
    ['good', 'bad']
    """
    if X is None or isinstance(X, list) or issparse(X):
        return X
    if not isinstance(X, _OURS | pd.Series):
        X = _converted(adapted(X, "rows"), "the rows")
    return as_texts(X) if texts else X


def as_column(values: Any) -> Any:
    """Return one value per row as an array, a Series or a list; what is none of these, as it is.

    Examples
    --------
    >>> as_column(pa.array(["yes", "no"])).tolist()
    ['yes', 'no']
    """
    if values is None or isinstance(values, _OURS | pd.Series):
        return values
    return _converted(adapted(values, "predictions"), "the values")


def _converted(given: Any, what: str) -> Any:
    if isinstance(given, _OURS | pd.Series) or issparse(given):
        return given
    who = f"reading {what} from a {type(given).__module__}.{type(given).__qualname__}"
    with foreign(who, "Give them as a pandas DataFrame or a NumPy array."):
        if any(hasattr(given, name) for name in _ARROW):
            return _from_arrow(given)
        if hasattr(given, "__dataframe__"):
            return pd.api.interchange.from_dataframe(given)
        if hasattr(given, "collect_schema"):  # a query that was not run
            raise InputError(f"{what} are a {type(given).__name__}, which has no rows yet: give .collect().")
        return _from_tensor(given)


def _from_arrow(given: Any) -> Any:
    try:
        table = pa.table(given)
    except (TypeError, ValueError, pa.ArrowInvalid):  # a column, no table
        column = pa.chunked_array(given) if hasattr(given, "__arrow_c_stream__") else pa.array(given)
        table = pa.table({"values": column})
        return as_frame(table, MissingCells.of(table), exact=True, categories=True)["values"].rename(None)
    if len(set(table.column_names)) < table.num_columns:
        return table.to_pandas()  # whoever takes it refuses two columns of one name
    table = table.select(columns_of(table.schema))
    return as_frame(table, MissingCells.of(table), categories=True)


def _from_tensor(given: Any) -> Any:
    """Return a tensor as an array: detached from its gradient, and in the computer's own memory."""
    for step in ("detach", "cpu"):
        given = getattr(given, step)() if callable(getattr(given, step, None)) else given
    return np.asarray(given) if hasattr(given, "__array__") else given
