"""Where progress is shown: in a terminal, in a notebook, or nowhere, when words go to the log."""

import contextlib
import logging
import sys
import time
from collections.abc import Iterator
from typing import Any, Protocol

from faithkit.wording import visible

LOG = logging.getLogger("faithkit")
PAUSE = 0.3  # seconds between two pictures in a notebook


class Outlet(Protocol):
    """What is shown of a run."""

    def show(self, done: int) -> None:
        """Show how many rows are done."""

    def tell(self, text: str) -> None:
        """Show a sentence."""


@contextlib.contextmanager
def outlet(wanted: bool, who: str, total: int, done: int) -> Iterator[Outlet]:
    """Open the outlet where somebody is looking."""
    if not wanted:
        yield Log(wanted=False)
    elif _is_notebook():
        shown = Notebook(who, total, done)
        try:
            yield shown
        finally:
            shown.clear()
    elif sys.stderr is not None and sys.stderr.isatty():
        with _bar() as bar:
            yield Terminal(bar, who, total, done)
    else:
        yield Log()


class Log:
    """No outlet for pictures: sentences go to the logger "faithkit", as warnings if somebody wants them."""

    def __init__(self, wanted: bool = True) -> None:
        self.level = logging.WARNING if wanted else logging.INFO

    def show(self, done: int) -> None:
        """Show nothing."""

    def tell(self, text: str) -> None:
        """Log a sentence."""
        LOG.log(self.level, text)


class Terminal:
    """A bar on stderr, with rate and time left; sentences stand above it, and stay."""

    def __init__(self, bar: Any, who: str, total: int, done: int) -> None:
        self.bar = bar
        self.task = bar.add_task(f"fitting {who}", total=total, completed=done, rate="")

    def show(self, done: int) -> None:
        """Move the bar."""
        self.bar.update(self.task, completed=done, description="explaining")
        speed = self.bar.tasks[0].speed
        self.bar.update(self.task, rate="" if speed is None else f"{speed:.3g} rows/s")

    def tell(self, text: str) -> None:
        """Print above the bar."""
        self.bar.console.print(visible(text), markup=False, highlight=False)


class Notebook:
    """A line of a notebook's output that changes, and goes away in the end; sentences stay."""

    def __init__(self, who: str, total: int, done: int) -> None:
        from IPython.display import display

        self.total, self.start, self.done, self.last = total, time.monotonic(), done, 0.0
        self.handle: Any = display(_line(f"fitting {who} …"), raw=True, display_id=True)

    def show(self, done: int) -> None:
        """Change the line, if that is not too soon."""
        now = time.monotonic()
        if now - self.last < PAUSE:
            return
        self.last = now
        rate = (done - self.done) / max(now - self.start, 1e-9)
        left = f", {_clock((self.total - done) / rate)} left" if rate else ""
        self.handle.update(_line(f"explaining: {done:,} of {self.total:,} rows{left}"), raw=True)

    def tell(self, text: str) -> None:
        """Print a sentence, as notebooks show it."""
        from IPython.display import display

        display(_line(text), raw=True)

    def clear(self) -> None:
        """Take the line away: an empty text would still be a blank line, and empty HTML is nothing."""
        self.handle.update({"text/html": "", "text/plain": ""}, raw=True)


def _is_notebook() -> bool:
    """Whether this runs in a notebook whose output is not captured; nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if all(kind.__name__ != "ZMQInteractiveShell" for kind in type(shell).__mro__):
        return False
    # what is captured, by %%capture or capture_output, would keep every change of the line
    return type(getattr(shell, "display_pub", None)).__name__ != "CapturingDisplayPublisher"


def _line(text: str) -> dict[str, str]:
    return {"text/plain": visible(text)}


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _bar() -> Any:
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
