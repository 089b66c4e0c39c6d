"""Manners that plugins may lack: what they print is no result, and the working folder is not theirs."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

_ONE_AT_A_TIME = threading.RLock()  # a second thread would take our stderr for the stdout to go back to


@contextlib.contextmanager
def same_folder() -> Iterator[None]:
    """Go back to the working folder afterwards, where the body has left it."""
    before = _folder()
    try:
        yield
    finally:
        if before is not None and _folder() != before:
            with contextlib.suppress(OSError):
                os.chdir(before)


@contextlib.contextmanager
def silent_stdout() -> Iterator[None]:
    """Send to stderr whatever the body writes to stdout, by `print` or to the file descriptor."""
    with _ONE_AT_A_TIME, _diverted(1, 2), contextlib.redirect_stdout(sys.stderr):
        yield


@contextlib.contextmanager
def _diverted(descriptor: int, other: int) -> Iterator[None]:
    try:
        kept = os.dup(descriptor)
    except OSError:  # closed, as in a service: nothing can be written to it
        yield
        return
    _flush()
    try:
        with contextlib.suppress(OSError):
            os.dup2(other, descriptor)
        yield
    finally:
        _flush()
        os.dup2(kept, descriptor)
        os.close(kept)


def _flush() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.__stdout__.flush()  # type: ignore[union-attr]  # None in a program without a console


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # deleted
        return None
