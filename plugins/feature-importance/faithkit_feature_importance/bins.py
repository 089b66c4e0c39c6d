"""Bins of about equal mass, learnt from numbers of any scale."""

import numpy as np
from numpy.typing import NDArray


def learn_cuts(numbers: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Return the ends between bins: each bin reaches from above one of them up to and including the next.

    The ends are quantiles, and values that occur. Where there are no more distinct values than bins, every
    value has a bin of its own; where one value is so frequent that quantiles fall together, there are fewer
    bins. NaN is left out.

    Examples
    --------
    >>> learn_cuts(np.arange(8.0), bins=4)
    array([1., 3., 5.])
    >>> learn_cuts(np.array([7.0, 0.0, 0.0, 0.0, 0.0, 3.0]), bins=4)
    array([0., 3.])
    """
    known = np.sort(numbers[~np.isnan(numbers)]) + 0.0
    distinct = np.unique(known)
    if len(distinct) <= bins:
        return distinct[:-1]
    cuts = np.unique(np.quantile(known, np.arange(1, bins) / bins, method="inverted_cdf"))
    return cuts[cuts < distinct[-1]]


def place(numbers: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number of each value's bin, from 0; NaN stays NaN.

    Examples
    --------
    >>> place(np.array([-9.0, 1.0, 1.5, np.nan]), np.array([1.0, 3.0]))
    array([ 0.,  0.,  1., nan])
    """
    found = np.searchsorted(cuts, numbers, side="left").astype(np.float64)
    found[np.isnan(numbers)] = np.nan
    return found
