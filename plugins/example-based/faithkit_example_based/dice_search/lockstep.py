"""Run searches in lockstep: each yields rows, and one call of the model predicts the rows of many searches.

A search is a generator that knows nothing of other searches. So its result does not depend on them.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeAlias, TypeVar

import attrs
import numpy as np

import faithkit
from faithkit_example_based.dice_search.dice_table import Floats

T = TypeVar("T")
Search: TypeAlias = Generator[Floats, Floats, T]

ROWS_PER_CALL = 16_384  # larger calls are not faster, and need more memory


class OutOfCalls(Exception):  # noqa: N818 (it ends a search and is no error)
    """The search of a row has used all its calls of the model."""


@attrs.define(eq=False)
class _PendingSearch:
    """A search that waits for its turn: the index of its result, its remaining calls and last prediction."""

    index: int
    search: Search[Any]
    calls_left: int
    prediction: Floats | None = None

    def next_rows(self) -> Floats:
        """Advance the search and return the rows that it yields; StopIteration carries its result."""
        rows = next(self.search) if self.prediction is None else self.search.send(self.prediction)
        if self.calls_left == 0:
            rows = self.search.throw(OutOfCalls())
        self.calls_left -= 1
        return rows


def run_in_lockstep(
    searches: Iterable[Search[T]], predict: Callable[[Floats], Floats], max_calls: int
) -> list[T]:
    """Run searches and return their results, in order.

    Parameters
    ----------
    searches : iterable of generators
        Each yields rows, receives their predictions, and returns its result. If it yields rows after
        `max_calls` predictions, `OutOfCalls` is raised inside it, and it must end.
    predict : callable
        Takes the rows of many searches, and returns one prediction per row.
    max_calls : int
        The largest number of predictions per search.

    Examples
    --------
    >>> def double(start, bound):
    ...     while start < bound:
    ...         start = int((yield np.array([start]))[0])
    ...     return start
    >>> def predict(numbers):
    ...     print(numbers)
    ...     return 2 * numbers
    >>> run_in_lockstep([double(3, 10), double(1, 4), double(9, 8)], predict, max_calls=9)
    [3 1]
    [6 2]
    [12, 4, 9]
    """
    waiting = deque(_PendingSearch(index, search, max_calls) for index, search in enumerate(searches))
    results: list[Any] = [None] * len(waiting)
    while requests := _collect_requests(waiting, results):
        predictions = predict(np.concatenate([rows for _, rows in requests]))
        ends = np.cumsum([len(rows) for _, rows in requests])
        for (pending, _), prediction in zip(requests, np.split(predictions, ends[:-1]), strict=True):
            pending.prediction = prediction
        # first in line again, so that few searches run at a time
        waiting.extendleft(pending for pending, _ in reversed(requests))
    return results


def _collect_requests(
    waiting: deque[_PendingSearch], results: list[Any]
) -> list[tuple[_PendingSearch, Floats]]:
    """Advance as many searches as fill a call; store the results of those that end."""
    requests, n_rows = [], 0
    while waiting and n_rows < ROWS_PER_CALL:
        pending = waiting.popleft()
        try:
            rows = pending.next_rows()
        except StopIteration as end:
            results[pending.index] = end.value
            faithkit.plugin.report_progress()
            continue
        requests.append((pending, rows))
        n_rows += len(rows)
    return requests
