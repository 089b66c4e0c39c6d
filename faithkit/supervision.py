"""The console command watches over itself: a process that ends without having said how has not succeeded.

A model may call `os._exit(0)`, a library `exit(0)`; a process may crash, or be killed for want of memory. So
the work is done by a child, which says its exit code as the last thing it does. The parent imports nothing
and runs no code of others; it waits, passes signals on, and clears away what the child leaves behind.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from faithkit import scratch

FAILED, MISSED, INTERRUPTED = 1, 3, 130  # a limit or a check that was not met is missed
SECONDS_TO_END = 10  # of a child that was asked to end, or that has said its code
SECONDS_FOR_ORPHANS = 5
ECHO_SECONDS = 1.0

ENDING = tuple(  # there is no SIGHUP on Windows
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

PR_SET_CHILD_SUBREAPER = 36  # from linux/prctl.h

CRASHED = "A library crashed: the same command with PYTHONFAULTHANDLER=1 in its environment shows where."
REASONS = {
    "SIGKILL": "Often memory was too small: take fewer rows (--samples) or fewer workers (--n-jobs).",
    **dict.fromkeys(("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"), CRASHED),
}


def supervised(work: Callable[[], int], watched: bool = True) -> NoReturn:
    """Do the work in a child process, and end with the code that it returns; never with 0 if it does not.

    Where processes cannot be forked, or nobody need watch, the work is done in this one.
    """
    _plug()
    if not watched or not hasattr(os, "fork"):
        sys.exit(work())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # who inherits that it is ignored learns of no child's end
    folder = scratch.make()
    parent = os.getpid()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # until the parent is there to pass them on
    try:
        (said, saying), (ends, lives) = os.pipe(), os.pipe()
        child = os.fork()
    except OSError as error:
        sys.exit(f"error: no process can be started ({error.strerror}): end some others first.")
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.close(lives)
        _end_with(parent, ends)
        _work(work, saying, folder)
    os.close(saying)
    _watch(child, said, folder, mask)


def _plug() -> None:
    """Let no file that is opened later become stdin, stdout or stderr, where one of these is closed."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # one that cannot be written to, so that a result that nobody can get is an error
            os.open(os.devnull, os.O_RDONLY if descriptor == 1 else os.O_RDWR)
            os.set_inheritable(descriptor, True)


# --- the child ------------------------------------------------------------------------------------------


def _work(work: Callable[[], int], saying: int, folder: str | None) -> NoReturn:
    me = os.getpid()
    if folder is not None:
        scratch.use(folder)
    with _interrupting():
        code = work()
    if os.getpid() == me:  # and no copy that code of others has made of us
        with contextlib.suppress(OSError):  # closed by code of others
            os.write(saying, bytes([code & 0xFF]))
    # all that matters has been said: a thread that never ends, or an exit handler that hangs, is waited for
    # no longer than this
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS_TO_END)
    sys.exit(code)


def _end_with(parent: int, ends: int) -> None:
    """Make this process end with its parent, however that ends, even in a loop that hears of nothing.

    The parent alone holds the other end of the pipe `ends`, and Linux can send any signal when it is closed.
    """
    import fcntl

    try:
        fcntl.fcntl(ends, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(ends, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(ends, fcntl.F_SETFL, os.O_ASYNC)
    except (AttributeError, OSError):  # another system
        import threading

        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    if os.getppid() != parent:
        os._exit(1)


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@contextlib.contextmanager
def _interrupting() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt the work; either may come twice, when it is sent to all and passed on.

    Ctrl-C is for the parent to hear, which passes it on as SIGTERM: what ignores a signal has children that
    do, so that no worker complains of it.
    """
    last = -ECHO_SECONDS

    def interrupt(_number: int, _frame: object) -> None:
        nonlocal last
        before, last = last, time.monotonic()
        if last - before >= ECHO_SECONDS:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    heard = {signal.SIGTERM, *_heard()} - {signal.SIGINT}
    _handle(heard, interrupt)
    # a process that code of others forks, and ends by a signal, is to end as any other would
    os.register_at_fork(after_in_child=lambda: _handle(heard, signal.SIG_DFL))
    try:
        yield
    finally:
        _handle(heard, signal.SIG_IGN)


def _heard() -> list[signal.Signals]:
    """Return the signals that end a run, but for those that whoever started us chose to have ignored."""
    return [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]


def _handle(numbers: Iterable[int], handler: Any) -> None:
    for number in numbers:
        signal.signal(number, handler)


# --- the parent -----------------------------------------------------------------------------------------


def _watch(child: int, said: int, folder: str | None, mask: Iterable[int]) -> NoReturn:
    passed: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        passed.append(number)
        os.kill(child, signal.SIGTERM)
        signal.alarm(SECONDS_TO_END)  # it may be in a loop that hears nothing

    heard = _heard()
    _handle(heard, pass_on)
    _handle([signal.SIGALRM], lambda _number, _frame: os.kill(child, signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    _adopt_orphans()
    scratch.sweep()
    _, status = os.waitpid(child, 0)
    signal.alarm(0)
    _handle(heard, signal.SIG_IGN)
    _end_orphans()
    if folder is not None:
        scratch.remove(folder)
    os._exit(_exit_code(_code(said), status, passed))


def _code(said: int) -> int | None:
    """Return the code that the child said, which may have left processes behind that keep the pipe open."""
    os.set_blocking(said, False)
    try:
        code = os.read(said, 1)
    except BlockingIOError:
        return None
    return code[0] if code else None


def _exit_code(said: int | None, status: int, passed: list[int]) -> int:
    """Say what happened where the child did not, and return what the command ends with."""
    if passed and said in (None, FAILED, INTERRUPTED):  # interrupted twice, it may have failed to say so
        if said is None:
            _tell("interrupted")
        return 128 + passed[-1]
    if said is not None:
        return said
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        # a real-time signal has no name
        name = next((known.name for known in signal.Signals if known == number), f"signal {number}")
        _tell(f"error: the run was ended by {name}, without a result. {REASONS.get(name, '')}".rstrip())
        return 128 + number
    _tell(
        f"error: the run ended with exit status {os.WEXITSTATUS(status)} and without a result: a model, an "
        "explainer or a library ended the whole process. Find the call of exit in it, and take it out."
    )
    return FAILED


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"{line}\n".encode())


def _adopt_orphans() -> None:
    """Let processes whose parent has died become children of this one, where the system is Linux."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_orphans() -> None:
    """End what the child left behind in our process group: its workers, but nothing that became a daemon."""
    started = time.monotonic()
    while orphans := _orphans():
        late = time.monotonic() - started > SECONDS_FOR_ORPHANS
        for orphan in orphans:
            with contextlib.suppress(OSError):
                # a process that clears up after others ignores the first, and ends when they are gone
                os.kill(orphan, signal.SIGKILL if late else signal.SIGTERM)
        time.sleep(0.01)


def _orphans() -> list[int]:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children") as children:
            found = [int(word) for word in children.read().split()]
    except OSError:  # not Linux
        return []
    return [orphan for orphan in found if _group(orphan) == os.getpgrp()]


def _group(process: int) -> int | None:
    with contextlib.suppress(OSError):
        return os.getpgid(process)
    return None
