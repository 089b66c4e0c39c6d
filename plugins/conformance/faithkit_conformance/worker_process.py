"""Call functions in a worker process: to check that objects can be sent, and to survive crashes.

An array of the wrong width can make a library written in C write beyond its memory. The process then dies,
and a check has to report that instead of dying with it.
"""

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from functools import cache, partial
from typing import Any

from cloudpickle import dumps, loads
from joblib.externals.loky import ProcessPoolExecutor

from faithkit.errors import FaithkitError
from faithkit_conformance.wording import describe


def call_in_worker(call: Callable[[], Any]) -> Any:
    """Call a function in a worker process. It is sent by cloudpickle.

    Examples
    --------
    >>> import os
    >>> call_in_worker(os.getpid) == os.getpid()
    False
    """
    pickled = dumps(call)
    try:
        return _worker().submit(_run_pickled, pickled).result()
    except BrokenExecutor:  # an earlier call may have damaged the worker: try a new one
        _worker.cache_clear()
        return _worker().submit(_run_pickled, pickled).result()


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


def unexpected_outcome_in_worker(call: Callable[[], Any]) -> str | None:
    """Describe the outcome of a call in a worker process, which the call may kill.

    Examples
    --------
    >>> import os
    >>> unexpected_outcome_in_worker(os.getpid), unexpected_outcome_in_worker(os.abort)
    ('nothing was raised', 'the process died')
    """
    try:
        outcome: str | None = call_in_worker(partial(unexpected_outcome, call))
    except BrokenExecutor:
        return "the process died"
    return outcome


@cache
def _worker() -> ProcessPoolExecutor:
    """Start a separate worker, because a crash would break loky's reusable executor, which joblib uses."""
    return ProcessPoolExecutor(max_workers=1, initializer=_be_silent)


def _be_silent() -> None:
    """Send all output of this process to the null device, also that of libraries written in C."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)


def _run_pickled(pickled: bytes) -> Any:
    return loads(pickled)()
