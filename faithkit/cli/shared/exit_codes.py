"""Exit codes of the command line: every failure becomes one line on stderr and a code that is not 0."""

import contextlib
from collections.abc import Iterator, Mapping

import click

from faithkit.cli.shared.streams import ReaderGoneError, print_message
from faithkit.errors import FaithkitError
from faithkit.supervision import FAILED, INTERRUPTED
from faithkit.wording import describe, to_printable

# advice for errors that nobody raised on purpose; the first class that fits counts
UNEXPECTED: tuple[tuple[type[BaseException], str], ...] = (
    (MemoryError, "Memory is too small for this: take fewer rows (--samples) or fewer workers (--n-jobs)"),
    (SystemExit, "Third-party code tried to end the program: find the call of exit in it, and remove it"),
    (Warning, "Warnings are errors here: leave out -W error, or PYTHONWARNINGS=error"),
    (OSError, "Check that the path can be used, and that there is room"),
    (BaseException, "This was not expected"),
)


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
        import traceback

        print_message("".join(traceback.format_exception(error)).rstrip())
    elif not isinstance(error, ReaderGoneError):
        print_message(f"error: {error_sentence(error)}")
    return FAILED


def error_sentence(error: BaseException) -> str:
    """Return a sentence that says what went wrong, and what to do next."""
    description = describe(error)
    if isinstance(error, FaithkitError):
        return description
    advice = next(advice for error_class, advice in UNEXPECTED if isinstance(error, error_class))
    return f"{description.rstrip('.')}. {advice}; --debug shows the traceback."
