"""Progress of a run: count finished rows, and forecast early how long a long run will take."""

import contextlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar

import attrs
import joblib

from faithkit.errors import FaithkitWarning
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.progress_display import ProgressDisplay, open_display

FORECAST_AFTER = 5.0  # seconds, once a chunk is finished
FORECAST_IN_CHUNK_AFTER = 60.0  # seconds, within the first chunk: its rows may advance together
LONG_RUN = 60.0  # seconds: shorter runs get no forecast
MIN_ROWS_ADVISED = 20  # rows: smaller samples say nothing about a model

_active_progress: ContextVar["Progress | None"] = ContextVar("active_progress", default=None)


def rows_done(rows: int = 1) -> None:
    """Report, from within an explainer's `explain`, that more rows of its batch are done.

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
    ...         faithkit.plugin.rows_done()
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
def track_progress(explainer: str, execution: Execution, total: int, done: int) -> Iterator["Progress"]:
    """Track the progress of a run of which `done` rows are done already."""
    with open_display(execution.progress and done < total, explainer, total, done) as display:
        progress = Progress(explainer, execution, display, total, done)
        token = _active_progress.set(progress)
        try:
            yield progress
        finally:
            _active_progress.reset(token)


@attrs.define
class Progress:
    """The finished rows of a run: those of finished chunks, and those of the current chunk.

    The clock starts at the first report, when the explainer has been fitted.
    """

    explainer: str
    execution: Execution
    display: ProgressDisplay
    total: int
    done: int
    clock: Callable[[], float] = time.monotonic
    _done_in_chunk: int = 0
    _first_report: tuple[float, int] | None = None
    _finished_chunks: int = 0
    _has_forecast: bool = False
    _shown_warnings: set[str] = attrs.field(factory=set)

    def warn(self, texts: Iterable[str]) -> None:
        """Show warnings of an explainer, each text once."""
        for text in texts:
            if text not in self._shown_warnings:
                self._shown_warnings.add(text)
                warnings.warn(text, FaithkitWarning, stacklevel=4)

    def advance(self, rows: int) -> None:
        """Count finished rows of the current chunk."""
        self._start_clock(self.done)
        self._done_in_chunk += rows
        self._show()

    def finish_chunk(self, rows: int) -> None:
        """Count all rows of a finished chunk, in place of those counted by `advance`."""
        self.done, self._done_in_chunk = self.done + rows, 0
        self._start_clock(self.done)
        self._finished_chunks += 1
        self._show()

    def _start_clock(self, done: int) -> None:
        if self._first_report is None:
            self._first_report = self.clock(), done

    def _show(self) -> None:
        assert self._first_report is not None
        done = min(self.done + self._done_in_chunk, self.total)
        self.display.show(done)
        start, done_at_start = self._first_report
        elapsed, rows = self.clock() - start, done - done_at_start
        wait = FORECAST_AFTER if self._finished_chunks else FORECAST_IN_CHUNK_AFTER
        if self._has_forecast or not rows or elapsed < wait:
            return
        self._has_forecast = True
        per_row = elapsed / rows
        remaining = self.total - done
        if remaining * per_row >= LONG_RUN:
            at_most = not self._finished_chunks
            self.display.tell(forecast(self.explainer, remaining, per_row, self.execution, at_most))


def forecast(explainer: str, rows: int, per_row: float, execution: Execution, at_most: bool = False) -> str:
    """Describe how long the remaining rows will take, and what would be faster.

    Rows that advance together also end together. So a rate from within a chunk gives an upper limit only:
    then `at_most` is true.

    Examples
    --------
    >>> print(forecast("anchors", 16_000, 0.05, Execution(n_jobs=joblib.cpu_count(), store="kept")))
    anchors: 16,000 rows more take about 13 min (50 ms a row). 1,200 rows (CLI: --samples) take a minute.
    """
    seconds = rows * per_row
    about = "at most" if at_most else "about"
    sentences = [
        f"{explainer}: {rows:,} rows more take {about} {duration(seconds)} ({duration(per_row)} a row)."
    ]
    cores = joblib.cpu_count()
    if execution.n_jobs == 1 and cores > 1:
        sentences.append(f"n_jobs={cores} (CLI: --n-jobs {cores}) takes {about} {duration(seconds / cores)}.")
    rows_in_a_minute = int(float(f"{60.0 / per_row:.2g}"))
    if MIN_ROWS_ADVISED <= rows_in_a_minute < rows:
        sentences.append(f"{rows_in_a_minute:,} rows (CLI: --samples) take a minute.")
    if execution.store is None:
        sentences.append("A store (CLI: --store) keeps what is done.")
    return " ".join(sentences)


def duration(seconds: float) -> str:
    """Return a length of time in readable units.

    >>> [duration(s) for s in (0.0004, 0.05, 0.6, 2.3, 59.7, 61, 810, 86_000, 900_000)]
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
