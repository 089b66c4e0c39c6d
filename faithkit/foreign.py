"""Code of others (models, explainers, relations, modules): whatever it raises becomes one line that names it.

A model may call `sys.exit(0)`, a value's `__eq__` may raise, an exception may fail to say its own text. None
of this may end a run without a word, or with the exit code of a success.
"""

import contextlib
from collections.abc import Iterator

from faithkit.errors import FaithkitError, InputError
from faithkit.wording import describe


class RowTimeout(BaseException):
    """A row took longer than it may; no `Exception`, so that an explainer's own handler cannot swallow it."""


# ours, and what a person or a time limit did: neither is the doing of the code that was called
_PASSED_ON = (FaithkitError, KeyboardInterrupt, RowTimeout)


@contextlib.contextmanager
def foreign(who: str, advice: str = "", error: type[FaithkitError] = InputError) -> Iterator[None]:
    """Run the body, and raise what goes wrong in it as an `error` that says who failed, and what to do.

    Parameters
    ----------
    who : str
        The culprit, as a sentence begins: "the relation within".
    advice : str
        What to do next, as a sentence.
    error : type
        The class of what is raised; faithkit's own errors pass as they are.

    Examples
    --------
    >>> with foreign("the model approve", "Give X the columns that it was trained on."):
    ...     raise SystemExit(0)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the model approve failed with SystemExit: 0. Give X the columns ...
    """
    try:
        yield
    except _PASSED_ON:
        raise
    except BaseException as raised:
        raise error(f"{who} failed with {describe(raised).rstrip('.')}. {advice}".rstrip()) from raised
