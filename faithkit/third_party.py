"""Calls of third-party code (models, explainers, relations, modules), whose exceptions name the culprit.

A model may call `sys.exit(0)`. That must not end a run without a message, or with the exit code of a success.
"""

import contextlib
from collections.abc import Iterator

from faithkit.errors import FaithkitError, InputError
from faithkit.wording import describe


@contextlib.contextmanager
def guard(culprit: str, advice: str = "", error: type[FaithkitError] = InputError) -> Iterator[None]:
    """Run the body, and turn any exception into an `error` that says what failed, and what to do.

    Parameters
    ----------
    culprit : str
        The third-party code, as the start of a sentence: "the relation within".
    advice : str
        What to do next, as a sentence.
    error : type
        The class of the error; faithkit's own errors are raised unchanged.

    Examples
    --------
    >>> with guard("the model approve", "Give X the columns that it was trained on."):
    ...     raise SystemExit(0)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the model approve failed with SystemExit: 0. Give X the columns ...
    """
    try:
        yield
    except FaithkitError:
        raise
    except (Exception, SystemExit) as cause:  # no interruption by a person or a time limit
        raise error(f"{culprit} failed with {describe(cause).rstrip('.')}. {advice}".rstrip()) from cause
