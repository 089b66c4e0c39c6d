"""A time limit for one row, by an alarm signal: it interrupts Python code wherever it is.

`RowTimeout` is no `Exception`, so that an explainer's own `except Exception` cannot swallow it; should
something else swallow it, the alarm rings again. Code in C hears no alarm: in a process of its own, a second
limit ends it together with that process (`Note.deadline`).
"""

import signal
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from faithkit.errors import InputError
from faithkit.foreign import RowTimeout

T = TypeVar("T")

LONGEST = 1e8  # seconds, three years: timers of some systems take no more
PAUSE = 0.1  # seconds at least between two alarms, so that handlers of the first can run


def limited(seconds: float | None, work: Callable[[], T]) -> T:
    """Return what `work` returns, or raise `RowTimeout` if it takes longer; None sets no limit.

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
    check_possible(here=True)
    working, delay = True, min(seconds, LONGEST)

    def ring(_signal: int, frame: Any) -> None:
        # an exception in the code of this function would leave the alarm on, or the last handler in place
        if working and frame is not None and frame.f_code is not limited.__code__:
            raise RowTimeout(late(seconds))

    before = signal.signal(signal.SIGALRM, ring)
    started = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, delay, max(delay, PAUSE))
        done = work()
    finally:
        working = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        if callable(before):  # else `ring` stays, and does nothing: without a handler a last alarm is deadly
            signal.signal(signal.SIGALRM, before)
    if time.monotonic() - started > seconds:
        raise RowTimeout(late(seconds))
    return done


def late(seconds: float) -> str:
    """Say why a row has no explanation."""
    return f"time limit of {seconds:g} s"


def check_possible(here: bool = False) -> None:
    """Say so where no alarm can be set: on Windows; and here, if this is no main thread."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or (here and not in_main_thread):
        raise InputError(
            "a time limit per row needs a process of its own: use --backend sequential or loky, "
            "from a main thread, on a system with alarm signals."
        )
