"""How a command ends: with an exit code that means what it says, and one line where something went wrong."""

import contextlib
from collections.abc import Iterator, Mapping

import click

from faithkit.cli.shared.streams import ReaderGoneError, tell
from faithkit.errors import FaithkitError
from faithkit.supervision import FAILED, INTERRUPTED
from faithkit.wording import describe, visible

# what to say of errors that nobody raised on purpose; the first that fits
UNEXPECTED: tuple[tuple[type[BaseException], str], ...] = (
    (MemoryError, "Memory is too small for this: take fewer rows (--samples) or fewer workers (--n-jobs)"),
    (SystemExit, "Code of others wanted to end the program: find the call of exit in it, and take it out"),
    (Warning, "Warnings are errors here: leave out -W error, or PYTHONWARNINGS=error"),
    (OSError, "Check that the path can be used, and that there is room"),
    (BaseException, "This was not expected"),
)


@contextlib.contextmanager
def one_line(options: Mapping[str, bool]) -> Iterator[None]:
    """Turn whatever is raised into one line on stderr and an exit code; with `debug`, into its traceback."""
    try:
        yield
    except (click.exceptions.Exit, click.Abort):
        raise
    except click.ClickException as error:
        error.message = visible(error.message, keep="\n\t")  # type: ignore[misc]
        raise
    except BaseException as error:
        raise click.exceptions.Exit(_told(error, options.get("debug", False))) from None


def _told(error: BaseException, debug: bool) -> int:
    """Say what went wrong, and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        tell(str(error) or "interrupted")
        return INTERRUPTED
    if debug:
        import traceback

        tell("".join(traceback.format_exception(error)).rstrip())
    elif not isinstance(error, ReaderGoneError):
        tell(f"error: {sentence(error)}")
    return FAILED


def sentence(error: BaseException) -> str:
    """Say what went wrong, and what to do next."""
    told = describe(error)
    if isinstance(error, FaithkitError):
        return told
    advice = next(advice for kind, advice in UNEXPECTED if isinstance(error, kind))
    return f"{told.rstrip('.')}. {advice}; --debug shows the traceback."
