"""A time limit for one row, by an alarm signal: it interrupts Python code wherever it is.

`RowTimeout` is no `Exception`, so that an explainer's own `except Exception` cannot swallow it; should
something else swallow it, the alarm rings again.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from faithkit.errors import InputError
from faithkit.foreign import RowTimeout


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `RowTimeout` in the body after some seconds; None sets no limit.

    Examples
    --------
    >>> with time_limit(0.01):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    ...
    faithkit.foreign.RowTimeout: time limit of 0.01 s
    """
    if seconds is None:
        yield
        return
    check_possible()

    def ring(_signal: int, _frame: Any) -> None:
        raise RowTimeout(f"time limit of {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, max(seconds, 0.1))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check_possible() -> None:
    """Say so where no alarm can be set: outside a main thread, and on Windows."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        raise InputError(
            "a time limit per row needs a process of its own: use --backend sequential or loky, "
            "from a main thread, on a system with alarm signals."
        )
