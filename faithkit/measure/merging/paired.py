"""Rows that are alone, paired with near ones: for identities that form a 2-D array of numbers."""

import math
from typing import Any

import numpy as np

from faithkit.measure.estimators import ratio
from faithkit.measure.merging.merged import PAIRS, Merged
from faithkit.measure.merging.pairs import near_pairs
from faithkit.measure.slots import Counts
from faithkit.measure.sums import Floats, exact_sum, quotient
from faithkit.measure.tally import RowCount


def can_be_near(identities: Any) -> bool:
    """Whether identities form a 2-D array of numbers."""
    return isinstance(identities, np.ndarray) and identities.ndim == 2 and identities.dtype.kind in "biuf"


def paired(counted: RowCount, level: tuple[float, float], psi: Floats) -> tuple[Merged, Floats]:
    """Pair rows that are alone with near ones; there must be two of them.

    Parameters
    ----------
    counted : RowCount
        Of a grouping relation.
    level : tuple of float
        M and V.
    psi : (n,) float
        The pseudo-value of M for every row.

    Returns
    -------
    Merged
    (n,) float
        The pseudo-value of x for every row: of one that was paired, how its block agrees.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import SameExplanation
    >>> from faithkit.measure.tally import count
    >>> sample = Sample(None, Explanations.vectors([[0.1], [0.2], [0.8], [0.9]]))
    >>> counted = count(SameExplanation(), sample, np.array([0, 0, 1, 0]), 2)
    >>> found, psi = paired(counted, (0.0, 0.0), np.zeros(4))
    >>> found.value, psi.tolist()
    (0.5, [1.0, 1.0, 0.0, 0.0])
    """
    alone, n = alone_rows(counted), counted.slots.n
    block = near_pairs(counted.sample.explanations.identities[alone])
    share = _agreement(block, counted.labels[alone], counted.n_labels)
    values = psi.copy()
    values[alone] = share
    added = quotient(exact_sum(share), 1), len(alone)
    return Merged.of(PAIRS, level, added, n, _standard_error(values, alone, block)), values


def alone_rows(counted: RowCount) -> Counts:
    """Return the rows whose explanation nobody else has."""
    return np.flatnonzero((counted.slots.totals[counted.owned] == 1) & counted.reflexive)


def _agreement(block: Counts, labels: Counts, n_labels: int) -> Floats:
    """Return, for every row, the mean share of others in its block that agree: one number for each block."""
    size = np.bincount(block)
    occurring, T = np.unique(block * n_labels + labels, return_counts=True)
    agreeing = np.zeros(len(size), dtype=np.int64)
    np.add.at(agreeing, occurring // n_labels, T * (T - 1))
    return ratio(agreeing, size * (size - 1))[block]


def _standard_error(values: Floats, alone: Counts, block: Counts) -> float | None:
    """Return the standard error of x: rows of a block were checked against each other, and are one unit."""
    if np.ptp(values) <= 1e-12:
        return None
    n = len(values)
    apart = values - quotient(exact_sum(values), n)
    blocks = np.zeros(int(block.max()) + 1)
    np.add.at(blocks, block, apart[alone])  # rows of a block have one value, so that no order matters
    units = np.concatenate([np.delete(apart, alone), blocks])
    J = len(units)
    return math.sqrt(J / (J - 1) * quotient(exact_sum(units**2), n * n)) if J > 1 else None
