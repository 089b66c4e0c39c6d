"""When two answers are the same: by the kernel's own notion of equality, and in words where they are not.

NaN equals NaN and −0.0 equals 0.0, since that is how explanations are compared when they are counted; and
computed numbers are the same up to the decimals that the kernel rounds them to (`explanations/precision.py`).
"""

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from faithkit.arrays.containers import concat_rows, n_rows, take_rows
from faithkit.arrays.grouping import group
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.precision import decimals_of
from faithkit.run.explaining.answer import Answer
from faithkit.wording import one_line

_SHARED = {False: 2.0**-26, True: 2.0**-14}  # of numbers such as a base value, in double and single precision
_WORDS = {"identities": "identity", "values": "value"}
_COLUMNS = ("values", "instances", "identity", "missing", "shared", "remarks")


def stored(found: Explanations) -> Explanations:
    """Return explanations as they come back from a store.

    Examples
    --------
    >>> stored(Explanations.vectors([[0.5, -1.0]], shared={"names": ["age", "sex"]})).values
    array([[ 0.5, -1. ]])
    """
    again = Answer.load(Answer.of(found).dump(""), "").explanations
    assert again is not None
    return again


def same(a: Any, b: Any, tolerance: float = 0.0) -> bool:
    """Tell whether two values are the same in type, shape and content; NaN equals NaN.

    Floats may differ by the tolerance, relative to the larger, and absolutely.

    Examples
    --------
    >>> same({"base": np.array([np.nan])}, {"base": np.array([np.nan])})
    True
    >>> same(np.array([1.0]), np.array([1]))
    False
    """
    a, b = (value.item() if isinstance(value, np.generic) else value for value in (a, b))
    if type(a) is not type(b):
        return False
    if isinstance(a, pd.DataFrame):
        return bool(a.equals(b))
    if sparse.issparse(a):
        return bool(a.shape == b.shape and a.dtype == b.dtype and same(a.toarray(), b.toarray()))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and _same_items(a, b, tolerance)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], tolerance) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(*pair, tolerance) for pair in zip(a, b, strict=True))
    if isinstance(a, float) and math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance):
        return True
    return bool(a is b or a == b or (a != a and b != b))


def _same_items(a: NDArray[Any], b: NDArray[Any], tolerance: float) -> bool:
    if a.dtype.kind == "O":
        return same(a.ravel().tolist(), b.ravel().tolist(), tolerance)
    if a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
    return np.array_equal(a, b)


def changed_part(before: Explanations, after: Explanations) -> str | None:
    """Name the first column of a batch of explanations that is not what it was."""
    return next((name for name in _COLUMNS if not same(getattr(before, name), getattr(after, name))), None)


def difference(expected: Explanations, given: Explanations, single: bool = False) -> str | None:
    """Say in what two batches of explanations differ, or return None where in nothing that is counted.

    Parameters
    ----------
    expected, given : Explanations
    single : bool
        Whether they were computed in single precision, by a model whose scores are.

    Examples
    --------
    >>> difference(Explanations.vectors([[0.1], [0.2]]), Explanations.vectors([[0.1], [0.3]]))
    'row 1 has the identity [[0.3]] instead of [[0.2]] (they differ by 0.1)'
    >>> difference(Explanations.vectors([[0.3]]), Explanations.vectors([[0.1 + 0.2]])) is None
    True
    """
    if len(expected) != len(given):
        return f"there are {len(given)} explanations instead of {len(expected)}"
    for name in ("kind", "relation", "discretizer"):
        if getattr(expected, name) != getattr(given, name):
            return f"{name} is {getattr(given, name)!r} instead of {getattr(expected, name)!r}"
    unlike = expected.missing != given.missing
    if unlike.any():
        row = int(unlike.argmax())
        return f"row {row} is {'' if given.missing[row] else 'not '}missing"
    if not same(expected.shared, given.shared, _SHARED[single]):
        return f"shared is {_short(given.shared)} instead of {_short(expected.shared)}"
    decimals = decimals_of(expected, single)
    steps = None if decimals is None else 10.0**-decimals
    for name in ("identities", "values"):
        parts = getattr(expected, name), getattr(given, name)
        if found := _rows_difference(_WORDS[name], *parts, expected.missing, steps):
            return found
    return None


def _rows_difference(
    what: str, expected: Any, given: Any, missing: NDArray[np.bool_], steps: NDArray[Any] | None
) -> str | None:
    n = len(missing)
    try:
        codes = group(concat_rows([expected, given])).codes
    except InputError as error:
        return f"the {what} cannot be compared: {error}"
    unlike = (codes[:n] != codes[n:]) & ~missing
    shapes = {getattr(part, "shape", None) for part in (expected, given)}  # a tuple has none
    if steps is not None and shapes == {(n, len(steps))}:
        with np.errstate(invalid="ignore"):  # infinities, which are equal or not
            unlike &= ~(np.isclose(expected, given, rtol=0.0, atol=steps, equal_nan=True)).all(axis=1)
    if not unlike.any():
        return None
    row = int(unlike.argmax())
    old, new = (take_rows(part, slice(row, row + 1)) for part in (expected, given))
    return f"row {row} has the {what} {_short(new)} instead of {_short(old)}{_gap(old, new)}"


def _gap(old: Any, new: Any) -> str:
    if not all(isinstance(part, np.ndarray) and part.dtype.kind == "f" for part in (old, new)):
        return ""
    return f" (they differ by {np.nanmax(np.abs(new - old)):.2g})" if old.shape == new.shape else ""


def unequal_pair(rows: Any, pairs: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the first of the pairs of rows that are not equal.

    Examples
    --------
    >>> unequal_pair(np.array([1.0, 2.0, 1.0]), [(0, 2), (0, 1)])
    (0, 1)
    """
    codes = group(rows).codes if n_rows(rows) else np.empty(0, np.int64)
    return next(((i, j) for i, j in pairs if codes[i] != codes[j]), None)


def _short(value: Any) -> str:
    text = one_line(str(value))
    return text if len(text) <= 80 else f"{text[:79]}…"
