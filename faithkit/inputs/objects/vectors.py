"""Convert weights to vectors: from a table of numbers, or from a list or a {feature: weight} in each cell."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from faithkit.arrays.containers import as_objects, may_be_rounded
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations

_NUMBERS = ("integer", "floating", "mixed-integer-float")


def vectors_of_dicts(rows: Iterable[Mapping[str, float] | None]) -> pd.DataFrame:
    """Return weights by feature as a table, with one column per feature, sorted by name.

    Many libraries omit features that do not matter, so a feature that a row does not name has the weight 0. A
    row that is None or empty has no explanation: all its cells are missing.

    Examples
    --------
    >>> vectors_of_dicts([{"sex": 0.2}, {"age": 0.1, "sex": -0.3}, {}])
       age  sex
    0  0.0  0.2
    1  0.1 -0.3
    2  NaN  NaN
    """
    row_list = list(rows)
    names = sorted({name for row in row_list for name in row or ()})
    column_of = {name: j for j, name in enumerate(names)}
    table = np.zeros((len(row_list), len(names)))
    for i, row in enumerate(row_list):
        if not row:
            table[i] = np.nan
        for name, weight in (row or {}).items():
            table[i, column_of[name]] = np.nan if weight is None else weight
    return pd.DataFrame(table, columns=names)


def vectors_of_lists(name: str, rows: Iterable[list[float | None] | None]) -> pd.DataFrame:
    """Return lists of weights as a table; a row that is None or empty has no explanation.

    Examples
    --------
    >>> vectors_of_lists("phi", [[0.1, 0.2], None])
       phi[0]  phi[1]
    0     0.1     0.2
    1     NaN     NaN
    """
    row_list = list(rows)
    first_row_of_length = {len(row): i for i, row in reversed(list(enumerate(row_list))) if row}
    if len(first_row_of_length) > 1:
        by_row = sorted(first_row_of_length.items(), key=lambda item: item[1])
        (first_length, first_row), (second_length, second_row) = by_row[:2]
        raise InputError(
            f"the lists in the column {name!r} have {first_length} values in row {first_row} and "
            f"{second_length} in row {second_row}: give every row the same number of values."
        )
    width = max(first_row_of_length, default=0)
    cells = [row or [None] * width for row in row_list]
    return pd.DataFrame(cells, columns=[f"{name}[{j}]" for j in range(width)], dtype=np.float64)


def vectors_of_column(name: str, column: Any) -> pd.DataFrame:
    """Return an Arrow column of lists or maps of weights as a table."""
    rows = column.to_pylist()
    if pa.types.is_map(column.type):
        return vectors_of_dicts(dict(row or ()) for row in rows)
    return vectors_of_lists(name, rows)


def are_numbers(frame: pd.DataFrame) -> bool:
    """Return whether all columns hold numbers; numbers that no dtype holds exactly are objects."""
    return all(
        pd.api.types.is_numeric_dtype(column.dtype)
        or (column.dtype == object and pd.api.types.infer_dtype(column) in _NUMBERS)
        for _, column in frame.items()
    )


def from_numbers(frame: pd.DataFrame, shared: dict[str, Any]) -> Explanations:
    """Convert a table of numbers to vectors; different numbers stay different."""
    dtypes = set(frame.dtypes)
    if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype) and dtype.kind != "O":
        return Explanations(kind="vector", values=frame.to_numpy(dtype=dtype), shared=shared)
    values = np.column_stack([_floats(column) for _, column in frame.items()])
    # floats cannot tell integers beyond 2**53 apart, so equality compares the original columns
    exact = frame.reset_index(drop=True) if may_be_rounded(values) else None
    return Explanations(kind="vector", values=values, identity=exact, shared=shared)


def _floats(column: Any) -> NDArray[np.float64]:
    if column.dtype == object or isinstance(column.dtype, pd.ArrowDtype):  # Arrow refuses to round an integer
        return as_objects(column).astype(np.float64)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
