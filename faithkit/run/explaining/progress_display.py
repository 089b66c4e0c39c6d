"""Displays of progress: a bar in a terminal, a line in a notebook, or messages in the log."""

import contextlib
import logging
import sys
import time
from collections.abc import Iterator
from typing import Any, Protocol

from faithkit.wording import to_printable

LOG = logging.getLogger("faithkit")
UPDATE_SECONDS = 0.3  # between two updates of a notebook's output


class ProgressDisplay(Protocol):
    """A display of the progress of a run."""

    def show(self, done: int) -> None:
        """Show how many rows are done."""

    def tell(self, text: str) -> None:
        """Show a message."""


@contextlib.contextmanager
def open_display(is_enabled: bool, explainer: str, total: int, done: int) -> Iterator[ProgressDisplay]:
    """Open the display that suits where this runs."""
    if not is_enabled:
        yield LogDisplay(is_enabled=False)
    elif _is_notebook():
        line = NotebookLine(explainer, total, done)
        try:
            yield line
        finally:
            line.clear()
    elif sys.stderr is not None and sys.stderr.isatty():
        with _create_bar() as bar:
            yield TerminalBar(bar, explainer, total, done)
    else:
        yield LogDisplay()


class LogDisplay:
    """Messages in the logger "faithkit": as warnings, or as infos if progress is switched off."""

    def __init__(self, is_enabled: bool = True) -> None:
        self.level = logging.WARNING if is_enabled else logging.INFO

    def show(self, done: int) -> None:
        """Show nothing."""

    def tell(self, text: str) -> None:
        """Log a message."""
        LOG.log(self.level, text)


class TerminalBar:
    """A bar on stderr, with rate and remaining time; messages are printed above it and stay."""

    def __init__(self, bar: Any, explainer: str, total: int, done: int) -> None:
        self.bar = bar
        self.task = bar.add_task(f"fitting {explainer}", total=total, completed=done, rate="")

    def show(self, done: int) -> None:
        """Move the bar."""
        self.bar.update(self.task, completed=done, description="explaining")
        speed = self.bar.tasks[0].speed
        self.bar.update(self.task, rate="" if speed is None else f"{speed:.3g} rows/s")

    def tell(self, text: str) -> None:
        """Print above the bar."""
        self.bar.console.print(to_printable(text), markup=False, highlight=False)


class NotebookLine:
    """A line in a notebook's output that changes and disappears at the end; messages stay."""

    def __init__(self, explainer: str, total: int, done: int) -> None:
        from IPython.display import display

        self.total, self.done_at_start = total, done
        self.start, self.last_update = time.monotonic(), 0.0
        self.handle: Any = display(_plain_text(f"fitting {explainer} …"), raw=True, display_id=True)

    def show(self, done: int) -> None:
        """Change the line, unless it has just changed."""
        now = time.monotonic()
        if now - self.last_update < UPDATE_SECONDS:
            return
        self.last_update = now
        rate = (done - self.done_at_start) / max(now - self.start, 1e-9)
        remaining = f", {_clock_time((self.total - done) / rate)} left" if rate else ""
        self.handle.update(_plain_text(f"explaining: {done:,} of {self.total:,} rows{remaining}"), raw=True)

    def tell(self, text: str) -> None:
        """Display a message."""
        from IPython.display import display

        display(_plain_text(text), raw=True)

    def clear(self) -> None:
        """Remove the line; empty HTML is needed, because an empty text would leave a blank line."""
        self.handle.update({"text/html": "", "text/plain": ""}, raw=True)


def _is_notebook() -> bool:
    """Whether this runs in a notebook whose output is not captured; IPython is not imported for this."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if all(cls.__name__ != "ZMQInteractiveShell" for cls in type(shell).__mro__):
        return False
    # captured output, by %%capture or capture_output, would keep every change of the line
    return type(getattr(shell, "display_pub", None)).__name__ != "CapturingDisplayPublisher"


def _plain_text(text: str) -> dict[str, str]:
    return {"text/plain": to_printable(text)}


def _clock_time(duration: float) -> str:
    minutes, seconds = divmod(round(duration), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _create_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
