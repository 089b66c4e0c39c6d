"""Arrays that everything is counted with, and how they add up."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_ONCE = 2**17  # floats that stay in the cache: with fewer, threads wait for each other's turn


def ratio(part: NDArray[Any], whole: NDArray[Any], empty: float = 0.0) -> Floats:
    """Divide, giving `empty` where there is nothing to divide by.

    Examples
    --------
    >>> ratio(np.array([1, 0]), np.array([2, 0]))
    array([0.5, 0. ])
    """
    out = np.full(np.broadcast_shapes(part.shape, whole.shape), empty)
    return np.divide(part, whole, out=out, where=np.asarray(whole) > 0)


def sum_by(codes: Ints, values: NDArray[Any], size: int | None = None) -> NDArray[Any]:
    """Add up the values of each code; whole numbers stay whole.

    Without a `size`, there are as many codes as the largest one says.

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


def is_view(values: NDArray[Any]) -> bool:
    """Whether some numbers are one and the same, as `numpy.broadcast_to` makes of it without taking memory.

    Examples
    --------
    >>> is_view(np.broadcast_to(1, 5)), is_view(np.ones(5))
    (True, False)
    """
    return len(values) > 0 and values.strides == (0,)
