"""How far a run is: where somebody is looking a bar moves, and how long it will take is told early."""

import contextlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar

import attrs
import joblib

from faithkit.errors import FaithkitWarning
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.outlets import Outlet, outlet

SOON = 5.0  # seconds after which a forecast is worth something,
LATE = 60.0  # and after which it does not wait for the end of a chunk, whose rows may advance together
LONG = 60.0  # seconds: beyond, people want to know
WORTH = 20  # rows: fewer tell nothing about a model

_listening: ContextVar["Progress | None"] = ContextVar("listening", default=None)


def rows_done(rows: int = 1) -> None:
    """Tell, from within an explainer's `explain`, that it is done with so many more rows of its batch.

    A bar moves, if there is one. An explainer that takes long for a batch calls this so that nobody waits in
    the dark.

    Parameters
    ----------
    rows : int
        How many more.

    Examples
    --------
    >>> import faithkit
    >>> def explain(X):
    ...     found = []
    ...     for row in X:
    ...         found.append(row.argmax())  # or what takes a second
    ...         faithkit.plugin.rows_done()
    ...     return found
    """
    progress = _listening.get()
    if progress is not None:
        progress.within(rows)


def warn_early(texts: Iterable[str]) -> None:
    """Show warnings before the rows that they are about; in a worker they travel with its answer instead."""
    progress = _listening.get()
    if progress is not None:
        progress.warn(texts)


@contextlib.contextmanager
def watched(who: str, execution: Execution, total: int, done: int) -> Iterator["Progress"]:
    """Follow a run of an explainer, of which some rows are done already."""
    with outlet(execution.progress and done < total, who, total, done) as seen:
        progress = Progress(who, execution, seen, total, done)
        token = _listening.set(progress)
        try:
            yield progress
        finally:
            _listening.reset(token)


@attrs.define
class Progress:
    """The rows of a run that are done: those of finished chunks, and some of the chunk at hand.

    The clock starts with the first word of an explainer that has been fitted, or of a worker.
    """

    who: str
    execution: Execution
    seen: Outlet
    total: int
    done: int
    clock: Callable[[], float] = time.monotonic
    _inside: int = 0
    _first: tuple[float, int] | None = None
    _chunks: int = 0
    _is_forecast: bool = False
    _warned: set[str] = attrs.field(factory=set)

    def warn(self, texts: Iterable[str]) -> None:
        """Pass on what an explainer warned about, each text once."""
        for text in texts:
            if text not in self._warned:
                self._warned.add(text)
                warnings.warn(text, FaithkitWarning, stacklevel=4)

    def within(self, rows: int) -> None:
        """Count rows of the chunk at hand; if it must be explained again they are counted once."""
        self._start(self.done)
        self._inside += rows
        self._show()

    def finished(self, rows: int) -> None:
        """Count a chunk."""
        self.done, self._inside = self.done + rows, 0
        self._start(self.done)
        self._chunks += 1
        self._show()

    def _start(self, done: int) -> None:
        if self._first is None:
            self._first = self.clock(), done

    def _show(self) -> None:
        assert self._first is not None
        at = min(self.done + self._inside, self.total)
        self.seen.show(at)
        elapsed, rows = self.clock() - self._first[0], at - self._first[1]
        if self._is_forecast or not rows or elapsed < (SOON if self._chunks else LATE):
            return
        self._is_forecast = True
        per_row = elapsed / rows
        if (self.total - at) * per_row >= LONG:
            at_most = not self._chunks
            self.seen.tell(forecast(self.who, self.total - at, per_row, self.execution, at_most))


def forecast(who: str, rows: int, per_row: float, execution: Execution, at_most: bool = False) -> str:
    """Say how long the rows that are left will take, and what would be faster.

    Rows that advance together end together, so that by the first of them it is no more than a limit.

    Examples
    --------
    >>> print(forecast("anchors", 16_000, 0.05, Execution(n_jobs=joblib.cpu_count(), store="kept")))
    anchors: 16,000 rows more take about 13 min (50 ms a row). 1,200 rows (CLI: --samples) take a minute.
    """
    seconds = rows * per_row
    about = "at most" if at_most else "about"
    sentences = [f"{who}: {rows:,} rows more take {about} {duration(seconds)} ({duration(per_row)} a row)."]
    cores = joblib.cpu_count()
    if execution.n_jobs == 1 and cores > 1:
        sentences.append(f"n_jobs={cores} (CLI: --n-jobs {cores}) takes {about} {duration(seconds / cores)}.")
    in_a_minute = int(float(f"{LONG / per_row:.2g}"))
    if WORTH <= in_a_minute < rows:
        sentences.append(f"{in_a_minute:,} rows (CLI: --samples) take a minute.")
    if execution.store is None:
        sentences.append("A store (CLI: --store) keeps what is done.")
    return " ".join(sentences)


def duration(seconds: float) -> str:
    """Return a length of time as people say it.

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
