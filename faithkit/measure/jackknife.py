"""Standard errors for any relation: every delete-one jackknife value, exactly.

They come from the slots and one more pass over the relation's matrix (none for grouping); the theory page
derives each formula. All sums are exact on a common grid, so neither the order of rows nor blocks or pieces
change a bit of them.
"""

from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.agreement.base import Agreement, Influence
from faithkit.measure.blocks import each_block
from faithkit.measure.divisor import quotients
from faithkit.measure.estimators import ratio
from faithkit.measure.inference import agreement as agreement_of
from faithkit.measure.slots import Slots, by_slot
from faithkit.measure.spread import Pseudo, Spread
from faithkit.measure.sums import AT_ONCE, Floats, Grid, Ints
from faithkit.measure.tally import RowCount
from faithkit.measure.unequal.counting import UnequalCount
from faithkit.measure.unequal.deletion import unequal_pseudo_values


def _influence(slots: Slots) -> Influence:
    D, h, owners = slots.others, slots.scores, slots.owners.astype(np.float64)
    gain = owners * np.where(D >= 2, ratio(h, D - 1.0), -h)
    loss = owners * ratio(np.ones_like(h), np.where(D >= 2, D - 1.0, 0.0))
    return Influence(slots, gain, loss, slots.by_explanation(slots.owners * (D == 1)))


def _assemble(own: tuple[NDArray[Any], ...], sums: tuple[Floats, Ints]) -> tuple[Floats, Floats]:
    """Put pseudo-values of M and V together from an owner's own D, A, s and the sums over explanations."""
    D, A, s = own
    S, Z = sums
    h = ratio(A, D)
    term = np.where(D >= 2, ratio(h - 1.0, D - 1.0), -h)
    return h - S + s * term, ((D > 0) + Z - s * (D == 1)).astype(np.float64)


def pseudo_values(counted: RowCount) -> Pseudo:
    """Compute every delete-one jackknife pseudo-value of M and V.

    Examples
    --------
    >>> from faithkit.measure.explanations import Explanations, Sample
    >>> from faithkit.measure.relations import SameExplanation
    >>> from faithkit.measure.tally import count
    >>> sample = Sample(None, Explanations.of(["a", "a", "a"]))
    >>> pseudo_values(count(SameExplanation(), sample, np.array([0, 0, 1]), 2)).value.round(3)
    array([ 1., -1.])
    """
    if isinstance(counted, UnequalCount):
        return unequal_pseudo_values(counted)
    slots = counted.slots
    if counted.relation.groups:
        return grouped_pseudo_values(slots.compact)
    influence = _influence(slots)
    s, place = counted.reflexive.astype(np.int64), counted.place
    D, A = slots.totals[slots.row[place]] - s, slots.counts[place] - s
    value, verified = _assemble((D, A, s), counted.instances.lost(counted.blocks(), influence))
    once = np.ones(len(s), dtype=np.int64)
    pool = None if counted.pool is None else _pool_spreads(counted, influence)
    return Pseudo(value, verified, once, lambda: _few(counted), pool)


def _pool_spreads(counted: RowCount, influence: Influence) -> tuple[Spread, Spread]:
    """Measure what leaving out each row of the pool does to M and to Q, as for a row that owns nothing."""
    pieces = []
    for piece in counted.pooled():
        lost, Z = piece.instances.lost(piece.blocks(), influence)
        gone = piece.agreement.lost(piece.labels, in_pool=True)
        if gone is not None:
            lost = _divided_anew(agreement_of(counted.slots), counted.slots.n, lost, Z, 1.0 - gone)
        pieces.append((Spread.of(-lost, 0.0), Spread.of(Z + lost, 0.0)))
    return added(pieces)


def _divided_anew(level: tuple[float, float], n: int, gained: Floats, lone: Ints, left: Floats) -> Floats:
    """Return what owners gain without each row of a pool, where the divisor changes with it."""
    value, verified = level
    checked = verified - lone / n
    return n * (np.where(left > 0, checked - ratio(checked - value - gained / n, left), 0.0) - value)


def _few(counted: RowCount) -> float:
    """Return the smallest number of trials to assume, by who has the largest part in the values of others."""
    in_pool = max((largest_share(piece) for piece in counted.pooled()), default=0.0)
    return counted.slots.n / max(1.0 + largest_share(counted), in_pool)


def grouped_pseudo_values(slots: Slots) -> Pseudo:
    """Compute the same for grouping, from the slots alone: one value for each s and slot that has owners."""
    return _Grouped(slots).part(0, len(slots))


