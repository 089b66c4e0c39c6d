"""Run searches together: requests of many searches for labels or bounds are served in one call.

A search is a generator. It yields a request, receives the response, and returns its result. It knows nothing
of other searches and has its own random generator. So its result does not depend on other searches.

Confidence bounds take exactly the steps of anchor-exp, because the decisions of a search depend on them: a
finer bisection would lead to other decisions.
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

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BISECTION_STEPS = 16
MIN_SHARE, MAX_SHARE = 0.0000001, 0.9999999999999999  # shares are clipped, so that divergences are finite
T = TypeVar("T")
Row = bytes | str  # a row of a table as bytes, or a text
ROWS_PER_CALL = 2**17  # larger calls are not faster
BYTES_PER_ROUND = 2**24  # approximate size of the rows that the running searches request
MAX_CACHED_BYTES = 2**25  # rows recur, especially in small tables and short texts
Predict = Callable[[list[Any]], NDArray[Any]]


def compute_bounds(shares: Floats, levels: Floats, upper: Bools) -> Floats:
    """Return for each share p the upper, or lower, end of all q with KL(p ‖ q) ≤ level.

    Examples
    --------
    >>> shares, levels = np.array([0.5, 0.5, 1.0]), np.array([0.1, 0.1, 0.02])
    >>> compute_bounds(shares, levels, upper=np.array([True, False, False])).round(3)
    array([0.713, 0.287, 0.98 ])
    """
    p = np.clip(shares, MIN_SHARE, MAX_SHARE)
    p_rest = 1 - p
    width = np.sqrt(levels / 2.0)
    inside, outside = shares, np.clip(np.where(upper, shares + width, shares - width), 0, 1)
    for _ in range(BISECTION_STEPS):
        middle = (outside + inside) / 2.0
        q = np.minimum(np.maximum(middle, MIN_SHARE), MAX_SHARE)
        is_beyond = p * np.log(p / q) + p_rest * np.log(p_rest / (1 - q)) > levels
        inside, outside = np.where(is_beyond, inside, middle), np.where(is_beyond, middle, outside)
    return outside


@attrs.frozen(eq=False)
class Labels:
    """A request for the model's predictions for rows: the number of each label, or the predicted number."""

    rows: Sequence[Row]


@attrs.frozen(eq=False)
class Bounds:
    """A request for upper or lower confidence bounds of shares."""

    shares: NDArray[np.float64]
    levels: NDArray[np.float64]
    upper: NDArray[np.bool_]


Steps = Generator[Labels | Bounds, Any, T]


