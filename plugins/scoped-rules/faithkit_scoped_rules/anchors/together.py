"""Searches that advance together: what all of them wait for is computed, or asked of the model, at once.

A search is a generator: it yields a wish, is sent what it wished for, and returns what it found. It knows of
no other search and draws from a generator of its own, so that what it finds in company it finds alone.
"""

import collections
import itertools
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Generic, TypeVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.anchors.bounds import bounds

T = TypeVar("T")
Row = bytes | str  # of a table, as its bytes; or a text

ROWS_A_CALL = 2**17  # at most; with more no model is any faster
BYTES_A_ROUND = 2**24  # of rows that are asked for at a time, about: as many searches advance together
BYTES_KEPT = 2**25  # of rows whose labels are known: they recur, most of all in small tables and short texts


@attrs.frozen(eq=False)
class Labels:
    """The wish for the model's answers about some rows: of labels a number each, or what it predicts."""

    rows: Sequence[Row]


@attrs.frozen(eq=False)
class Bounds:
    """The wish for confidence bounds of some shares, upper or lower ones."""

    shares: NDArray[np.float64]
    levels: NDArray[np.float64]
    upper: NDArray[np.bool_]


Steps = Generator[Labels | Bounds, Any, T]
Ask = Callable[[list[Any]], NDArray[Any]]


def together(
    searches: Iterable[Steps[T]], ask: Ask, bytes_a_round: int, are_numbers: bool = False
) -> list[T]:
    """Run searches to their ends and return what they found, in order.

    Parameters
    ----------
    searches : iterable of generators
        Each is started when there is room for it.
    ask : callable
        Distinct rows -> their labels.
    bytes_a_round : int
        About how many bytes of rows a search asks for at a time.
    are_numbers : bool
        Whether the model predicts numbers: searches are sent these, and of labels only which are the same.

    Examples
    --------
    >>> def search(text):
    ...     labels = yield Labels([text, text.upper()])
    ...     return labels
    >>> def lengths(texts):
    ...     print(texts)
    ...     return np.array([len(text) for text in texts])
    >>> together(map(search, ["ab", "c"]), lengths, bytes_a_round=4)
    ['ab', 'AB', 'c', 'C']
    [array([0, 0]), array([1, 1])]
    """
    crowd, known = _Crowd[T](), KnownLabels(ask, are_numbers)
    at_once = max(1, BYTES_A_ROUND // bytes_a_round)
    for number, search in enumerate(searches):
        crowd.advance(number, search, None)
        while len(crowd.waiting) >= at_once:
            crowd.serve_all(known)
    while crowd.waiting:
        crowd.serve_all(known)
    return [crowd.found[number] for number in sorted(crowd.found)]


@attrs.frozen(eq=False)
class _Crowd(Generic[T]):
    """Searches by their numbers: those that wait for what they wished for, and what others have found."""

    waiting: dict[int, tuple[Steps[T], Labels | Bounds]] = attrs.field(factory=dict)
    found: dict[int, T] = attrs.field(factory=dict)

    def advance(self, number: int, search: Steps[T], answer: Any) -> None:
        """Let a search go on to its next wish, or to its end."""
        try:
            self.waiting[number] = search, search.send(answer)
        except StopIteration as end:
            self.found[number] = end.value
            faithkit.plugin.rows_done()

    def serve_all(self, known: "KnownLabels") -> None:
        """Fulfil wishes until every search has been sent labels; bounds first, since labels cost more."""
        while self._serve(Bounds, _all_bounds):
            pass
        self._serve(Labels, known.of_all)

    def _serve(self, kind: type, fulfil: Callable[[list[Any]], list[Any]]) -> bool:
        mine = {number: search for number, (search, wish) in self.waiting.items() if isinstance(wish, kind)}
        if mine:
            answers = fulfil([self.waiting.pop(number)[1] for number in mine])
            for (number, search), answer in zip(mine.items(), answers, strict=True):
                self.advance(number, search, answer)
        return bool(mine)


def _all_bounds(wishes: list[Bounds]) -> list[NDArray[np.float64]]:
    together = [np.concatenate(arrays) for arrays in zip(*map(_arrays, wishes), strict=True)]
    ends = np.cumsum([len(wish.shares) for wish in wishes])
    return np.split(bounds(*together), ends[:-1])


def _arrays(wish: Bounds) -> tuple[NDArray[Any], ...]:
    return wish.shares, wish.levels, wish.upper


@attrs.define(eq=False)
class KnownLabels:
    """The labels of rows that the model was asked about: it is not asked again, as far as memory allows.

    Examples
    --------
    >>> known = KnownLabels(lambda texts: np.array([f"one of {len(texts)}"] * len(texts)))
    >>> known.of_all([Labels(["a", "b"]), Labels(["b"])])
    [array([0, 0]), array([0])]
    >>> known.of_all([Labels(["b", "c"])])
    [array([0, 1])]
    """

    ask: Ask
    are_numbers: bool = False
    places: dict[Row, int] = attrs.field(factory=lambda: _numbered())
    labels: NDArray[Any] = attrs.field(factory=lambda: np.empty(0, dtype=np.int64))  # by place
    numbers: dict[Any, int] = attrs.field(factory=lambda: _numbered())
    size: int = 0  # in bytes

    def of_all(self, wishes: list[Labels]) -> list[NDArray[Any]]:
        """Return the labels that each wishes for, asking only about rows that were not met before."""
        place_of = self.places.__getitem__
        places = [np.fromiter(map(place_of, wish.rows), np.int64, len(wish.rows)) for wish in wishes]
        new = list(itertools.islice(reversed(self.places), len(self.places) - len(self.labels)))[::-1]
        for start in range(0, len(new), ROWS_A_CALL):
            self._learn(new[start : start + ROWS_A_CALL])
        answers = [self.labels[place] for place in places]
        self.size += sum(map(len, new))
        if self.size > BYTES_KEPT:
            self.places, self.labels, self.size = _numbered(), self.labels[:0], 0
        return answers

    def _learn(self, rows: list[Row]) -> None:
        found = self.ask(rows)
        if not self.are_numbers:
            of_row, labels = pd.factorize(found)
            found = np.array([self.numbers[label] for label in labels.tolist()])[of_row]
        self.labels = np.concatenate([self.labels, found])


def _numbered() -> dict[Any, int]:
    """Return a dictionary that gives a number to whatever it is asked for: 0, 1 and so on."""
    return collections.defaultdict(itertools.count().__next__)
