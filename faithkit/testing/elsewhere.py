"""Calls that are made in a worker process: to see whether things travel, and to survive what they do there.

An array of the wrong width can make a library written in C write where it must not. The process then dies,
and a check has to report that instead of dying with it.
"""

import io
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import redirect_stdout
from functools import cache, partial
from typing import Any

from cloudpickle import dumps, loads
from joblib.externals.loky import ProcessPoolExecutor

from faithkit.errors import FaithkitError
from faithkit.wording import describe

_REPEATS = 10  # damaged memory shows only sometimes


def elsewhere(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Make calls in a worker process; what they need travels by cloudpickle.

    Examples
    --------
    >>> import os
    >>> elsewhere([os.getpid]) == [os.getpid()]
    False
    """
    pickled = dumps(list(calls))
    try:
        return _sent(pickled)
    except BrokenExecutor:  # an earlier call may have done the damage: ask a new worker
        _worker.cache_clear()
        return _sent(pickled)


def raised(call: Callable[[], Any]) -> str | None:
    """Say what a call did where it should have raised a `FaithkitError`; return None where it did that.

    Examples
    --------
    >>> raised(lambda: int("seven"))
    "ValueError: invalid literal for int() with base 10: 'seven' was raised"
    """
    try:
        call()
    except FaithkitError:
        return None
    except Exception as error:
        return f"{describe(error)} was raised"
    return "nothing was raised"


def raised_elsewhere(calls: Sequence[Callable[[], Any]]) -> list[str | None]:
    """Say the same of calls in a worker process; if one of them ends it, that is said of all.

    Examples
    --------
    >>> import os
    >>> raised_elsewhere([os.getpid]), raised_elsewhere([os.getpid, os.abort])
    (['nothing was raised'], ['the process died', 'the process died'])
    """
    try:
        return elsewhere([partial(_raised_again_and_again, call) for call in calls])
    except BrokenExecutor:
        return ["the process died"] * len(calls)


def _raised_again_and_again(call: Callable[[], Any]) -> str | None:
    """Repeat a call that is refused: if it damaged memory first, the process shall die of it, not later."""
    for _ in range(_REPEATS):
        found = raised(call)
        if found is not None:
            return found
        [bytearray(size) for size in range(16, 16_000, 56)].clear()
    return None


@cache
def _worker() -> ProcessPoolExecutor:
    """Start a worker of our own; loky's reusable executor is joblib's, which would stumble over it."""
    return ProcessPoolExecutor(max_workers=1)


def _sent(pickled: bytes) -> list[Any]:
    answers: list[Any] = _worker().submit(_received, pickled).result()
    return answers


def _received(pickled: bytes) -> list[Any]:
    with redirect_stdout(io.StringIO()):  # what is printed there would stand among the results here
        return [call() for call in loads(pickled)]
