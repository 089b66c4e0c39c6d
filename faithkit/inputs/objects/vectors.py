"""Weights as vectors: of a table of numbers, or logged in one cell, as a list or with their features."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from faithkit.arrays.containers import as_objects, as_series, may_be_rounded
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations

_NUMBERS = ("integer", "floating", "mixed-integer-float")


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
    return _exact(pd.DataFrame(table, columns=names), lambda name: [_weight(row, name) for row in given])


def _weight(row: Mapping[str, float] | None, name: str) -> float | None:
    return row.get(name, 0) if row else None


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
    places = {f"{name}[{j}]": j for j in range(width)}
    table = pd.DataFrame(cells, columns=list(places), dtype=np.float64)
    return _exact(table, lambda column: [row[places[column]] for row in cells])


def _exact(table: pd.DataFrame, cells_of: Callable[[str], list[Any]]) -> pd.DataFrame:
    """Return a table of floats with the columns in which a float may have rounded an integer as they were."""
    rounded = [name for name in table if may_be_rounded(table[name].to_numpy())]
    return table.assign(**{name: as_series(cells_of(name)) for name in rounded})


def vectors_of(name: str, column: Any) -> pd.DataFrame:
    """Return a column of lists, or of pairs of features and weights, as a table."""
    rows = column.to_pylist()
    if pa.types.is_map(column.type):
        pairs = ([] if row is None else row for row in rows)
        return vectors_of_dicts({feature: _number(weight) for feature, weight in row} for row in pairs)
    return vectors_of_lists(name, [row and [*map(_number, row)] for row in rows])


def _number(weight: Any) -> Any:
    """Return a weight as a number; one that no dtype of its column holds was kept as a text."""
    return json.loads(weight) if isinstance(weight, str) else weight


def are_numbers(frame: pd.DataFrame) -> bool:
    """Whether all columns of a table are numbers; those that no dtype holds are objects."""
    return all(
        pd.api.types.is_numeric_dtype(column.dtype)
        or (column.dtype == object and pd.api.types.infer_dtype(column) in _NUMBERS)
        for _, column in frame.items()
    )


def from_numbers(frame: pd.DataFrame, shared: dict[str, Any]) -> Explanations:
    """Take a table of numbers as one array, without losing what tells two of them apart."""
    dtypes = set(frame.dtypes)
    if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype) and dtype.kind != "O":
        return Explanations(kind="vector", values=frame.to_numpy(dtype=dtype), shared=shared)
    values = np.column_stack([_floats(column) for _, column in frame.items()])
    # integers beyond 2**53 would fall together as floats: equality then compares the columns as they are
    exact = frame.apply(as_series).reset_index(drop=True) if may_be_rounded(values) else None
    return Explanations(kind="vector", values=values, identity=exact, shared=shared)


def _floats(column: Any) -> NDArray[np.float64]:
    if column.dtype == object or isinstance(column.dtype, pd.ArrowDtype):  # Arrow refuses to round an integer
        return as_objects(column).astype(np.float64)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
