"""Supervision: run a command in a child process that reports its exit code as its last action.

A model may call `os._exit(0)`, a library may crash, the system may kill a process for lack of memory. None of
these is a success. The parent runs no third-party code. It starts the same command as a child and passes
signals on. It exits with the code that the child reports through a pipe, or with a failure if there is none.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import NoReturn

FAILED, MISSED, INTERRUPTED = 1, 3, 130  # missed: a limit or a check was not met

REPORT = "FAITHKIT_REPORT"  # the environment variable with the descriptor for the child's report
END_OF_REPORT = b"."

CRASHED = "A library crashed: the same command with PYTHONFAULTHANDLER=1 in its environment shows where."
REASONS = {
    "SIGKILL": "Often memory was too small: take fewer rows (--samples) or fewer workers (--n-jobs).",
    **dict.fromkeys(("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"), CRASHED),
}


def supervise(work: Callable[[], int]) -> NoReturn:
    """Do the work in a child process, and exit with its code, or with a failure if it returns none."""
    open_standard_streams()
    report = os.environ.pop(REPORT, None)
    if report is None:
        sys.exit(_run_child())
    _work_in_child(work, int(report))


def open_standard_streams() -> None:
    """Open the null device for each closed standard stream, so that no file opened later takes its place."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # stdout is not writable, so that a result that would be lost is an error
            os.open(os.devnull, os.O_RDONLY if descriptor == 1 else os.O_RDWR)
            os.set_inheritable(descriptor, True)


# --- the child ------------------------------------------------------------------------------------------


def _work_in_child(work: Callable[[], int], report: int) -> NoReturn:
    child = os.getpid()
    descriptor = _report_descriptor(report)
    end_with_parent(os.getppid())
    if sys.platform != "win32":
        # The parent gets Ctrl-C and sends SIGTERM. Workers inherit that SIGINT is ignored.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _interrupt_once)
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    code = work()
    if os.getpid() == child:  # not in a copy that third-party code has forked
        with contextlib.suppress(OSError):  # third-party code has closed it
            os.write(descriptor, bytes([code & 0xFF]))
    sys.exit(code)


def _report_descriptor(report: int) -> int:
    if sys.platform == "win32":  # Windows inherits handles, not descriptors
        import msvcrt

        return msvcrt.open_osfhandle(report, os.O_WRONLY)
    os.set_inheritable(report, False)
    return report


def _interrupt_once(_number: int, _frame: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def end_with_parent(parent: int) -> None:
    """End this process when its parent has ended in any way: for workers, which call it once.

    Parameters
    ----------
    parent : int
        The parent's process number, as `os.getppid` returns it.
    """
    import threading

    threading.Thread(target=_wait_for_end_of, args=(parent,), daemon=True).start()


def _wait_for_end_of(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(FAILED)


# --- the parent -----------------------------------------------------------------------------------------


def _run_child() -> int:
    """Start the same command as a child, wait for it, and return the exit code."""
    import subprocess

    reader, writer = os.pipe()
    report = _make_inheritable(writer)
    try:
        child = subprocess.Popen(
            [sys.executable, *sys.orig_argv[1:]],
            env={**os.environ, REPORT: str(report)},
            close_fds=False,  # a shell may pass on files, as in `--format json --out >(jq .)`
        )
    except OSError as error:
        _print_error(f"error: no process can be started ({error.strerror}): end other processes first.")
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


def _make_inheritable(descriptor: int) -> int:
    """Let children inherit a descriptor, and return its number in the children."""
    if sys.platform == "win32":
        import msvcrt

        handle = msvcrt.get_osfhandle(descriptor)
        os.set_handle_inheritable(handle, True)
        return handle
    os.set_inheritable(descriptor, True)
    return descriptor


def _read_report(reader: int, writer: int) -> int | None:
    """Return the code that the child reported.

    Other processes may keep the pipe open, so the parent itself writes the end of the report.
    """
    os.write(writer, END_OF_REPORT)
    report = os.read(reader, 2)
    return report[0] if len(report) == 2 else None


def _exit_code(code: int | None, status: int, signals: list[int]) -> int:
    """Return the exit code of the command; print what happened if the child reported nothing."""
    if signals and code in (None, INTERRUPTED):
        if code is None:
            _print_error("interrupted")
        return 128 + signals[0]
    if code is not None:
        return code
    if status < 0:
        # a real-time signal has no name
        name = next((member.name for member in signal.Signals if member == -status), f"signal {-status}")
        _print_error(
            f"error: the run was ended by {name}, without a result. {REASONS.get(name, '')}".rstrip()
        )
        return 128 - status
    _print_error(
        f"error: the run ended with exit status {status} and without a result: a model, an explainer or a "
        "library ended the whole process. Find the call of exit in it, and remove it."
    )
    return FAILED


def _print_error(line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"{line}\n".encode())
