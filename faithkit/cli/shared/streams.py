"""Where words go: results to stdout, which is theirs alone, and everything else to stderr.

A verb of the kernel runs while `sys.stdout` is stderr, and says its result with `say`; whatever a model, an
explainer or a module prints meanwhile cannot get between. In the console process this also holds for file
descriptor 1, which C libraries, subprocesses and workers write to.
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
from faithkit.wording import visible

RESULTS = "faithkit.cli.shared.streams.results"  # of click's context: the stream that results go to

LOOKALIKES = "faithkit.lookalikes"  # a way to encode
PLAIN = "plain_ascii"  # an encoding
ASCII = {
    "−": "-", "–": "-", "—": "-", "─": "-", "…": "...", "·": "*", "×": "x", "→": "->", "≤": "<=", "≥": ">=",
    "≠": "!=", "±": "+-", "∞": "inf", "√": "sqrt", "²": "^2", "′": "'", "‘": "'", "’": "'", "“": '"',
    "”": '"', "α": "alpha", "ε": "eps", "π": "pi", "σ": "sigma", "τ": "tau", "φ": "phi", "Σ": "sum",
    "\u00a0": " ",
}  # fmt: skip


class ReaderGoneError(FaithkitError):
    """Whoever read stdout is gone, as `head` is after its ten lines: nothing to complain about."""


class Verb(click.Command):
    """A verb of the kernel: what it does not `say` is no result, and goes to stderr."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb, with stdout out of everybody's reach."""
        ctx.meta[RESULTS] = sys.stdout
        with aside(), _log_told():
            return super().invoke(ctx)


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """Let what is printed go to stderr, by a stream of its own where there can be one: it may get closed."""
    try:
        other: Any = _text(io.FileIO(sys.stderr.fileno(), "w", closefd=False), sys.stderr.encoding)
    except (AttributeError, OSError):  # stderr is closed; it is no file
        other = sys.stderr
    with contextlib.redirect_stdout(other):
        yield
    with contextlib.suppress(AttributeError, OSError, ValueError):
        other.flush()


@contextlib.contextmanager
def _log_told() -> Iterator[None]:
    """Tell what is logged: where no bar can be shown, how long a run will take."""
    log, handler = logging.getLogger("faithkit"), _StderrHandler()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(before)
        log.removeHandler(handler)


def show_warning(message: Any, category: Any, filename: Any, lineno: Any, *_: Any, **__: Any) -> None:
    """Show faithkit's own warnings as one line each; all others as Python does."""
    if issubclass(category, FaithkitWarning):
        tell(f"warning: {' '.join(str(message).split())}")
    else:
        tell(warnings.formatwarning(message, category, filename, lineno).rstrip())


class _StderrHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        tell(record.getMessage())


def say(text: str, end: str = "\n") -> None:
    """Print a result, for a person to read."""
    stream = results()
    stream.write(visible(text, keep="\n\t") + end)
    stream.flush()


def results() -> Any:
    """Return the stream that results go to."""
    ctx = click.get_current_context(silent=True)
    return sys.stdout if ctx is None else ctx.meta.get(RESULTS, sys.stdout)


def tell(text: str) -> None:
    """Print what is no result on stderr; if even that cannot be written, the exit code has to do."""
    with contextlib.suppress(AttributeError, OSError, ValueError):  # there is none; it is full; it was closed
        sys.stderr.write(visible(text, keep="\n\t") + "\n")
        sys.stderr.flush()


def keep_stdout() -> TextIO:
    """Give stdout a file descriptor of its own, let the usual one be stderr's, and return the stream."""
    if os.name != "posix":
        return sys.stdout
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    private = _Stdout(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = _text(private, encoding)
    if sys.stderr is not None:
        sys.stderr = _text(io.FileIO(2, "w", closefd=False), sys.stderr.encoding)
    return sys.stdout


class _Stdout(io.FileIO):
    """The file that stdout is; what is wrong with it has a name."""

    def write(self, data: Any) -> Any:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise ReaderGoneError("nobody reads stdout any more.") from None
        except OSError as error:
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise InputError(f"cannot write to stdout: {reason}. Send it to where there is room.") from None


def _text(file: io.FileIO, encoding: str) -> TextIO:
    """Return a text stream that writes what its encoding lacks as ASCII that looks like it."""
    name = PLAIN if codecs.lookup(encoding).name == "ascii" else encoding
    return io.TextIOWrapper(io.BufferedWriter(file), name, LOOKALIKES, line_buffering=True)


def _plain_ascii(name: str) -> codecs.CodecInfo | None:
    """Return ASCII under another name: of its own, click thinks that UTF-8 was meant, and writes that."""
    ascii = codecs.lookup("ascii")
    encoder, decoder = ascii.incrementalencoder, ascii.incrementaldecoder
    found = codecs.CodecInfo(*ascii, incrementalencoder=encoder, incrementaldecoder=decoder, name=PLAIN)
    return found if name == PLAIN else None


def _lookalikes(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks by ASCII that looks like it, else by its escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    escaped = (ASCII.get(one) or one.encode("ascii", "backslashreplace").decode("ascii") for one in lacking)
    return "".join(escaped), error.end


codecs.register(_plain_ascii)
codecs.register_error(LOOKALIKES, _lookalikes)
