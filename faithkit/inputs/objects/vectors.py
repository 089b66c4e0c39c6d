"""Weights as vectors: of a table of numbers, or logged in one cell, as a list or with their features."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from faithkit.errors import InputError
from faithkit.measure.explanations import Explanations


def vectors_of_dicts(rows: Iterable[Mapping[str, float] | None]) -> pd.DataFrame:
    """Return weights by feature as a table, a column for every feature that any row names, in their order.

    Who lists the features that matter leaves out those that do not: a feature that a row does not name has
    the weight 0. A row that is None, or names no feature, has no explanation: all of its cells are missing.

    Examples
    --------
    >>> vectors_of_dicts([{"sex": 0.2}, {"age": 0.1, "sex": -0.3}, {}])
       age  sex
    0  0.0  0.2
    1  0.1 -0.3
    2  NaN  NaN
    """
    given = list(rows)
    names = sorted({name for row in given for name in row or ()})
    place = {name: j for j, name in enumerate(names)}
    table = np.zeros((len(given), len(names)))
    for i, row in enumerate(given):
        if not row:
            table[i] = np.nan
        for name, weight in (row or {}).items():
            table[i, place[name]] = np.nan if weight is None else weight
    return pd.DataFrame(table, columns=names)


def vectors_of_lists(name: str, rows: Iterable[list[float | None] | None]) -> pd.DataFrame:
    """Return lists of weights as a table; a row that is None, or an empty list, has no explanation.

    Examples
    --------
    >>> vectors_of_lists("phi", [[0.1, 0.2], None])
       phi[0]  phi[1]
    0     0.1     0.2
    1     NaN     NaN
    """
    given = list(rows)
    lengths = {len(row): i for i, row in reversed(list(enumerate(given))) if row}
    if len(lengths) > 1:
        (one, here), (other, there) = sorted(lengths.items(), key=lambda item: item[1])[:2]
        raise InputError(
            f"the lists in the column {name!r} have {one} values in row {here} and {other} in row {there}: "
            "give every row the same number of values."
        )
    width = max(lengths, default=0)
    cells = [row or [None] * width for row in given]
    return pd.DataFrame(cells, columns=[f"{name}[{j}]" for j in range(width)], dtype=np.float64)


def vectors_of(name: str, column: Any) -> pd.DataFrame:
    """Return a column of lists, or of pairs of features and weights, as a table."""
    rows = column.to_pylist()
    if pa.types.is_map(column.type):
        return vectors_of_dicts(None if row is None else dict(row) for row in rows)
    return vectors_of_lists(name, rows)


def are_numbers(frame: pd.DataFrame) -> bool:
    """Whether all columns of a table are numbers."""
    return all(pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes)


def from_numbers(frame: pd.DataFrame, shared: dict[str, Any]) -> Explanations:
    """Take a table of numbers as one array, without losing what tells two of them apart."""
    dtypes = set(frame.dtypes)
    if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype):
        return Explanations(kind="vector", values=frame.to_numpy(dtype=dtype), shared=shared)
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    # integers beyond 2**53 would fall together as floats: equality then compares the columns as they are
    exact = None if not (np.abs(values) >= 2.0**53).any() else frame.reset_index(drop=True)
    return Explanations(kind="vector", values=values, identity=exact, shared=shared)
