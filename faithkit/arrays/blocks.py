"""Work cut into blocks of bounded memory, on as many threads as pay off.

Block edges depend on the data alone, and what blocks return comes in their order, so the number of threads
never changes a number.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

MAX_THREADS = 4  # NumPy's inner loops are bound by memory: more threads do not help


def spans(n: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of consecutive blocks of at most `size` out of `n`.

    Examples
    --------
    >>> list(spans(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, n, size):
        yield start, min(n, start + size)


def ranges(first: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, one after the other, so many consecutive numbers from each first one on.

    Examples
    --------
    >>> ranges(np.array([3, 10]), np.array([2, 3]))
    array([ 3,  4, 10, 11, 12])
    """
    return np.repeat(first - np.cumsum(times) + times, times) + np.arange(int(times.sum()))


def map_blocks(work: Callable[[int, int], T], n: int, size: int) -> list[T]:
    """Return ``work(start, stop)`` of every block, in order, with threads where there is more than one.

    Examples
    --------
    >>> map_blocks(lambda start, stop: stop - start, n=5, size=2)
    [2, 2, 1]
    """
    blocks = list(spans(n, size))
    threads = min(len(blocks), MAX_THREADS, os.cpu_count() or 1)
    if threads < 2:
        return [work(*block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda block: work(*block), blocks))


def each_block(work: Callable[[int, int], None], n: int, size: int) -> None:
    """Call ``work(start, stop)`` for every block."""
    map_blocks(work, n, size)
