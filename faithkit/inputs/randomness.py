"""Seed the global random generators for a block of code, for libraries that accept no seed.

Two threads that seed the same generator would disturb each other, so a lock admits one at a time. The state
is restored afterwards, because the generators belong to the user.
"""

import contextlib
import random
import threading
from collections.abc import Iterator

import numpy as np

_LOCK = threading.RLock()


@contextlib.contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed NumPy's and Python's global generators in a `with` block, and restore them after it.

    Examples
    --------
    >>> with global_seed(7):
    ...     first = np.random.random()
    >>> with global_seed(7):
    ...     bool(np.random.random() == first)
    True
    """
    with _LOCK:
        numpy_state, python_state = np.random.get_state(), random.getstate()
        np.random.seed(int(seed) % 2**32)
        random.seed(int(seed))
        try:
            yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(python_state)