def run_together(
    searches: Iterable[Steps[T]], predict: Predict, bytes_per_round: int, are_numbers: bool = False
) -> list[T]:
    """Run searches to their ends and return their results, in order.

    Parameters
    ----------
    searches : iterable of generators
        A search starts when few enough others are waiting.
    predict : callable
        Returns the labels of distinct rows.
    bytes_per_round : int
        The approximate size of the rows in a request.
    are_numbers : bool
        Whether the model predicts numbers. Then searches receive the numbers; else they receive a number for
        each distinct label.

    Examples
    --------
    >>> def search(text):
    ...     labels = yield Labels([text, text.upper()])
    ...     return labels
    >>> def lengths(texts):
    ...     print(texts)
    ...     return np.array([len(text) for text in texts])
    >>> run_together(map(search, ["ab", "c"]), lengths, bytes_per_round=4)
    ['ab', 'AB', 'c', 'C']
    [array([0, 0]), array([1, 1])]
    """
    pool, cache = _SearchPool[T](), LabelCache(predict, are_numbers)
    max_waiting = max(1, BYTES_PER_ROUND // bytes_per_round)
    for index, search in enumerate(searches):
        pool.advance(index, search, None)
        while len(pool.waiting) >= max_waiting:
            pool.serve_requests(cache)
    while pool.waiting:
        pool.serve_requests(cache)
    return [pool.results[index] for index in sorted(pool.results)]


@attrs.frozen(eq=False)
class _SearchPool(Generic[T]):
    """The waiting searches with their requests, and the results of the finished ones, by index."""

    waiting: dict[int, tuple[Steps[T], Labels | Bounds]] = attrs.field(factory=dict)
    results: dict[int, T] = attrs.field(factory=dict)

    def advance(self, index: int, search: Steps[T], response: Any) -> None:
        """Advance a search to its next request, or to its end."""
        try:
            self.waiting[index] = search, search.send(response)
        except StopIteration as end:
            self.results[index] = end.value
            faithkit.plugin.report_progress()

    def serve_requests(self, cache: "LabelCache") -> None:
        """Serve requests until each search has received labels; bounds first, because labels cost more."""
        while self._serve(Bounds, _compute_all_bounds):
            pass
        self._serve(Labels, cache.look_up)

    def _serve(self, kind: type, respond: Callable[[list[Any]], list[Any]]) -> bool:
        searches = {
            index: search for index, (search, request) in self.waiting.items() if isinstance(request, kind)
        }
        if searches:
            responses = respond([self.waiting.pop(index)[1] for index in searches])
            for (index, search), response in zip(searches.items(), responses, strict=True):
                self.advance(index, search, response)
        return bool(searches)


def _compute_all_bounds(requests: list[Bounds]) -> list[NDArray[np.float64]]:
    columns = [np.concatenate(arrays) for arrays in zip(*map(_arrays, requests), strict=True)]
    ends = np.cumsum([len(request.shares) for request in requests])
    return np.split(compute_bounds(*columns), ends[:-1])


def _arrays(request: Bounds) -> tuple[NDArray[Any], ...]:
    return request.shares, request.levels, request.upper


@attrs.define(eq=False)
class LabelCache:
    """A cache of the labels of rows, so that the model predicts a row once, as far as memory allows.

    Examples
    --------
    >>> cache = LabelCache(lambda texts: np.array([f"one of {len(texts)}"] * len(texts)))
    >>> cache.look_up([Labels(["a", "b"]), Labels(["b"])])
    [array([0, 0]), array([0])]
    >>> cache.look_up([Labels(["b", "c"])])
    [array([0, 1])]
    """

    predict: Predict
    are_numbers: bool = False
    index_of_row: dict[Row, int] = attrs.field(factory=lambda: _numbering())
    labels: NDArray[Any] = attrs.field(factory=lambda: np.empty(0, dtype=np.int64))  # by index
    number_of_label: dict[Any, int] = attrs.field(factory=lambda: _numbering())
    n_bytes: int = 0  # of the cached rows

    def look_up(self, requests: list[Labels]) -> list[NDArray[Any]]:
        """Return the labels of each request; call the model only for rows that are not in the cache."""
        get_index = self.index_of_row.__getitem__
        indices = [
            np.fromiter(map(get_index, request.rows), np.int64, len(request.rows)) for request in requests
        ]
        new_rows = list(
            itertools.islice(reversed(self.index_of_row), len(self.index_of_row) - len(self.labels))
        )[::-1]
        for start in range(0, len(new_rows), ROWS_PER_CALL):
            self._predict_new(new_rows[start : start + ROWS_PER_CALL])
        responses = [self.labels[index] for index in indices]
        self.n_bytes += sum(map(len, new_rows))
        if self.n_bytes > MAX_CACHED_BYTES:
            self.index_of_row, self.labels, self.n_bytes = _numbering(), self.labels[:0], 0
        return responses

    def _predict_new(self, rows: list[Row]) -> None:
        results = self.predict(rows)
        if not self.are_numbers:
            label_of_row, labels = pd.factorize(results)
            results = np.array([self.number_of_label[label] for label in labels.tolist()])[label_of_row]
        self.labels = np.concatenate([self.labels, results])


def _numbering() -> dict[Any, int]:
    """Return a dictionary that numbers new keys when they are looked up: 0, 1 and so on."""
    return collections.defaultdict(itertools.count().__next__)
