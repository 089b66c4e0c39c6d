"""Progress of a run: count finished rows, show them, and forecast early how long a long run will take.

A bar in a terminal or a line in a notebook shows the rows. Forecasts go to the same place, else to the log.
"""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import attrs

from faithkit.errors import warn
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.wording import to_printable

LOG = logging.getLogger("faithkit")
FORECAST_AFTER = 5.0  # seconds, once a chunk is finished
LONG_RUN = 60.0  # seconds: shorter runs get no forecast
UPDATE_SECONDS = 0.3  # between two updates of a notebook's output
MIN_ROWS_ADVISED = 20  # rows: smaller samples say nothing about a model

_active_progress: ContextVar["Progress | None"] = ContextVar("active_progress", default=None)


def report_progress(rows: int = 1) -> None:
    """Report progress from within an explainer's `explain`: more rows of the batch are done.

    This moves the progress bar, if there is one. Call it in an explainer that takes long for a batch.

    Parameters
    ----------
    rows : int
        The number of rows that were done since the last call.

    Examples
    --------
    >>> import faithkit
    >>> def explain(X):
    ...     explanations = []
    ...     for row in X:
    ...         explanations.append(row.argmax())  # or something that takes a second
    ...         faithkit.plugin.report_progress()
    ...     return explanations
    """
    progress = _active_progress.get()
    if progress is not None:
        progress.advance(rows)


def warn_early(texts: Iterable[str]) -> None:
    """Show warnings before any row is explained; in a worker, they travel with its result instead."""
    progress = _active_progress.get()
    if progress is not None:
        progress.warn(texts)


@contextlib.contextmanager
def track_progress(
    explainer: str, executor: ResolvedComponent, total: int, is_shown: bool = True
) -> Iterator["Progress"]:
    """Track the progress of a run."""
    display = _open_display(explainer, total) if is_shown else Display(logging.INFO)
    progress = Progress(explainer, executor, display, total)
    token = _active_progress.set(progress)
    try:
        yield progress
    finally:
        _active_progress.reset(token)
        display.close()


@attrs.define
class Progress:
    """The finished rows of a run: those of finished chunks, and those of the current chunk.

    The clock starts at the first report, when the explainer has been fitted. Rows that an earlier run has
    explained count as done, and not for the forecast.
    """

    explainer: str
    executor: ResolvedComponent
    display: "Display"
    total: int
    done: int = 0
    clock: Callable[[], float] = time.monotonic
    _done_in_chunk: int = 0
    _first_report: tuple[float, int] | None = None
    _has_forecast: bool = False
    _shown_warnings: set[str] = attrs.field(factory=set)

    def warn(self, texts: Iterable[str]) -> None:
        """Show warnings of an explainer, each text once."""
        for text in texts:
            if text not in self._shown_warnings:
                self._shown_warnings.add(text)
                warn(text)

    def advance(self, rows: int) -> None:
        """Count finished rows of the current chunk."""
        self._start_clock()
        self._done_in_chunk += rows
        self.display.show(min(self.done + self._done_in_chunk, self.total))

    def skip(self, rows: int) -> None:
        """Count rows that an earlier run has explained."""
        self.done += rows
        if self._first_report is not None:
            start, done_at_start = self._first_report
            self._first_report = start, done_at_start + rows
        self.display.restart(self.done)

    def finish_chunk(self, rows: int) -> None:
        """Count all rows of a finished chunk, in place of those of `advance`, and forecast the rest."""
        self.done, self._done_in_chunk = self.done + rows, 0
        self.display.show(self.done)
        start, done_at_start = self._start_clock()
        elapsed, n_timed = self.clock() - start, self.done - done_at_start
        if self._has_forecast or not n_timed or elapsed < FORECAST_AFTER:
            return
        self._has_forecast = True
        per_row, remaining = elapsed / n_timed, self.total - self.done
        if remaining * per_row >= LONG_RUN:
            self.display.write(describe_forecast(self.explainer, remaining, per_row, self.executor))

    def _start_clock(self) -> tuple[float, int]:
        """Return the time and the finished rows of the first report."""
        if self._first_report is None:
            self._first_report = self.clock(), self.done
        return self._first_report


