"""Read explanations from lists and tables: texts, tuples, rules, vectors, or features with weights."""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from faithkit.arrays.containers import as_objects, may_be_rounded
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, check_no_mask, object_array
from faithkit.explanations.rules import Rule
from faithkit.inputs.objects.adapters import RowContext
from faithkit.inputs.objects.conversion import as_rows
from faithkit.wording import join_few

_PLAIN_TYPES = {str, tuple, bool, int, float, Rule, type(None)}  # these need no conversion
_NUMBERS = ("integer", "floating", "mixed-integer-float")


def from_list(items: list[Any], context: RowContext | None = None) -> Explanations:
    """Convert one explanation per row; None, NaN and similar values are missing explanations.

    Examples
    --------
    >>> from_list([["age > 40", "sex = Male"], []]).values.tolist()
    [('age > 40', 'sex = Male'), None]
    >>> from_list([[0.5, None], [], np.nan]).missing
    array([False,  True,  True])
    """
    if set(map(type, items)) <= _PLAIN_TYPES:  # a fast path for most logs, which can be long
        return _from_values(items)
    check_no_mask(items)
    column = object_array(map(_to_plain, items))
    column[pd.isna(column)] = None
    values = column.tolist()
    first = next((value for value in values if value is not None and not _is_empty(value)), None)
    if isinstance(first, Mapping):
        return _from_dicts(values, context)
    if isinstance(first, list) and all(map(_is_pair, first)):
        return _from_dicts([_as_dict(row, value) for row, value in enumerate(values)], context)
    if isinstance(first, list) and all(isinstance(text, str) for text in first):
        return _from_values([_as_tuple(row, value) for row, value in enumerate(values)])
    if any(isinstance(value, list | np.ndarray) for value in values):
        return _from_rows(values)
    return _from_values(values)


def _from_values(values: list[Any]) -> Explanations:
    """Convert hashable values; rules get the relation "in-scope"."""
    if {type(value) for value in values} - {type(None)} == {Rule}:
        return Explanations.of(values, kind="rule", relation="in-scope")
    return Explanations.of(values)


def _to_plain(value: Any) -> Any:
    """Convert another library's array to NumPy's, and a Series to a dict."""
    if not hasattr(value, "__array__") or isinstance(value, np.ndarray | np.generic):
        return value
    return value.to_dict() if isinstance(value, pd.Series) else as_rows(value, texts=False)


def _is_empty(value: Any) -> bool:
    """Return whether a value is an empty list or array, which is a missing explanation."""
    return (isinstance(value, list) and not value) or (isinstance(value, np.ndarray) and not value.size)


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[0], str)


def _as_tuple(row: int, texts: Any) -> Any:
    """Return a list of texts, such as the conditions of a rule, as a tuple."""
    if texts is None or _is_empty(texts):
        return None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"explanation {row} is {texts!r:.60}; expected a list of texts, as for the others.")
    return tuple(texts)


def _as_dict(row: int, pairs: Any) -> Any:
    """Return (feature, weight) pairs as a dict; check that features are distinct."""
    if pairs is None:
        return None
    if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
        raise InputError(f"explanation {row} is {pairs!r:.60}; expected pairs of a feature and its weight.")
    weights = dict(pairs)
    if len(weights) < len(pairs):
        names = [name for name, _ in pairs]
        duplicates = join_few(repr(name) for name in weights if names.count(name) > 1)
        raise InputError(
            f"explanation {row} has more than one weight of {duplicates}: add them up, or rename."
        )
    return weights


def _from_dicts(rows: list[Any], context: RowContext | None) -> Explanations:
    """Convert {feature: weight} of each row; a feature that a row does not name has the weight 0."""
    for row, weights in enumerate(rows):
        _check_weights(row, weights)
    table = vectors_of_dicts(rows)
    names = list(table.columns)
    shared: dict[str, Any] = {"names": names, "features": None}  # in no order that says what they are about
    if context is not None and context.features is not None and set(names) <= set(context.features):
        names = list(context.features)
        shared = {"names": names}
    is_missing = np.array([not row for row in rows], dtype=bool)
    return from_numbers(table.reindex(columns=names, fill_value=0.0), shared, missing=is_missing)


def _check_weights(row: int, weights: Any) -> None:
    if weights is None:
        return
    if not isinstance(weights, Mapping):
        raise InputError(
            f"explanation {row} is a {type(weights).__name__} among dicts: give one dict per row."
        )
    for name, weight in weights.items():
        if not isinstance(name, str):
            raise InputError(f"explanation {row} names the feature {name!r}: give names as texts.")
        if weight is not None and not isinstance(weight, Real | np.bool_):
            raise InputError(f"explanation {row}: the weight of {name!r} is {weight!r:.40}; give a number.")


def _from_rows(rows: list[Any]) -> Explanations:
    """Convert a list of vectors; None and an empty vector are missing explanations."""
    is_missing = np.array([row is None or _is_empty(row) for row in rows], dtype=bool)
    present = (row for row, missing in zip(rows, is_missing, strict=True) if not missing)
    width = len(next((row for row in present if isinstance(row, list | np.ndarray)), ()))
    filled = [[None] * width if missing else row for row, missing in zip(rows, is_missing, strict=True)]
    numbers = [
        [np.nan if value is None else value for value in row]
        if isinstance(row, list) and None in row
        else row
        for row in filled
    ]
    return Explanations.vectors(numbers, missing=is_missing)


def vectors_of_dicts(rows: Iterable[Mapping[str, float] | None]) -> pd.DataFrame:
    """Return weights by feature as a table, with one column per feature, sorted by name.

    Many libraries omit features that do not matter, so a feature that a row does not name has the weight 0. A
    row that is None or empty has no explanation: all its values are missing.

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
    values = [row or [None] * width for row in row_list]
    return pd.DataFrame(values, columns=[f"{name}[{j}]" for j in range(width)], dtype=np.float64)


def vectors_of_column(name: str, column: pa.ChunkedArray) -> pd.DataFrame:
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


def from_numbers(frame: pd.DataFrame, shared: dict[str, Any], **fields: Any) -> Explanations:
    """Convert a table of numbers to vectors; different numbers stay different."""
    dtypes = set(frame.dtypes) or {np.dtype(np.float64)}
    if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype) and dtype.kind != "O":
        return Explanations(kind="vector", values=frame.to_numpy(dtype=dtype), shared=shared, **fields)
    values = np.column_stack([_floats(column) for _, column in frame.items()])
    # floats cannot tell integers beyond 2**53 apart, so equality compares the original columns
    exact = frame.reset_index(drop=True) if may_be_rounded(values) else None
    return Explanations(kind="vector", values=values, identity=exact, shared=shared, **fields)


def _floats(column: pd.Series) -> NDArray[np.float64]:
    if column.dtype == object or isinstance(column.dtype, pd.ArrowDtype):  # Arrow refuses to round an integer
        return as_objects(column).astype(np.float64)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
