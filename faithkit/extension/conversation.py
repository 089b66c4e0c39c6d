"""Plugins loaded on trial, in a process of their own: one that hangs or ends the process harms nobody there.

Not by `fork`, which is not safe in a program with threads, and not in a thread, which cannot be ended.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from faithkit.extension.answers import ENDS, HANGS, LOADS, ON_TRIAL, Answer
from faithkit.extension.discovery import Source
from faithkit.extension.trial import READY

_START = 30.0  # seconds for Python itself to start
_BUSY = 4.0  # times as long as that may a plugin take on a machine that is busy
_CODE = (
    "import json, sys; asked = json.loads(sys.stdin.readline()); sys.path[:] = asked['path']; "
    "from faithkit.extension.trial import answer; answer(asked['plugins'], asked['patience'])"
)

Process = subprocess.Popen[str]
Lines = queue.SimpleQueue[str]


def ask(sources: Sequence[Source], patience: float) -> Iterator[tuple[Source, Answer]]:
    """Load plugins on trial, one after the other.

    Parameters
    ----------
    sources : sequence of Source
    patience : float
        How many seconds each may take.

    Yields
    ------
    source : Source
    answer : Answer
        There are none where no process can be started.
    """
    waiting = list(sources)
    while waiting:
        answered = 0
        for answer in _answers(waiting, patience):
            yield waiting[answered], answer
            answered += 1
        if not answered:
            return
        waiting = waiting[answered:]


def _answers(sources: Sequence[Source], patience: float) -> Iterator[Answer]:
    """Yield the answers of one process: of all plugins, or of the first ones, up to one that fails."""
    began = time.monotonic()
    with _conversation(_request(sources, patience)) as lines:
        if _next(lines, _START) != f"{READY}\n":
            return
        # where Python itself takes long to start, the machine is slow or busy: that is not the plugins' fault
        patience = max(patience, _BUSY * (time.monotonic() - began))
        for position in range(len(sources)):
            line = _next(lines, patience)
            if line == "" and position > 0:
                return  # an earlier one may be to blame: this one gets a process in which it is the first
            answer = _understood(line, patience)
            yield answer
            if answer.outcome != LOADS:
                return


def _understood(line: str | None, patience: float) -> Answer:
    if line is None:
        return Answer(HANGS, waited=patience)
    if line == "":
        return Answer(ENDS)
    try:
        return Answer(LOADS, **json.loads(line))
    except Exception:  # it wrote to where it should not; but it has come back
        return Answer(LOADS)


def _next(lines: Lines, seconds: float) -> str | None:
    """Return the next line, an empty one where the process has ended, None where nothing came in time."""
    try:
        return lines.get(timeout=seconds)
    except queue.Empty:
        return None


@contextlib.contextmanager
def _conversation(request: str) -> Iterator[Lines]:
    """Start a process, and yield the lines that it will write; it does not outlive the body."""
    lines: Lines = queue.SimpleQueue()
    process = _started()
    try:
        if process is None or not _in_a_thread(_converse, process, request, lines):
            lines.put("")
        yield lines
    finally:
        if process is not None:
            _end(process)


def _in_a_thread(function: Callable[..., None], *arguments: Any) -> bool:
    # Reading from a pipe has no time limit; waiting for what a thread reads from it has.
    try:
        threading.Thread(target=function, args=arguments, daemon=True).start()
    except RuntimeError:  # there are too many, or the program is about to end
        return False
    return True


def _converse(process: Process, request: str, lines: Lines) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        # Left open: whoever waits for a person's input hangs, and is found to.
        process.stdin.write(request)
        process.stdin.flush()
    with contextlib.suppress(OSError, ValueError), process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put("")


def _request(sources: Sequence[Source], patience: float) -> str:
    plugins = [(*source[:2], source.entry_point.name, source.entry_point.value) for source in sources]
    path = [folder for folder in sys.path if isinstance(folder, str)]
    return json.dumps({"path": path, "plugins": plugins, "patience": patience}) + "\n"


def _started() -> Process | None:
    if not _is_python(sys.executable):
        return None
    command = [sys.executable, "-I" if sys.flags.isolated else "-P", "-c", _CODE]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, ON_TRIAL: "1"},
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError, RuntimeError, subprocess.SubprocessError):
        return None


def _is_python(executable: str | None) -> bool:
    """Tell whether a program runs Python code that it is given; one with Python inside would start anew."""
    name = Path(executable or "").name.lower()
    return not getattr(sys, "frozen", False) and name.startswith(("python", "pypy", "graalpy"))


def _end(process: Process) -> None:
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)  # with all that it has started
        else:
            process.kill()
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        process.wait(timeout=1)
        assert process.stdin is not None
        process.stdin.close()
