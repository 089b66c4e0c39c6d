"""Streams of the command line: results go to stdout, everything else to stderr, and failures to an exit code.

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
from collections.abc import Iterator, Mapping
from typing import Any, TextIO

import click

from faithkit.errors import FaithkitError, FaithkitWarning, InputError
from faithkit.files import write_atomically
from faithkit.supervision import FAILED, INTERRUPTED
from faithkit.wording import describe, escape_json, to_printable

RESULT_STREAM = "faithkit.cli.shared.streams.results"  # a key of click's context

LOOKALIKES = "faithkit.lookalikes"  # an error handler of codecs
ASCII = {
    "−": "-", "–": "-", "—": "-", "─": "-", "…": "...", "·": "*", "×": "x", "→": "->", "≤": "<=", "≥": ">=",
    "≠": "!=", "±": "+-", "∞": "inf", "√": "sqrt", "²": "^2", "′": "'", "‘": "'", "’": "'", "“": '"',
    "”": '"', "α": "alpha", "ε": "eps", "π": "pi", "σ": "sigma", "τ": "tau", "φ": "phi", "Σ": "sum",
    "\u00a0": " ",
}  # fmt: skip

# advice for errors that nobody raised on purpose; the first class that fits counts
UNEXPECTED: tuple[tuple[type[BaseException], str], ...] = (
    (MemoryError, "Memory is too small for this: take fewer rows (--samples) or fewer workers (--n-jobs)"),
    (SystemExit, "Third-party code tried to end the program: find the call of exit in it, and remove it"),
    (Warning, "Warnings are errors here: leave out -W error, or PYTHONWARNINGS=error"),
    (OSError, "Check that the path can be used, and that there is room"),
    (BaseException, "This was not expected"),
)


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


def write_output(kind: str, path: str, content: str | bytes) -> None:
    """Write a result for programs to a file, or to stdout if the path is ``-``.

    `kind` is the media type of the content, which says how characters are escaped.
    """
    if path == "-":
        write_stdout(kind, content)
    else:
        write_atomically(path, content)


def write_stdout(kind: str, content: str | bytes) -> None:
    """Write a result for programs to stdout: the bytes of a file, or ASCII where stdout is not UTF-8.

    A terminal gets no control characters.
    """
    stream = result_stream()
    buffer = getattr(stream, "buffer", None)
    if isinstance(content, bytes):
        if buffer is None:
            raise InputError("stdout takes no bytes here: write them to a file.")
        data = content
    else:
        text = content if _is_utf8(getattr(stream, "encoding", None)) else _to_ascii(kind, content)
        if stream.isatty():
            text = to_printable(text, keep="\n\t")
        if buffer is None:
            stream.write(text)
            stream.flush()
            return
        data = text.encode("utf-8", "backslashreplace")
    stream.flush()
    buffer.write(data)
    stream.flush()


def _to_ascii(kind: str, text: str) -> str:
    """Escape all characters outside ASCII, where the format has escapes."""
    if kind == "application/json":
        return escape_json(text, ascii_only=True)
    if kind in ("text/html", "junit_path"):
        return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
    return text


def _is_utf8(encoding: str | None) -> bool:
    try:
        return encoding is None or codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False


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


@contextlib.contextmanager
def exit_on_error(options: Mapping[str, bool]) -> Iterator[None]:
    """Turn any exception into one line on stderr and an exit code; with the option `debug`, a traceback."""
    try:
        yield
    except (click.exceptions.Exit, click.Abort):
        raise
    except click.ClickException as error:
        error.message = to_printable(error.message, keep="\n\t")  # type: ignore[misc]
        raise
    except BaseException as error:
        raise click.exceptions.Exit(_print_error(error, options.get("debug", False))) from None


def _print_error(error: BaseException, debug: bool) -> int:
    """Print the error, and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        print_message(str(error) or "interrupted")
        return INTERRUPTED
    if debug:
        print_traceback(error)
    elif not isinstance(error, ReaderGoneError):
        print_message(f"error: {error_sentence(error)}")
    return FAILED


def print_traceback(error: BaseException, title: str = "") -> None:
    """Print a traceback to stderr, under a title if there is one."""
    import traceback

    print_message(title + "".join(traceback.format_exception(error)).rstrip())


def error_sentence(error: BaseException) -> str:
    """Return a sentence that says what went wrong, and what to do next."""
    description = describe(error)
    if isinstance(error, FaithkitError):
        return description
    advice = next(advice for error_class, advice in UNEXPECTED if isinstance(error, error_class))
    return f"{description.rstrip('.')}. {advice}; --debug shows the traceback."


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
