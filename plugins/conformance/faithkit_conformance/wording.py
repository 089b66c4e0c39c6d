"""Errors on one line."""

import traceback

from faithkit.errors import FaithkitError
from faithkit.plugin import one_line


def describe(error: BaseException) -> str:
    """Return an exception in one line; faithkit's own messages are sentences and need no class name.

    An assert without a message is described by its source line, if that can be read.

    >>> describe(ValueError("k must be positive"))
    'ValueError: k must be positive'
    >>> describe(StopIteration())
    'StopIteration'
    """
    text = str(error)
    if isinstance(error, FaithkitError) and text:
        return " ".join(text.split())
    text = one_line(text or _assert_source(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _assert_source(error: BaseException) -> str:
    if not isinstance(error, AssertionError) or error.__traceback__ is None:
        return ""
    return traceback.extract_tb(error.__traceback__)[-1].line or ""
