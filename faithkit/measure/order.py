"""Rows that depend on their order: neighbours in time, or entries of one case after another."""

import math

import numpy as np

from faithkit.arrays import Floats, Ints
from faithkit.measure.counting.count import Count

MIN_ROWS = 40


def lag_one_statistic(values: Floats) -> float:
    """Return the lag-1 autocorrelation of rows, times √n: about normal if their order means nothing.

    Rows are numbers, or vectors such as one-hot labels. It is 0 for constant rows, and for fewer than 40.

    Examples
    --------
    >>> lag_one_statistic(np.repeat([0.0, 1.0], 50)) > 4, lag_one_statistic(np.tile([0.0, 1.0], 50)) < 0
    (True, True)
    """
    n = len(values)
    if n < MIN_ROWS:
        return 0.0
    deviations = values.reshape(n, -1) - values.reshape(n, -1).mean(axis=0)
    total = float((deviations**2).sum())
    if total < 1e-12 * n:
        return 0.0
    return float((deviations[1:] * deviations[:-1]).sum()) / total * math.sqrt(n)


def label_statistic(labels: Ints) -> float:
    """Return the same for labels as codes, as if these were one-hot vectors.

    Examples
    --------
    >>> labels = np.repeat([0, 2, 1], 30)
    >>> round(label_statistic(labels) / lag_one_statistic(np.eye(3)[labels]), 9)
    1.0
    """
    n = len(labels)
    if n < MIN_ROWS:
        return 0.0
    share = np.bincount(labels) / n
    total = n * (1.0 - float((share**2).sum()))
    if total < 1e-12 * n:
        return 0.0
    equal = float((labels[1:] == labels[:-1]).sum())
    mean = float(share[labels[1:]].sum() + share[labels[:-1]].sum()) - (n - 1) * float((share**2).sum())
    return (equal - mean) / total * math.sqrt(n)


def agreements_of_rows(counts: Count) -> Floats:
    """Return the agreement of each row that could be checked, in the order of the rows."""
    position = counts.owner_index
    is_checked = counts.owners.others[position] > 0
    return counts.owners.scores[position[is_checked]]