def grouped_spreads(slots: Slots, agreement: Agreement, level: tuple[float, float]) -> tuple[Spread, Spread]:
    """Measure how the pseudo-values of M and of Q spread, those of some slots at a time: to save memory."""
    slots = slots.compact
    every, found = _Grouped(slots), [(Spread.of(np.empty(0), 0.0),) * 2]

    def measure(start: int, stop: int) -> None:
        part, pseudo = slots.part(start, stop), every.part(start, stop)
        rows = part.used(part.label), slots.n
        found.append(_quotients(pseudo, rows, agreement, level).spreads(*level))

    each_block(measure, len(slots), AT_ONCE)
    return added(found)


def added(spreads: Iterable[tuple[Spread, Spread]]) -> tuple[Spread, Spread]:
    """Add up the spreads of M's and of Q's pseudo-values over pieces."""
    first, second = (reduce(add, some) for some in zip(*spreads, strict=True))
    return first, second


class _Grouped:
    """The pseudo-values of grouping, of all slots or of some.

    Without a row, N − 1 are left to share its explanation, and one pair of them less for each that it had.
    """

    def __init__(self, slots: Slots) -> None:
        self.slots, sizes = slots, slots.totals.astype(np.float64)
        are_more = sizes > 2  # two have one score, and without one of them both are gone
        self.mean = np.where(are_more, ratio(slots.scored[-1], sizes), 0.0)
        self.pull = np.where(are_more, ratio(sizes, sizes - 2), 1.0)
        self.verified = np.maximum(np.minimum(1.0, sizes - 1.0) + (sizes == 2), 0.0)  # a partner has both

    def part(self, start: int, stop: int) -> Pseudo:
        slots, scores = self.slots.part(start, stop), self.slots.scores[-1, start:stop]
        value = np.empty(len(slots))

        def compute(start: int, stop: int) -> None:
            row, h, found = slots.row[start:stop], scores[start:stop], value[start:stop]
            np.subtract(h, self.mean.take(row), out=found)
            found *= self.pull.take(row)
            found += h

        each_block(compute, len(slots), AT_ONCE)
        verified = by_slot(self.verified, slots.row)
        value, verified, weight = map(slots.used, (value, verified, slots.owners))
        return Pseudo(value, verified, weight, lambda: self.slots.n / 2)


def largest_share(counted: RowCount) -> float:
    """Return the largest w of an instance: the shares that it has in the values of others, added up."""
    slots, s = counted.slots, counted.reflexive
    share = slots.owners * ratio(np.ones(slots.owners.shape), slots.others)
    grid = Grid.of(share.max(initial=0.0), 2 * len(slots))
    weights = slots.by_explanation(grid.whole(share))
    own = s * ratio(np.ones(len(s)), np.where(s, slots.totals[counted.owned] - 1, 0))
    return float((grid.floats(counted.sums(weights)) - own).max(initial=0.0))


def row_quotients(counted: RowCount, pseudo: Pseudo, level: tuple[float, float]) -> Pseudo:
    """Return pseudo-values of what is divided, where predictions are, of those as if nothing were.

    `level` is what they are of: M and V.
    """
    if isinstance(counted, UnequalCount):
        return pseudo  # whose clusters were left out of what it is divided by, too
    if counted.relation.groups:
        return grouped_quotients(pseudo, counted.slots, counted.agreement, level)
    return _quotients(pseudo, (counted.labels, counted.slots.n), counted.agreement, level)


def grouped_quotients(
    pseudo: Pseudo, slots: Slots, agreement: Agreement, level: tuple[float, float]
) -> Pseudo:
    """Return the same for grouping."""
    if not agreement.is_divided:
        return pseudo
    slots = slots.compact
    return _quotients(pseudo, (slots.used(slots.label), slots.n), agreement, level)


def _quotients(
    pseudo: Pseudo, rows: tuple[Ints, int], agreement: Agreement, level: tuple[float, float]
) -> Pseudo:
    if not agreement.is_divided:
        return pseudo
    value = quotients(pseudo.value, pseudo.verified, level, rows, agreement)
    return attrs.evolve(pseudo, value=value)


def per_row(counted: RowCount, pseudo: Pseudo) -> tuple[Floats, Floats]:
    """Return the pseudo-values of M and Q for every instance, in the sample's order, or for every cluster."""
    if not counted.relation.groups or isinstance(counted, UnequalCount):
        return pseudo.value, pseudo.disagreement
    used = counted.slots.owners > 0
    if len(pseudo.value) == used.shape[1] and used[1].all():  # one for each slot
        rows = counted.place
    else:
        index = np.cumsum(used).reshape(used.shape) - 1
        rows = index[counted.reflexive.astype(np.int64), counted.place]
    return pseudo.value[rows], pseudo.disagreement[rows]
