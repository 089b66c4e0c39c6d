"""Measures that are divided by the variance of the predictions, which every row has a part in.

Pseudo-values are computed as if the divisor were known. That of the quotient follows from them exactly: they
say what is left of the sums without a row, and the agreement what the divisor loses.
"""

from collections.abc import Callable

import numpy as np

from faithkit.measure.agreement.base import Agreement, Always, Sums
from faithkit.measure.blocks import each_block
from faithkit.measure.slots import Counts, Slots
from faithkit.measure.sums import AT_ONCE, Floats


def divided(
    pseudo_values: Callable[[Sums], Floats], level: tuple[float, float], slots: Slots, agreement: Agreement
) -> Floats:
    """Return pseudo-values, for each s and slot, of what is divided by the variance.

    Parameters
    ----------
    pseudo_values : callable
        From how predictions agree to pseudo-values as if nothing were divided.
    level : tuple of float
        What they are of, and what that would be if everything agreed.
    slots : Slots
    agreement : Agreement
    """
    psi = pseudo_values(agreement)
    if not agreement.is_divided:
        return psi
    return quotients(psi, pseudo_values(Always()), level, (slots.label, slots.n), agreement)


def quotients(
    psi: Floats, most: Floats, level: tuple[float, float], rows: tuple[Counts, int], agreement: Agreement
) -> Floats:
    """Return ψ = n·x − (n−1)·x without the row: x is what could agree, less the disagreement divided.

    `psi` and `most` are of x as if nothing were divided, and of what could agree; `rows` are their labels and
    the number of all. Without a row the disagreement is c + ψ, and what it loses the divisor loses, too: so
    the quotient has (c + ψ)/(1 − lost) − c. Where nothing is left to be divided by, x is 0.
    """
    (x, reach), (label, n) = level, rows
    found, is_one = np.empty(psi.shape), most.strides[-1] == 0  # one number for all

    def compute(start: int, stop: int) -> None:
        lost = agreement.lost(label[start:stop])
        assert lost is not None
        nothing = np.flatnonzero(lost >= 1.0)
        lost[nothing] = 0.0
        lost /= 1.0 - lost
        some = most[..., :1] if is_one else most[..., start:stop]
        quotient = found[..., start:stop]
        np.add(psi[..., start:stop], n * (reach - x) - some, out=quotient)
        quotient *= lost
        quotient += psi[..., start:stop]
        quotient[..., nothing] = n * x

    if not agreement.is_divided:
        return psi
    each_block(compute, len(label), AT_ONCE)
    return found
