"""Run a command in one child process, whose last act is to report its exit code.

A model may call `os._exit(0)`, a library may crash, the system may kill a process for want of memory: none of
these is a success. The parent runs no code of others. It starts the same command once more, passes signals
on, and ends with the code that this child reports through a pipe, or with a failure where it reports none.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import NoReturn

FAILED, MISSED, INTERRUPTED = 1, 3, 130  # a limit or a check that was not met is missed

REPORT = "FAITHKIT_REPORT"  # the environment variable that tells the child where to report
END_OF_REPORT = b"."

CRASHED = "A library crashed: the same command with PYTHONFAULTHANDLER=1 in its environment shows where."
REASONS = {
    "SIGKILL": "Often memory was too small: take fewer rows (--samples) or fewer workers (--n-jobs).",
    **dict.fromkeys(("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"), CRASHED),
}


def supervise(work: Callable[[], int]) -> NoReturn:
    """Do the work in a child process, and exit with the code that it returns; never with 0 if it does not."""
    open_standard_streams()
    report = os.environ.pop(REPORT, None)
    if report is None:
        sys.exit(_run_child())
    _work(work, int(report))


def open_standard_streams() -> None:
    """Let no file that is opened later become stdin, stdout or stderr, where one of these is closed."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # stdout cannot be written to, so that a result that nobody can get is an error
            os.open(os.devnull, os.O_RDONLY if descriptor == 1 else os.O_RDWR)
            os.set_inheritable(descriptor, True)


# --- the child ------------------------------------------------------------------------------------------


def _work(work: Callable[[], int], report: int) -> NoReturn:
    child = os.getpid()
    descriptor = _report_descriptor(report)
    end_with_parent(os.getppid())
    if sys.platform != "win32":
        # Ctrl-C reaches the parent, which passes it on as SIGTERM; workers inherit that they ignore it
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _interrupt_once)
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    code = work()
    if os.getpid() == child:  # and no copy that code of others has forked
        with contextlib.suppress(OSError):  # closed by code of others
            os.write(descriptor, bytes([code & 0xFF]))
    sys.exit(code)


def _report_descriptor(report: int) -> int:
    if sys.platform == "win32":  # where handles are inherited, not descriptors
        import msvcrt

        return msvcrt.open_osfhandle(report, os.O_WRONLY)
    os.set_inheritable(report, False)
    return report


def _interrupt_once(_number: int, _frame: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def end_with_parent(parent: int) -> None:
    """End this process when its parent, which has this number, is gone, however that ended."""
    import threading

    threading.Thread(target=_follow, args=(parent,), daemon=True).start()


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(FAILED)


# --- the parent -----------------------------------------------------------------------------------------


def _run_child() -> int:
    """Start the same command as a child, wait for it, and return the exit code."""
    import subprocess

    reader, writer = os.pipe()
    report = _inheritable(writer)
    try:
        child = subprocess.Popen(
            [sys.executable, *sys.orig_argv[1:]],
            env={**os.environ, REPORT: str(report)},
            close_fds=False,  # a shell may pass files on, as in `--json >(jq .)`
        )
    except OSError as error:
        _print_error(f"error: no process can be started ({error.strerror}): end some others first.")
        return FAILED
    signals: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        signals.append(number)
        if len(signals) > 1:
            child.kill()
        elif sys.platform != "win32":  # Windows sends Ctrl-C to the child as well
            child.terminate()

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, pass_on)
    status = child.wait()
    return _exit_code(_read_report(reader, writer), status, signals)


def _inheritable(descriptor: int) -> int:
    """Let children inherit a descriptor, and return the number by which they know it."""
    if sys.platform == "win32":
        import msvcrt

        handle = msvcrt.get_osfhandle(descriptor)
        os.set_handle_inheritable(handle, True)
        return handle
    os.set_inheritable(descriptor, True)
    return descriptor


def _read_report(reader: int, writer: int) -> int | None:
    """Return the code that the child reported.

    Processes that it left behind may keep the pipe open, so this one writes the end that it reads up to.
    """
    os.write(writer, END_OF_REPORT)
    report = os.read(reader, 2)
    return report[0] if len(report) == 2 else None


def _exit_code(code: int | None, status: int, signals: list[int]) -> int:
    """Return what the command exits with; say what happened where the child did not."""
    if signals and code in (None, INTERRUPTED):
        if code is None:
            _print_error("interrupted")
        return 128 + signals[0]
    if code is not None:
        return code
    if status < 0:
        # a real-time signal has no name
        name = next((known.name for known in signal.Signals if known == -status), f"signal {-status}")
        _print_error(
            f"error: the run was ended by {name}, without a result. {REASONS.get(name, '')}".rstrip()
        )
        return 128 - status
    _print_error(
        f"error: the run ended with exit status {status} and without a result: a model, an explainer or a "
        "library ended the whole process. Find the call of exit in it, and take it out."
    )
    return FAILED


def _print_error(line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"{line}\n".encode())
