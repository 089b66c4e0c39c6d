"""Compare answers as the kernel does, and describe their differences.

NaN equals NaN and −0.0 equals 0.0, as in counts of explanations. Computed numbers are equal up to the
decimals to which the kernel rounds them (`explanations/precision.py`).
"""

import math
import pickle
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from faithkit import Explanations, Rule
from faithkit.errors import InputError
from faithkit.plugin import choose_decimals, concat_rows, group, one_line, take_rows

_SHARED_TOLERANCE = {False: 2.0**-26, True: 2.0**-14}  # for a base value, in double and single precision
_STORABLE = (bool, int, float, str, np.ndarray, np.generic, pd.DataFrame, Rule)
_SINGULAR = {"identities": "identity", "values": "value"}
_CHECKED_COLUMNS = ("values", "instances", "identity", "missing", "shared", "remarks")


def pickle_and_load(explanations: Explanations) -> Explanations:
    """Return explanations as another process gets them. The rows stay behind, since all processes have them.

    Examples
    --------
    >>> pickle_and_load(Explanations.vectors([[0.5, -1.0]], shared={"names": ["age", "sex"]})).values
    array([[ 0.5, -1. ]])
    """
    loaded: Explanations = pickle.loads(pickle.dumps(attrs.evolve(explanations, instances=None)))
    return loaded


def find_foreign_type(value: Any) -> str | None:
    """Return the name of the first type in a value that is neither an array, a table, a rule nor of JSON.

    Examples
    --------
    >>> find_foreign_type({"names": ["age"], "base": np.zeros(2)}) is None
    True
    >>> find_foreign_type({"names": {"age", "sex"}})
    'set'
    """
    if value is None or isinstance(value, _STORABLE):
        return None
    if not isinstance(value, dict | list | tuple):
        return type(value).__name__
    items = [*value, *value.values()] if isinstance(value, dict) else value
    return next(filter(None, map(find_foreign_type, items)), None)


def are_equal(a: Any, b: Any, tolerance: float = 0.0) -> bool:
    """Return whether two values are equal in type, shape and content. NaN equals NaN.

    Floats may differ by the tolerance, relatively or absolutely.

    Examples
    --------
    >>> are_equal({"base": np.array([np.nan])}, {"base": np.array([np.nan])})
    True
    >>> are_equal(np.array([1.0]), np.array([1]))
    False
    """
    a, b = (value.item() if isinstance(value, np.generic) else value for value in (a, b))
    if type(a) is not type(b):
        return False
    if isinstance(a, pd.DataFrame):
        return bool(a.equals(b))
    if sparse.issparse(a):
        return bool(a.shape == b.shape and a.dtype == b.dtype and are_equal(a.toarray(), b.toarray()))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and _are_items_equal(a, b, tolerance)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(are_equal(a[key], b[key], tolerance) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(are_equal(*pair, tolerance) for pair in zip(a, b, strict=True))
    if isinstance(a, float) and math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance):
        return True
    return bool(a is b or a == b or (a != a and b != b))


def _are_items_equal(a: NDArray[Any], b: NDArray[Any], tolerance: float) -> bool:
    if a.dtype.kind == "O":
        return are_equal(a.ravel().tolist(), b.ravel().tolist(), tolerance)
    if a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
    return np.array_equal(a, b)


def first_changed_column(before: Explanations, after: Explanations) -> str | None:
    """Return the name of the first column of explanations that changed; None if none did."""
    return next(
        (name for name in _CHECKED_COLUMNS if not are_equal(getattr(before, name), getattr(after, name))),
        None,
    )


def describe_difference(expected: Explanations, actual: Explanations, is_single: bool = False) -> str | None:
    """Describe how two batches of explanations differ; None if they count as equal.

    Parameters
    ----------
    expected, actual : Explanations
    is_single : bool
        Whether they were computed in single precision, by a model with such scores.

    Examples
    --------
    >>> describe_difference(Explanations.vectors([[0.1], [0.2]]), Explanations.vectors([[0.1], [0.3]]))
    'row 1 has the identity [[0.3]] instead of [[0.2]] (they differ by 0.1)'
    >>> describe_difference(Explanations.vectors([[0.3]]), Explanations.vectors([[0.1 + 0.2]])) is None
    True
    """
    if len(expected) != len(actual):
        return f"there are {len(actual)} explanations instead of {len(expected)}"
    for name in ("kind", "relation", "discretizer"):
        if getattr(expected, name) != getattr(actual, name):
            return f"{name} is {getattr(actual, name)!r} instead of {getattr(expected, name)!r}"
    is_different = expected.missing != actual.missing
    if is_different.any():
        row = int(is_different.argmax())
        return f"row {row} is {'' if actual.missing[row] else 'not '}missing"
    if not are_equal(expected.shared, actual.shared, _SHARED_TOLERANCE[is_single]):
        return f"shared is {_shorten(actual.shared)} instead of {_shorten(expected.shared)}"
    decimals = choose_decimals(expected, is_single)
    steps = None if decimals is None else 10.0**-decimals
    for name in ("identities", "values"):
        columns = getattr(expected, name), getattr(actual, name)
        if row_difference := _describe_row_difference(_SINGULAR[name], *columns, expected.missing, steps):
            return row_difference
    return None


def _describe_row_difference(
    column: str, expected: Any, actual: Any, missing: NDArray[np.bool_], steps: NDArray[Any] | None
) -> str | None:
    n = len(missing)
    try:
        codes = group(concat_rows([expected, actual])).codes
    except InputError as error:
        return f"the {column} cannot be compared: {error}"
    is_different = (codes[:n] != codes[n:]) & ~missing
    shapes = {getattr(rows, "shape", None) for rows in (expected, actual)}  # a tuple has none
    if steps is not None and shapes == {(n, len(steps))}:
        with np.errstate(invalid="ignore"):  # infinities
            is_different &= ~(np.isclose(expected, actual, rtol=0.0, atol=steps, equal_nan=True)).all(axis=1)
    if not is_different.any():
        return None
    row = int(is_different.argmax())
    old, new = (take_rows(rows, slice(row, row + 1)) for rows in (expected, actual))
    return f"row {row} has the {column} {_shorten(new)} instead of {_shorten(old)}{_describe_gap(old, new)}"


def _describe_gap(old: Any, new: Any) -> str:
    if not all(isinstance(row, np.ndarray) and row.dtype.kind == "f" for row in (old, new)):
        return ""
    return f" (they differ by {np.nanmax(np.abs(new - old)):.2g})" if old.shape == new.shape else ""


def _shorten(value: Any) -> str:
    text = one_line(str(value))
    return text if len(text) <= 80 else f"{text[:79]}…"
