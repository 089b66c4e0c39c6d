"""Up to what precision computed explanations are the same: sums are rounded by machine, thread and batch.

A linear model scores a row by itself 1e-16 otherwise than among six, and another processor otherwise again.
Explanations that differ by no more than that are one explanation, or a later look at a row would find
nobody who shares it. So vectors that were computed are rounded to decimals: far above what arithmetic can
change, far below what a person could mean. How many there are is fixed once, by the explanations of the
sample, and kept in their `shared`; whatever the same system explains later is rounded alike. Logged values
are never rounded.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.explanations.explanations import Explanations

DECIMALS = "decimals"
"""The name in `Explanations.shared` under which each column's number of decimals is kept."""

# digits behind the first one of a column's own scale, and of the largest column's: a sum has the error of its
# largest part; in double and in single precision
_OWN = {False: 8, True: 4}
_LARGEST = {False: 12, True: 5}
_USUAL = 0.9  # nine rows in ten: a few rows of huge numbers must not set the scale of all
_OFF_ROUND = 0.1234  # powers of ten change between round numbers, so that no noise decides which one it is
_MOST = 300  # decimals of any float
_WHOLE = 2.0**53  # from here on all floats are whole numbers

Decimals = NDArray[np.int64]


def decimals_of(explanations: Explanations, single: bool = False) -> Decimals | None:
    """Return how many decimals each column is rounded to; None where there is nothing to round.

    The scale of a column is what nine in ten of its numbers stay below. A column of whole numbers, such as
    counts, keeps them as they are.

    Parameters
    ----------
    explanations : Explanations
        Those of a whole sample.
    single : bool
        Whether they were computed in single precision, by a model whose scores are.

    Examples
    --------
    >>> decimals_of(Explanations.vectors([[0.5, -20.5], [0.25, 0.0]]))
    array([9, 7])
    >>> decimals_of(Explanations.of(["age", "sex"])) is None
    True
    """
    values = explanations.values
    if explanations.kind != "vector" or values.dtype not in (np.float64, np.float32):
        return None
    known = values[~explanations.missing].astype(np.float64)
    sizes = np.abs(np.where(np.isfinite(known), known, 0.0))
    if not sizes.any():
        return None
    single = single or values.dtype == np.float32
    most = _LARGEST[single] - _magnitude(_usual(sizes.max(axis=1)) or sizes.max())
    own = _OWN[single] - _magnitude(_usual(sizes))
    whole = ((sizes == np.rint(sizes)) & (sizes < _WHOLE)).all(axis=0)
    return np.minimum(np.where(whole, max(most, 0), np.minimum(own, most)), _MOST)


def _usual(sizes: NDArray[np.float64]) -> Any:
    return np.quantile(sizes, _USUAL, axis=0, method="higher")


def _magnitude(sizes: Any) -> Any:
    """Return the place of the first digit; that of 0 is beyond all others."""
    with np.errstate(divide="ignore"):
        places = np.floor(np.log10(sizes) + _OFF_ROUND)
    return np.maximum(places, -2.0 * _MOST).astype(np.int64)


def rounded(explanations: Explanations, decimals: Decimals | None) -> Explanations:
    """Round every column to its number of decimals, and note it.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.1 + 0.2], [0.3]])
    >>> rounded(phi, decimals_of(phi)).values.tolist()
    [[0.3], [0.3]]
    """
    if decimals is None:
        return explanations
    values = explanations.values
    up, down = 10.0 ** np.maximum(decimals, 0), 10.0 ** np.maximum(-decimals, 0)
    with np.errstate(over="ignore", invalid="ignore"):  # infinities, and what is too large to have decimals
        steps = values * up / down
        found = np.where(np.abs(steps) < _WHOLE, np.rint(steps) * down / up + 0.0, values)
    return attrs.evolve(
        explanations,
        values=found.astype(values.dtype, copy=False),
        shared={**explanations.shared, DECIMALS: decimals.tolist()},
    )
