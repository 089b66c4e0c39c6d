"""Searches that advance together: each yields the rows it asks about, and one call answers those of all.

A search is a generator, written as if it were alone. So a row's search never knows who else is on the way.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeAlias, TypeVar

import attrs
import numpy as np

import faithkit
from faithkit_example_based.dice_search.table import Floats

T = TypeVar("T")
Search: TypeAlias = Generator[Floats, Floats, T]

ROWS_PER_CALL = 16_384  # more make no model faster, and need memory


class OutOfCalls(Exception):  # noqa: N818 (it ends a search; nothing is wrong)
    """The model was asked as often as it may be about a row."""


@attrs.define(eq=False)
class _Turn:
    """A search that waits: where its result belongs, how often it may still ask, and its last answer."""

    place: int
    search: Search[Any]
    calls_left: int
    answer: Floats | None = None

    def request(self) -> Floats:
        """Let the search go on and return its next question; StopIteration has its result."""
        rows = next(self.search) if self.answer is None else self.search.send(self.answer)
        if self.calls_left == 0:
            rows = self.search.throw(OutOfCalls())
        self.calls_left -= 1
        return rows


def in_lock_step(searches: Iterable[Search[T]], ask: Callable[[Floats], Floats], max_calls: int) -> list[T]:
    """Return the results of searches, in their order.

    Parameters
    ----------
    searches : iterable of generators
        Each yields rows, is sent what `ask` answers about them, and returns its result. Where it has asked
        `max_calls` times and yields once more, `OutOfCalls` is raised in it: then it must end.
    ask : callable
        Given the rows of many searches, it returns as many answers.
    max_calls : int
        How often each search may ask.

    Examples
    --------
    >>> def doubled(start, bound):
    ...     while start < bound:
    ...         start = int((yield np.array([start]))[0])
    ...     return start
    >>> def ask(numbers):
    ...     print(numbers)
    ...     return 2 * numbers
    >>> in_lock_step([doubled(3, 10), doubled(1, 4), doubled(9, 8)], ask, max_calls=9)
    [3 1]
    [6 2]
    [12, 4, 9]
    """
    waiting = deque(_Turn(place, search, max_calls) for place, search in enumerate(searches))
    results: list[Any] = [None] * len(waiting)
    while asked := _requests(waiting, results):
        answers = ask(np.concatenate([rows for _, rows in asked]))
        ends = np.cumsum([len(rows) for _, rows in asked])
        for (turn, _), answer in zip(asked, np.split(answers, ends[:-1]), strict=True):
            turn.answer = answer
        waiting.extendleft(turn for turn, _ in reversed(asked))  # few are on the way at a time
    return results


def _requests(waiting: deque[_Turn], results: list[Any]) -> list[tuple[_Turn, Floats]]:
    """Take as many searches as fill a call; those that end leave their results."""
    asked, n = [], 0
    while waiting and n < ROWS_PER_CALL:
        turn = waiting.popleft()
        try:
            rows = turn.request()
        except StopIteration as end:
            results[turn.place] = end.value
            faithkit.plugin.rows_done()
            continue
        asked.append((turn, rows))
        n += len(rows)
    return asked
