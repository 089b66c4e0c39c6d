"""Rows that are alone, paired with near ones: for identities that form a 2-D array of numbers."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.measure.containers import as_floats
from faithkit.measure.estimators import ratio
from faithkit.measure.merging.alone import Alone
from faithkit.measure.merging.merged import PAIRS, Merged
from faithkit.measure.merging.pairs import near_pairs
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.sums import Floats, exact_sum, quotient


def can_be_near(identities: Any) -> bool:
    """Whether identities form a 2-D array of numbers."""
    return isinstance(identities, np.ndarray) and identities.ndim == 2 and identities.dtype.kind in "biuf"


def paired(
    slots: Slots, identities: NDArray[Any], level: tuple[float, float], psi: Floats
) -> tuple[Merged, Floats]:
    """Pair rows that are alone with near ones; there must be two of them.

    Parameters
    ----------
    slots : Slots
        Of a grouping relation.
    identities : (m, d) array
        Of the distinct explanations.
    level : tuple of float
        M and V.
    psi : (2, c) float
        The pseudo-value of M for each s and slot.

    Returns
    -------
    Merged
    (2, c) float
        The pseudo-value of x for each s and slot: of a row that was paired, how its block agrees.

    Examples
    --------
    >>> from faithkit.measure.tally import Tally
    >>> counts = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    >>> slots = Tally(counts, np.stack([0 * counts, counts])).slots
    >>> found, psi = paired(slots, np.array([[0.1], [0.2], [0.8], [0.9]]), (0.0, 0.0), np.zeros((2, 4)))
    >>> found.value, psi[1].tolist()
    (0.5, [1.0, 1.0, 0.0, 0.0])
    """
    alone = Alone.of(slots)
    block = near_pairs(as_floats(identities[slots.row[alone.slot]]))
    share = _agreement(block, slots.label[alone.slot])
    values = psi.copy()
    values[1, alone.slot] = share
    added = quotient(exact_sum(share), 1), alone.size
    return Merged.of(PAIRS, level, added, slots.n, _standard_error(slots, values, alone, block)), values


def _agreement(block: Counts, labels: Counts) -> Floats:
    """Return, for every row, the mean share of others in its block that agree: one number for each block."""
    size, n_labels = np.bincount(block), int(labels.max()) + 1
    occurring, T = np.unique(block * n_labels + labels, return_counts=True)
    agreeing = np.zeros(len(size), dtype=np.int64)
    np.add.at(agreeing, occurring // n_labels, T * (T - 1))
    return ratio(agreeing, size * (size - 1))[block]


def _standard_error(slots: Slots, values: Floats, alone: Alone, block: Counts) -> float | None:
    """Return the standard error of x: rows of a block were checked against each other, and are one unit."""
    used = slots.owners > 0
    if np.ptp(values[used]) <= 1e-12:
        return None
    n = slots.n
    mean = quotient(exact_sum((slots.owners * values)[used]), n)
    size = np.bincount(block)
    share = np.zeros(len(size))
    share[block] = values[1, alone.slot]
    grouped = used & ~alone.slot
    units = exact_sum((size * (share - mean)) ** 2)
    units += exact_sum((slots.owners * (values - mean) ** 2)[grouped])
    J = n - alone.size + len(size)
    return math.sqrt(J / (J - 1) * quotient(units, n * n)) if J > 1 else None
