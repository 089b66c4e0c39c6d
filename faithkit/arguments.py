"""Numbers as people give them: Python's, NumPy's or pandas', checked once and plain from then on."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from faithkit.errors import FaithkitError, InputError
from faithkit.wording import one_line


def python(given: Any) -> Any:
    """Return a scalar of NumPy's as Python's, and anything else as it is.

    Examples
    --------
    >>> python(np.int64(3)), python("3")
    (3, '3')
    """
    return given.item() if isinstance(given, np.generic) else given


def whole_number(
    given: Any,
    what: str,
    least: int | None = None,
    most: int | None = None,
    optional: bool = False,
    error: type[FaithkitError] = InputError,
) -> Any:
    """Return a whole number as Python's int, or say what was given instead.

    Parameters
    ----------
    given : object
        Python's or NumPy's numbers; a truth is none.
    what : str
        What it is, to begin the sentence with: "permutations", "tree: max_leaves".
    least, most : int, optional
    optional : bool
        Whether None will do, too.
    error : class of exception
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
    if optional and given is None:
        return None
    is_whole = isinstance(given, Integral) and not isinstance(given, bool | np.bool_)
    if is_whole and (least is None or given >= least) and (most is None or given <= most):
        return int(given)
    limit = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
    none = " or none" if optional else ""
    raise error(f"{what} must be a whole number{limit}{none}, got {_told(given)}.")


def share(given: Any, what: str, usual: float) -> float:
    """Return a number between 0 and 1 as Python's float, or say what was given instead.

    Examples
    --------
    >>> share(np.float32(0.5), "confidence", usual=0.95)
    0.5
    """
    if not isinstance(given, Real) or not 0 < float(given) < 1:
        raise InputError(f"{what} must be a number between 0 and 1, got {_told(given)}: {usual:g} is usual.")
    return float(given)


def _told(given: Any) -> str:
    """Return what somebody gave in one short line: arrays and results are written in several."""
    return f"{one_line(repr(given)):.60}"
