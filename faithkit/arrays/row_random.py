"""Random numbers that belong to rows: each depends on the seed of its row, and on nothing else.

For what concerns all rows together, there is a generator for any integer.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats

GAMMA = np.uint64(0x9E3779B97F4A7C15)

Words = NDArray[np.uint64]


def create_generator(seed: int) -> np.random.Generator:
    """Create NumPy's generator; unlike there, the seed may be negative."""
    return np.random.default_rng([-seed, 1] if seed < 0 else seed)


def mix(words: Words) -> Words:
    """Apply splitmix64's finalizer in place: each input bit changes half of the output bits."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    words ^= words >> np.uint64(31)
    return words


def derive_seeds(seeds: NDArray[Any], number: int | NDArray[Any]) -> NDArray[np.uint32]:
    """Return further seeds of the rows: an unrelated set for each number, or one number for each row.

    Examples
    --------
    >>> seeds = np.array([7, 8], dtype=np.uint32)
    >>> bool((derive_seeds(seeds, 1) == derive_seeds(seeds, 2)).any())
    False
    """
    words = mix(seeds.astype(np.uint64) + (np.asarray(number + 1).astype(np.uint64) << np.uint64(32)))
    return (words >> np.uint64(32)).astype(np.uint32)


def row_uniforms(seeds: NDArray[Any], size: int) -> Floats:
    """Return `size` uniform numbers from 0 to 1 for each row; those of a row depend on its seed alone.

    This is much faster than one random generator per row.

    Parameters
    ----------
    seeds : (n,) int
        The seeds of the rows, such as `control` receives them.
    size : int

    Examples
    --------
    >>> uniforms = row_uniforms(np.array([7, 8, 7], dtype=np.uint32), 2)
    >>> uniforms.shape, bool((uniforms[0] == uniforms[2]).all())
    ((3, 2), True)
    """
    return uniforms_at(seeds[:, None], np.arange(size))


def uniforms_at(seeds: NDArray[Any], positions: NDArray[Any]) -> Floats:
    """Return the uniform random numbers at given positions of the sequences of `row_uniforms`."""
    starts = mix(seeds.astype(np.uint64) + GAMMA)
    words = mix(starts + (positions.astype(np.uint64) + np.uint64(1)) * GAMMA)
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)
