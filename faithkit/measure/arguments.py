"""Numbers as people give them: Python's, NumPy's or pandas', checked once and plain from then on."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from faithkit.errors import FaithkitError, InputError


def python(given: Any) -> Any:
    """Return a scalar of NumPy's as Python's, and anything else as it is.

    Examples
    --------
    >>> python(np.int64(3)), python("3")
    (3, '3')
    """
    return given.item() if isinstance(given, np.generic) else given


def whole_number(
    given: Any, what: str, least: int | None = None, remedy: str = "", error: type[FaithkitError] = InputError
) -> int:
    """Return a whole number of at least `least` as Python's int, or say what was given instead.

    Parameters
    ----------
    given : object
        Python's or NumPy's numbers; a truth is none.
    what : str
        What it is, to begin the sentence with: "permutations", "tree: max_leaves".
    least : int, optional
    remedy : str, default=""
        What else to do about it, as a sentence of its own.
    error : class of exception, default=InputError
        A component's parameters raise `ParameterError`.

    Examples
    --------
    >>> whole_number(np.int64(3), "permutations", least=0)
    3
    >>> whole_number(2.5, "permutations", least=0)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: permutations must be a whole number of at least 0, got 2.5.
    """
    is_whole = isinstance(given, Integral) and not isinstance(given, bool | np.bool_)
    if not is_whole or (least is not None and given < least):
        limit = "" if least is None else f" of at least {least}"
        raise error(f"{what} must be a whole number{limit}, got {given!r:.60}.{remedy}")
    return int(given)


def share(given: Any, what: str, usual: float) -> float:
    """Return a number between 0 and 1 as Python's float, or say what was given instead.

    Examples
    --------
    >>> share(np.float32(0.5), "confidence", usual=0.95)
    0.5
    """
    if not isinstance(given, Real) or not 0 < float(given) < 1:
        raise InputError(f"{what} must be a number between 0 and 1, got {given!r:.60}: {usual:g} is usual.")
    return float(given)
