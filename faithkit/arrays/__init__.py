"""Array types, and sums and ratios that all counting uses."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BATCH_SIZE = 2**17  # floats per batch: they fit in the cache, and threads seldom wait for each other


def divide_safely(numerator: NDArray[Any], denominator: NDArray[Any], empty: float = 0.0) -> Floats:
    """Divide, and return `empty` where the denominator is not positive.

    Examples
    --------
    >>> divide_safely(np.array([1, 0]), np.array([2, 0]))
    array([0.5, 0. ])
    """
    out = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), empty)
    return np.asarray(np.divide(numerator, denominator, out=out, where=np.asarray(denominator) > 0))


def sum_by(codes: Ints, values: NDArray[Any], size: int | None = None) -> NDArray[Any]:
    """Sum the values of each code; integers stay integers.

    Without `size`, the largest code sets the number of sums.

    Examples
    --------
    >>> sum_by(np.array([1, 0, 1]), np.array([0.5, 2.0, 0.25]))
    array([2.  , 0.75])
    >>> sum_by(np.array([1, 1]), np.array([2, 3]), size=3)
    array([0, 5, 0])
    """
    size = int(codes.max(initial=-1)) + 1 if size is None else size
    if values.dtype == np.float64:
        return np.bincount(codes, weights=values, minlength=size)
    sums = np.zeros(size, dtype=values.dtype)
    np.add.at(sums, codes, values)
    return sums


def is_broadcast(values: NDArray[Any]) -> bool:
    """Return whether an array repeats one number without taking memory, as `numpy.broadcast_to` does.

    Examples
    --------
    >>> is_broadcast(np.broadcast_to(1, 5)), is_broadcast(np.ones(5))
    (True, False)
    """
    return len(values) > 0 and values.strides == (0,)
