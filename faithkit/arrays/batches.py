"""Split work into batches of bounded memory and run them on threads.

Batch edges depend on the data alone, and results come in the order of the batches. The number of threads
therefore never changes a result.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

S = TypeVar("S")
T = TypeVar("T")

# memory bandwidth limits NumPy's inner loops: more threads do not help
MAX_THREADS = min(4, os.cpu_count() or 1)


def spans(n: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive batches of `n` items, each of `size` items (at least 1) or fewer.

    Examples
    --------
    >>> list(spans(5, 2)), list(spans(2, 0))
    ([(0, 2), (2, 4), (4, 5)], [(0, 1), (1, 2)])
    """
    size = max(1, size)
    for start in range(0, n, size):
        yield start, min(n, start + size)


def concatenate_ranges(first: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate ranges of consecutive integers, each given by its first number and its length.

    Examples
    --------
    >>> concatenate_ranges(np.array([3, 10]), np.array([2, 3]))
    array([ 3,  4, 10, 11, 12])
    """
    return np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))


def map_batches(work: Callable[[int, int], T], n: int, size: int) -> list[T]:
    """Return ``work(start, stop)`` of every batch, in order; several batches run on threads.

    Examples
    --------
    >>> map_batches(lambda start, stop: stop - start, n=5, size=2)
    [2, 2, 1]
    """
    batches = list(spans(n, size))
    n_threads = min(len(batches), MAX_THREADS)
    if n_threads < 2:
        return [work(*batch) for batch in batches]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda batch: work(*batch), batches))


def stream(work: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """Yield ``work(item)`` of every item, in order; threads are few items ahead, so memory stays small.

    Examples
    --------
    >>> list(stream(len, ["a", "bcd"]))
    [1, 3]
    """
    running: deque[Future[T]] = deque()
    with ThreadPoolExecutor(MAX_THREADS) as pool:
        try:
            for item in items:
                running.append(pool.submit(work, item))
                if len(running) > MAX_THREADS:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()


def each_batch(work: Callable[[int, int], None], n: int, size: int) -> None:
    """Call ``work(start, stop)`` for consecutive batches of at most `size` of n rows, on threads if several.

    Each batch writes to its own part of a result, so the number of threads never changes a number.

    Examples
    --------
    >>> squares = np.arange(5)
    >>> def square(start, stop):
    ...     squares[start:stop] **= 2
    >>> each_batch(square, n=5, size=2)
    >>> squares
    array([ 0,  1,  4,  9, 16])
    """
    map_batches(work, n, size)
