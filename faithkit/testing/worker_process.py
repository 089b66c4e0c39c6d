"""Call functions in a worker process: to check that objects can be sent, and to survive crashes.

An array of the wrong width can make a library written in C write beyond its memory. The process then dies,
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


def call_in_worker(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call functions in a worker process. They are sent by cloudpickle.

    Examples
    --------
    >>> import os
    >>> call_in_worker([os.getpid]) == [os.getpid()]
    False
    """
    pickled = dumps(list(calls))
    try:
        return _run_in_worker(pickled)
    except BrokenExecutor:  # an earlier call may have damaged the worker: try a new one
        _worker.cache_clear()
        return _run_in_worker(pickled)


def unexpected_outcome(call: Callable[[], Any]) -> str | None:
    """Describe what a call did instead of raising a `FaithkitError`; None if it raised one.

    Examples
    --------
    >>> unexpected_outcome(lambda: int("seven"))
    "ValueError: invalid literal for int() with base 10: 'seven' was raised"
    """
    try:
        call()
    except FaithkitError:
        return None
    except Exception as error:
        return f"{describe(error)} was raised"
    return "nothing was raised"


def unexpected_outcomes_in_worker(calls: Sequence[Callable[[], Any]]) -> list[str | None]:
    """Describe the same for calls in a worker process. If one of them kills it, all are reported.

    Examples
    --------
    >>> import os
    >>> unexpected_outcomes_in_worker([os.getpid]), unexpected_outcomes_in_worker([os.getpid, os.abort])
    (['nothing was raised'], ['the process died', 'the process died'])
    """
    try:
        return call_in_worker([partial(_repeat_until_unexpected, call) for call in calls])
    except BrokenExecutor:
        return ["the process died"] * len(calls)


def _repeat_until_unexpected(call: Callable[[], Any]) -> str | None:
    """Repeat a rejected call: if it damaged memory, the process should crash now and not later."""
    for _ in range(_REPEATS):
        outcome = unexpected_outcome(call)
        if outcome is not None:
            return outcome
        [bytearray(size) for size in range(16, 16_000, 56)].clear()
    return None


@cache
def _worker() -> ProcessPoolExecutor:
    """Start a separate worker: joblib uses the reusable executor of loky, and a crash would break it."""
    return ProcessPoolExecutor(max_workers=1)


def _run_in_worker(pickled: bytes) -> list[Any]:
    results: list[Any] = _worker().submit(_run_pickled, pickled).result()
    return results


def _run_pickled(pickled: bytes) -> list[Any]:
    with redirect_stdout(io.StringIO()):  # output of the worker would be mixed with results
        return [call() for call in loads(pickled)]
