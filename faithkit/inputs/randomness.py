"""The global generators, borrowed for one row: for libraries that take no seed.

Two threads that seed one generator would disturb each other, so it is lent to one at a time; and it is
given back as it was, since it belongs to the person who called us.
"""

import contextlib
import random
import threading
from collections.abc import Iterator

import numpy as np

_TURN = threading.RLock()


@contextlib.contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed NumPy's and Python's global generators for the body, and restore them after it.

    Examples
    --------
    >>> with global_seed(7):
    ...     first = np.random.random()
    >>> with global_seed(7):
    ...     bool(np.random.random() == first)
    True
    """
    with _TURN:
        numpys, pythons = np.random.get_state(), random.getstate()
        np.random.seed(int(seed) % 2**32)
        random.seed(int(seed))
        try:
            yield
        finally:
            np.random.set_state(numpys)
            random.setstate(pythons)
