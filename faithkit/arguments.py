"""Checks of numeric arguments: Python, NumPy or pandas numbers in, plain Python numbers out."""

from numbers import Integral, Real
from typing import Any, Literal, overload

import numpy as np

from faithkit.errors import FaithkitError, InputError
from faithkit.wording import one_line


def to_python(value: Any) -> Any:
    """Return a NumPy scalar as a Python scalar, and any other value unchanged.

    Examples
    --------
    >>> to_python(np.int64(3)), to_python("3")
    (3, '3')
    """
    return value.item() if isinstance(value, np.generic) else value


@overload
def check_integer(
    value: Any,
    name: str,
    *,
    minimum: int | None = None,
    maximum: int | None = None,
    optional: Literal[False] = False,
    error: type[FaithkitError] = InputError,
) -> int: ...


@overload
def check_integer(
    value: Any,
    name: str,
    *,
    minimum: int | None = None,
    maximum: int | None = None,
    optional: bool,
    error: type[FaithkitError] = InputError,
) -> int | None: ...


def check_integer(
    value: Any,
    name: str,
    *,
    minimum: int | None = None,
    maximum: int | None = None,
    optional: bool = False,
    error: type[FaithkitError] = InputError,
) -> int | None:
    """Check a whole number, and return it as a Python int.

    Parameters
    ----------
    value : object
        A number of Python or NumPy; booleans are refused.
    name : str
        The name of the argument, which starts the message: "permutations", "tree: max_leaves".
    minimum, maximum : int, optional
        The smallest and the largest number allowed.
    optional : bool
        Whether None is allowed.
    error : class of exception
        A component raises `ParameterError` for its parameters.

    Examples
    --------
    >>> check_integer(np.int64(3), "permutations", minimum=0)
    3
    >>> check_integer(2.5, "permutations", minimum=0)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: permutations must be a whole number of at least 0, got 2.5.
    """
    if optional and value is None:
        return None
    is_whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if is_whole and (minimum is None or value >= minimum) and (maximum is None or value <= maximum):
        return int(value)
    limit = f" of at least {minimum}" if maximum is None else f" from {minimum} to {maximum}"
    limit = "" if minimum is None else limit
    none = " or none" if optional else ""
    raise error(f"{name} must be a whole number{limit}{none}, got {_short_repr(value)}.")


def check_share(value: Any, name: str, usual: float) -> float:
    """Check a number between 0 and 1, and return it as a Python float.

    Examples
    --------
    >>> check_share(np.float32(0.5), "confidence", usual=0.95)
    0.5
    """
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError(
            f"{name} must be a number between 0 and 1, got {_short_repr(value)}: {usual:g} is usual."
        )
    return float(value)


def _short_repr(value: Any) -> str:
    """Return the repr of a value in one short line, because arrays and results have several lines."""
    return f"{one_line(repr(value)):.60}"
