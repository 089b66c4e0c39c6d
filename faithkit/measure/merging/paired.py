"""Rows that are alone, matched with near ones: for identities that form a 2-D array of numbers."""

import math
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Agreement, agreeing_pairs
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.containers import as_floats
from faithkit.measure.divisor import quotients
from faithkit.measure.matching import match_rows
from faithkit.measure.merging.alone import Alone
from faithkit.measure.merging.merged import PAIRS, Merged
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.spread import Pseudo, Spread
from faithkit.measure.sums import Floats, exact_sum, quotient


def can_be_near(identities: Any) -> bool:
    """Whether identities form a 2-D array of numbers."""
    return isinstance(identities, np.ndarray) and identities.ndim == 2 and identities.dtype.kind in "biuf"


def paired(
    slots: Slots,
    identities: NDArray[Any],
    level: tuple[float, float],
    pseudo: Pseudo,
    agreement: Agreement = SAME_LABEL,
) -> tuple[Merged, Floats]:
    """Match rows that are alone with near ones; an odd row stays unchecked.

    Parameters
    ----------
    slots : Slots
        Of a grouping relation.
    identities : (m, d) array
        Of the distinct explanations.
    level : tuple of float
        M and V.
    pseudo : Pseudo
        Of M and V.
    agreement : Agreement

    Returns
    -------
    Merged
    (2, c) float
        The pseudo-value of x for each s and slot: of a matched row, how its pair agrees.

    Examples
    --------
    >>> from faithkit.measure.jackknife import grouped_pseudo_values
    >>> from faithkit.measure.tally import Tally
    >>> counts = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    >>> slots = Tally(counts, np.stack([0 * counts, counts])).slots
    >>> places = np.array([[0.1], [0.2], [0.8], [0.9]])
    >>> found, psi = paired(slots, places, (0.0, 0.0), grouped_pseudo_values(slots))
    >>> found.value, psi[1].tolist()
    (0.5, [1.0, 1.0, 0.0, 0.0])
    """
    alone = Alone.of(slots, agreement)
    pair = match_rows(as_floats(identities[slots.row[alone.slot]]))
    matched = np.flatnonzero(alone.slot)[pair >= 0]
    pair = pair[pair >= 0]
    share = _agreement(pair, slots.label[matched], agreement)
    found = Merged.of(PAIRS, level, (quotient(exact_sum(share), 1), len(matched)), slots.n, None)
    raw, most = np.zeros((2, *slots.owners.shape))
    raw[slots.owners > 0], most[slots.owners > 0] = pseudo.value, pseudo.verified
    raw[1, matched], most[1, matched] = share, 1.0
    values = quotients(raw, most, (found.value, found.reach), (slots.label, slots.n), agreement)
    found = attrs.evolve(found, se=_standard_error(slots, values, matched, pair))
    return attrs.evolve(found, skew=skewness(slots, values)) if agreement.is_divided else found, values


def skewness(slots: Slots, values: Floats) -> float:
    """Return the skewness of pseudo-values that rows have for each s and slot."""
    used = slots.owners > 0
    return Spread.of(values[used], 0.0, slots.owners[used]).skewness


def _agreement(pair: Counts, labels: Counts, agreement: Agreement) -> Floats:
    """Return, for every row, how far it agrees with its partner."""
    return (agreeing_pairs(agreement, pair, labels) / 2)[pair]


def _standard_error(slots: Slots, values: Floats, matched: Counts, pair: Counts) -> float | None:
    """Return the standard error of x: a pair was checked in itself, and is one unit."""
    used = slots.owners > 0
    if np.ptp(values[used]) <= 1e-12:
        return None
    n = slots.n
    mean = quotient(exact_sum(values[used], slots.owners[used]), n)
    together = np.zeros(int(pair.max(initial=-1)) + 1)
    np.add.at(together, pair, values[1, matched] - mean)
    grouped = used.copy()
    grouped[1, matched] = False
    units = exact_sum(together**2)
    units += exact_sum(values[grouped] - mean, slots.owners[grouped], power=2)
    J = n - len(together)
    return math.sqrt(J / (J - 1) * quotient(units, n * n)) if J > 1 else None
