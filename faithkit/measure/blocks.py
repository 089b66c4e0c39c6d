"""Work cut into blocks of bounded memory, on as many threads as pay off.

Block edges depend on the data alone, and every block writes to its own part of the result, so the
number of threads can never change a number.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

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


def each_block(work: Callable[[int, int], None], n: int, size: int) -> None:
    """Call ``work(start, stop)`` for every block; in threads where there is more than one."""
    edges = list(spans(n, size))
    threads = min(len(edges), MAX_THREADS, os.cpu_count() or 1)
    if threads < 2:
        for start, stop in edges:
            work(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda edge: work(*edge), edges):  # iterating re-raises what a block raised
            pass
