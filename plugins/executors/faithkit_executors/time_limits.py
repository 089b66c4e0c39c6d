"""A time limit for one row.

In the main thread, an alarm signal interrupts Python code wherever it is. `RowTimeout` is no `Exception`, so
that an `except Exception` of an explainer cannot swallow it. If other code swallows it, the alarm repeats. An
alarm does not interrupt C code: in a worker process, a second limit ends the process. In other threads, on
workers of a cluster and on systems without alarms, the limit is checked only after the row is done.
"""

import contextlib
import faulthandler
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit.errors import ExplainerError, ParameterError
from faithkit.plugin import Job

T = TypeVar("T")

LONGEST = 1e8  # seconds (three years): timers of some systems accept no more
ALARM_PAUSE = 0.1  # seconds between two alarms at least, so that handlers of the first can run
GRACE = 2.0  # seconds from the alarm of a row to the end of its process


class RowTimeout(BaseException):
    """A row took longer than its time limit; no `Exception`, so that an explainer cannot catch it."""


def check_timeout(timeout: Any, executor: str) -> float | None:
    """Check the time limit of an executor's rows, and return it as a Python float.

    >>> check_timeout(np.float32(0.5), "processes")
    0.5
    """
    if timeout is None:
        return None
    seconds = timeout.item() if isinstance(timeout, np.generic) else timeout
    if not isinstance(seconds, Real) or not 0 < seconds <= sys.float_info.max:  # type: ignore[operator]
        raise ParameterError(f"{executor}: timeout must be a number of seconds above 0, got {seconds!r}.")
    return float(seconds)


@attrs.frozen(eq=False, slots=False)
class LimitedJob(Job):
    """A job each of whose calls may take only so many seconds: for workers that explain one row at a time."""

    seconds: float = attrs.field(kw_only=True)
    overdue_file: str | None = attrs.field(kw_only=True)

    @classmethod
    def of(cls, job: Job, seconds: float, overdue_file: str | None) -> "LimitedJob":
        """Return a job with a limit, which fits an explainer of its own."""
        fields = {field.name: getattr(job, field.name) for field in attrs.fields(Job)}
        return cls(**fields, seconds=seconds, overdue_file=overdue_file)

    def explain(self, X: Any, seeds: NDArray[np.uint32]) -> faithkit.Explanations:
        """Explain rows, or raise an error that is a failure of the row."""
        explain = super().explain
        try:
            return run_with_time_limit(self.seconds, lambda: explain(X, seeds), self.overdue_file)
        except RowTimeout as error:
            raise ExplainerError(str(error)) from None


def run_with_time_limit(
    seconds: float | None, function: Callable[[], T], overdue_file: str | None = None
) -> T:
    """Return the result of a function, or raise `RowTimeout` if it takes too long.

    Parameters
    ----------
    seconds : float, optional
        None sets no limit.
    function : callable
    overdue_file : str, optional
        A file. If the function ignores the limit, something is written to this file and the process ends.

    Examples
    --------
    >>> run_with_time_limit(1.0, lambda: "done")
    'done'
    >>> run_with_time_limit(0.01, lambda: [None for _ in iter(int, 1)])
    Traceback (most recent call last):
    ...
    faithkit_executors.time_limits.RowTimeout: time limit of 0.01 s
    """
    if seconds is None:
        return function()
    started = time.monotonic()
    with _end_process_after(seconds + GRACE, overdue_file):
        result = _run_with_alarm(seconds, function) if _can_set_alarm() else function()
    if time.monotonic() - started > seconds:
        raise RowTimeout(timeout_reason(seconds))
    return result


def _run_with_alarm(seconds: float, function: Callable[[], T]) -> T:
    is_running, delay = True, min(seconds, LONGEST)

    def raise_timeout(_signal: int, frame: Any) -> None:
        # an exception in the code of this function would leave the alarm on, or the new handler in place
        if is_running and frame is not None and frame.f_code is not _run_with_alarm.__code__:
            raise RowTimeout(timeout_reason(seconds))

    previous_handler = signal.signal(signal.SIGALRM, raise_timeout)
    try:
        signal.setitimer(signal.ITIMER_REAL, delay, max(delay, ALARM_PAUSE))
        return function()
    finally:
        is_running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        # else `raise_timeout` stays and does nothing: without a handler, a late alarm would end the process
        if callable(previous_handler):
            signal.signal(signal.SIGALRM, previous_handler)


@contextlib.contextmanager
def _end_process_after(seconds: float, overdue_file: str | None) -> Iterator[None]:
    """End this process if the body takes longer, even if it runs C code: the timer is faulthandler's."""
    if overdue_file is None:
        yield
        return
    with open(overdue_file, "a") as file:
        faulthandler.dump_traceback_later(min(seconds, LONGEST), exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def timeout_reason(seconds: float) -> str:
    """Return the reason why a row that took too long has no explanation."""
    return f"time limit of {seconds:g} s"


def _can_set_alarm() -> bool:
    in_main_thread = threading.current_thread() is threading.main_thread()
    return in_main_thread and hasattr(signal, "setitimer")
