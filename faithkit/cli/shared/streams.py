"""Streams of the command line: results go to stdout, everything else to stderr.

While a verb of the kernel runs, `sys.stdout` is stderr, and only `print_result` writes to the real stdout.
So the prints of a model, an explainer or a module cannot mix with results. In the console process this
also holds for file descriptor 1, which C libraries, subprocesses and workers write to.
"""

import codecs
import contextlib
import errno
import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any, TextIO

import click

from faithkit.errors import FaithkitError, FaithkitWarning, InputError
from faithkit.wording import to_printable

RESULT_STREAM = "faithkit.cli.shared.streams.results"  # a key of click's context

LOOKALIKES = "faithkit.lookalikes"  # an error handler of codecs
ASCII = {
    "−": "-", "–": "-", "—": "-", "─": "-", "…": "...", "·": "*", "×": "x", "→": "->", "≤": "<=", "≥": ">=",
    "≠": "!=", "±": "+-", "∞": "inf", "√": "sqrt", "²": "^2", "′": "'", "‘": "'", "’": "'", "“": '"',
    "”": '"', "α": "alpha", "ε": "eps", "π": "pi", "σ": "sigma", "τ": "tau", "φ": "phi", "Σ": "sum",
    "\u00a0": " ",
}  # fmt: skip


class ReaderGoneError(FaithkitError):
    """The program that reads stdout has ended, as `head` does after ten lines; this is not an error."""


@contextlib.contextmanager
def redirect_stdout() -> Iterator[None]:
    """Redirect stdout to stderr, through a separate stream if possible, because code may close it."""
    try:
        stream = _text_stream(io.FileIO(sys.stderr.fileno(), "w", closefd=False), sys.stderr.encoding)
    except (AttributeError, OSError):  # stderr is closed, or is not a file
        stream = sys.stderr
    with contextlib.redirect_stdout(stream):
        yield
    with contextlib.suppress(AttributeError, OSError, ValueError):
        stream.flush()


@contextlib.contextmanager
def log_to_stderr() -> Iterator[None]:
    """Print log messages to stderr, such as the forecast of a long run without a progress bar."""
    logger, handler = logging.getLogger("faithkit"), _StderrHandler()
    level_before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level_before)
        logger.removeHandler(handler)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning of faithkit as one line, and any other warning as Python does."""
    if issubclass(category, FaithkitWarning):
        print_message(f"warning: {' '.join(str(message).split())}")
    else:
        print_message(warnings.formatwarning(message, category, filename, lineno).rstrip())


class _StderrHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        print_message(record.getMessage())


def print_result(text: str, end: str = "\n") -> None:
    """Print a result to stdout, for a person to read."""
    stream = result_stream()
    stream.write(to_printable(text, keep="\n\t") + end)
    stream.flush()


def result_stream() -> TextIO:
    """Return the stream for results."""
    ctx = click.get_current_context(silent=True)
    if ctx is None or RESULT_STREAM not in ctx.meta:
        return sys.stdout
    stream: TextIO = ctx.meta[RESULT_STREAM]
    return stream


def print_message(text: str) -> None:
    """Print a message to stderr; ignore failures, since the exit code also reports the problem."""
    with contextlib.suppress(AttributeError, OSError, ValueError):  # no stderr; it is full; it is closed
        sys.stderr.write(to_printable(text, keep="\n\t") + "\n")
        sys.stderr.flush()


def reserve_stdout() -> TextIO:
    """Move stdout to a private file descriptor, point descriptor 1 at stderr, and return the stream."""
    if os.name != "posix":
        return sys.stdout
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    private_file = _StdoutFile(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = _text_stream(private_file, encoding)
    if sys.stderr is not None:
        sys.stderr = _text_stream(io.FileIO(2, "w", closefd=False), sys.stderr.encoding)
    return sys.stdout


class _StdoutFile(io.FileIO):
    """The file behind stdout; its failures become errors that name stdout."""

    def write(self, data: Any) -> Any:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise ReaderGoneError("no process reads stdout any more.") from None
        except OSError as error:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise InputError(f"cannot write to stdout: {reason}. Send it to where there is room.") from None


def _text_stream(file: io.FileIO, encoding: str) -> TextIO:
    """Return a text stream that replaces characters outside its encoding by similar ASCII."""
    return io.TextIOWrapper(io.BufferedWriter(file), encoding, LOOKALIKES, line_buffering=True)


def _replace_by_lookalikes(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that an encoding lacks by similar ASCII, else by their escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    replacements = (
        ASCII.get(character) or character.encode("ascii", "backslashreplace").decode("ascii")
        for character in error.object[error.start : error.end]
    )
    return "".join(replacements), error.end


codecs.register_error(LOOKALIKES, _replace_by_lookalikes)
