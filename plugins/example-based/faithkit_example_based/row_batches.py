"""Split work into batches of rows, on several threads if that pays off.

Every batch writes to its own part of the result, so the number of threads can never change a number.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

MAX_THREADS = 4


def each_batch(work: Callable[[slice], None], n: int, size: int) -> None:
    """Call `work` with consecutive slices of at most `size` of n rows, in threads if there are several.

    Examples
    --------
    >>> import numpy as np
    >>> squares = np.arange(5)
    >>> def square(rows):
    ...     squares[rows] **= 2
    >>> each_batch(square, 5, 2)
    >>> squares
    array([ 0,  1,  4,  9, 16])
    """
    batches = [slice(start, min(n, start + size)) for start in range(0, n, size)]
    threads = min(len(batches), MAX_THREADS, os.cpu_count() or 1)
    if threads < 2:
        for batch in batches:
            work(batch)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, batches):  # iterating re-raises what a batch raised
            pass
