"""How far a run is: where somebody is looking a bar moves, and how long it will take is told early."""

import contextlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar

import attrs

from faithkit.errors import FaithkitWarning
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.forecast import LONG, forecast
from faithkit.run.explaining.outlets import Outlet, outlet

SLOW_ROW = 0.1  # seconds: the first row alone forecasts the others if it took longer than most overheads
SOON = 5.0  # seconds after which a forecast is worth something,
LATE = 60.0  # and after which it does not wait for the end of a chunk, whose rows may advance together

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
    ...         faithkit.rows_done()
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
        by_first_row = self._chunks == rows == 1
        enough = SLOW_ROW if by_first_row else SOON if self._chunks else LATE
        if self._is_forecast or not rows or elapsed < enough:
            return
        self._is_forecast = True
        per_row = elapsed / rows
        if (self.total - at) * per_row >= LONG:
            at_most = not self._chunks or by_first_row
            self.seen.tell(forecast(self.who, self.total - at, per_row, self.execution, at_most))
