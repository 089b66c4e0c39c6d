"""Bins that hold about equally many numbers, on any scale."""

import numpy as np
from numpy.typing import NDArray


def learn_cuts(numbers: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    """Return the cuts between bins. A bin reaches from above one cut up to and including the next.

    The cuts are quantiles that occur among the numbers. If there are no more distinct numbers than bins,
    every number gets its own bin. If one number is so frequent that quantiles coincide, there are fewer bins.
    NaN is ignored.

    Examples
    --------
    >>> learn_cuts(np.arange(8.0), bins=4)
    array([1., 3., 5.])
    >>> learn_cuts(np.array([7.0, 0.0, 0.0, 0.0, 0.0, 3.0]), bins=4)
    array([0., 3.])
    """
    ordered = np.sort(numbers[~np.isnan(numbers)]) + 0.0
    distinct = np.unique(ordered)
    if len(distinct) <= bins:
        return distinct[:-1]
    cuts = np.unique(np.quantile(ordered, np.arange(1, bins) / bins, method="inverted_cdf"))
    return cuts[cuts < distinct[-1]]


def find_bins(numbers: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bin of each number, counted from 0. NaN stays NaN.

    Examples
    --------
    >>> find_bins(np.array([-9.0, 1.0, 1.5, np.nan]), np.array([1.0, 3.0]))
    array([ 0.,  0.,  1., nan])
    """
    bin_numbers = np.searchsorted(cuts, numbers, side="left").astype(np.float64)
    bin_numbers[np.isnan(numbers)] = np.nan
    return bin_numbers
