"""A time limit for one row.

In a main thread an alarm signal interrupts Python code wherever it is. `RowTimeout` is no `Exception`, so
that an explainer's own `except Exception` cannot swallow it; should something else swallow it, the alarm
rings again. Code in C hears no alarm: in a process of its own, a second limit ends it together with that
process. In other threads, on workers of a cluster and on systems without alarms, the limit is cooperative: a
row that took longer is late when it is done.
"""

import contextlib
import faulthandler
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from faithkit.foreign import RowTimeout

T = TypeVar("T")

LONGEST = 1e8  # seconds, three years: timers of some systems take no more
PAUSE = 0.1  # seconds at least between two alarms, so that handlers of the first can run
GRACE = 2.0  # seconds after the alarm of a row until its process is ended


def limited(seconds: float | None, work: Callable[[], T], overdue: str | None = None) -> T:
    """Return what `work` returns, or raise `RowTimeout` if it takes longer; None sets no limit.

    Parameters
    ----------
    seconds : float, optional
    work : callable
    overdue : str, optional
        A file. If the work goes on after the limit, something is written to it, and this process ends.

    Examples
    --------
    >>> limited(1.0, lambda: "done")
    'done'
    >>> limited(0.01, lambda: [None for _ in iter(int, 1)])
    Traceback (most recent call last):
    ...
    faithkit.foreign.RowTimeout: time limit of 0.01 s
    """
    if seconds is None:
        return work()
    started = time.monotonic()
    with _deadline(seconds + GRACE, overdue):
        result = _interrupted(seconds, work) if _can_set_alarm() else work()
    if time.monotonic() - started > seconds:
        raise RowTimeout(late(seconds))
    return result


def _interrupted(seconds: float, work: Callable[[], T]) -> T:
    working, delay = True, min(seconds, LONGEST)

    def ring(_signal: int, frame: Any) -> None:
        # an exception in the code of this function would leave the alarm on, or the last handler in place
        if working and frame is not None and frame.f_code is not _interrupted.__code__:
            raise RowTimeout(late(seconds))

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, delay, max(delay, PAUSE))
        return work()
    finally:
        working = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        if callable(before):  # else `ring` stays, and does nothing: without a handler a last alarm is deadly
            signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _deadline(seconds: float, overdue: str | None) -> Iterator[None]:
    """End this process if the body takes longer: a timer of faulthandler runs even if no Python code does."""
    if overdue is None:
        yield
        return
    with open(overdue, "a") as file:
        faulthandler.dump_traceback_later(min(seconds, LONGEST), exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def late(seconds: float) -> str:
    """Say why a row has no explanation."""
    return f"time limit of {seconds:g} s"


def _can_set_alarm() -> bool:
    in_main_thread = threading.current_thread() is threading.main_thread()
    return in_main_thread and hasattr(signal, "setitimer")
