"""Errors of other libraries on one line, for messages."""

from faithkit.errors import FaithkitError

_MAX_LENGTH = 300


def describe(error: BaseException) -> str:
    r"""Return an exception in one line; faithkit's own messages are sentences and need no class name.

    >>> describe(OSError("no route to host\n(it is far)"))
    'OSError: no route to host (it is far)'
    """
    text = " ".join(str(error).split())
    if isinstance(error, FaithkitError) and text:
        return text
    text = text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