def describe_forecast(explainer: str, rows: int, per_row: float, executor: ResolvedComponent) -> str:
    """Describe how long the remaining rows will take, and what would be faster.

    Examples
    --------
    >>> from faithkit.run.components.resolution import resolve_component
    >>> print(describe_forecast("anchors", 16_000, 0.05, resolve_component("executor", "threads")))
    anchors: 16,000 rows more take about 13 min (50 ms a row). 1,200 rows (CLI: --samples) take a minute.
    The executor stored:folder=DIR keeps what is done.
    """
    total, each = format_duration(rows * per_row), format_duration(per_row)
    sentences = [f"{explainer}: {rows:,} rows more take about {total} ({each} a row)."]
    cores = count_cores()
    if executor.text == "here" and cores > 1:
        faster = format_duration(rows * per_row / cores)
        sentences.append(f"n_jobs={cores} (CLI: --n-jobs {cores}) takes about {faster}.")
    rows_in_a_minute = int(float(f"{60.0 / per_row:.2g}"))
    if MIN_ROWS_ADVISED <= rows_in_a_minute < rows:
        sentences.append(f"{rows_in_a_minute:,} rows (CLI: --samples) take a minute.")
    if get_optional_attribute(executor.instance, "kept_in") is None:
        sentences.append("The executor stored:folder=DIR keeps what is done.")
    return " ".join(sentences)


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def format_duration(seconds: float) -> str:
    """Return a length of time in readable units.

    >>> [format_duration(s) for s in (0.0004, 0.05, 0.6, 2.3, 59.7, 61, 810, 86_000, 900_000)]
    ['0.4 ms', '50 ms', '600 ms', '2.3 s', '60 s', '61 s', '14 min', '24 h', '10 days']
    """
    if seconds < 1:
        return f"{_two_digits(seconds * 1000)} ms"
    if seconds < 120:
        return f"{_two_digits(seconds)} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} days"


def _two_digits(number: float) -> str:
    return f"{number:.2g}" if number < 10 else f"{number:.0f}"


# --- displays -------------------------------------------------------------------------------------------


class Display:
    """A display that shows no progress, and sends messages to the logger "faithkit"."""

    def __init__(self, level: int = logging.WARNING) -> None:
        self.level = level

    def show(self, done: int) -> None:
        """Show how many rows are done."""

    def restart(self, done: int) -> None:
        """Show how many rows are done, and measure the speed from here."""

    def write(self, text: str) -> None:
        """Show a permanent message."""
        LOG.log(self.level, text)

    def close(self) -> None:
        """Remove the progress."""


class TerminalBar(Display):
    """A bar on stderr, with rate and remaining time; messages are printed above it."""

    def __init__(self, explainer: str, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(f"fitting {explainer}", total=total, rate="")
        self.bar.start()

    def show(self, done: int) -> None:
        """Move the bar."""
        self.bar.update(self.task, completed=done, description="explaining")
        speed = self.bar.tasks[0].speed
        self.bar.update(self.task, rate="" if speed is None else f"{speed:.3g} rows/s")

    def restart(self, done: int) -> None:
        """Move the bar, and forget how fast it moved."""
        self.bar.reset(self.task, completed=done)

    def write(self, text: str) -> None:
        """Print above the bar."""
        self.bar.console.print(to_printable(text), markup=False, highlight=False)

    def close(self) -> None:
        """Remove the bar."""
        self.bar.stop()


class NotebookLine(Display):
    """A line in a notebook's output, which needs no widgets."""

    def __init__(self, explainer: str, total: int) -> None:
        self.total, self.done_at_start = total, 0
        self.start, self.last_update = time.monotonic(), 0.0
        self.handle = self.write(f"fitting {explainer} …", display_id=True)

    def show(self, done: int) -> None:
        """Change the line, unless it has just changed."""
        now = time.monotonic()
        if now - self.last_update < UPDATE_SECONDS:
            return
        self.last_update = now
        rate = (done - self.done_at_start) / max(now - self.start, 1e-9)
        remaining = f", {format_duration((self.total - done) / rate)} left" if rate else ""
        self.handle.update(_plain_text(f"explaining: {done:,} of {self.total:,} rows{remaining}"), raw=True)

    def restart(self, done: int) -> None:
        """Take the rate of the rows from here on."""
        self.start, self.done_at_start = time.monotonic(), done

    def write(self, text: str, display_id: bool = False) -> Any:
        """Display a text; with a `display_id`, return a handle that changes it."""
        from IPython.display import display

        return display(_plain_text(text), raw=True, display_id=display_id)

    def close(self) -> None:
        """Remove the line; empty HTML is needed, because an empty text would leave a blank line."""
        self.handle.update({"text/html": "", "text/plain": ""}, raw=True)


def _plain_text(text: str) -> dict[str, str]:
    return {"text/plain": to_printable(text)}


def _open_display(explainer: str, total: int) -> Display:
    """Open the display that suits the environment."""
    if _is_notebook():
        return NotebookLine(explainer, total)
    if sys.stderr is not None and sys.stderr.isatty():
        return TerminalBar(explainer, total)
    return Display()


def _is_notebook() -> bool:
    """Whether this runs in a notebook whose output is not captured; IPython is not imported for this."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if all(cls.__name__ != "ZMQInteractiveShell" for cls in type(shell).__mro__):
        return False
    # captured output, by %%capture or capture_output, would keep every change of the line
    return type(getattr(shell, "display_pub", None)).__name__ != "CapturingDisplayPublisher"
