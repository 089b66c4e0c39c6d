"""Work cut into blocks of bounded memory, on as many threads as pay off.

Block edges depend on the data alone, and every block writes to its own part of the result, so the
number of threads can never change a number.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

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


def each_block(work: Callable[[int, int], None], n: int, size: int) -> None:
    """Call ``work(start, stop)`` for every block, with the help of threads where there is more than one.

    What a block raises is raised here, and no other block is begun.
    """
    if n <= size:  # most work by far is one block
        if n > 0:
            work(0, n)
        return
    left = list(spans(n, size))[::-1]
    helpers = min(len(left), MAX_THREADS, os.cpu_count() or 1) - 1
    taking = threading.Lock()

    def run() -> None:
        while True:
            with taking:
                if not left:
                    return
                start, stop = left.pop()
            try:
                work(start, stop)
            except BaseException:
                left.clear()
                raise

    if helpers < 1:
        run()
        return
    with ThreadPoolExecutor(helpers) as pool:
        others = [pool.submit(run) for _ in range(helpers)]
        run()
    for other in others:
        other.result()
