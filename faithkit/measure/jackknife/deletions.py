"""The jackknife: every value of a measure without one unit, exactly, and what these say of its error.

Measures are sums over pairs of rows. Of equal rows, what the sums lose without a row is known in closed form:
from the owners where explanations group rows, and from one more pass over the relation's matrix elsewhere. Of
rows with weights or clusters, `pairs` has it.
"""

from collections.abc import Iterable
from functools import reduce
from operator import add

import attrs
import numpy as np

from faithkit.arrays import AT_ONCE, Floats, Ints, ratio, sum_by
from faithkit.arrays.blocks import each_block, map_blocks
from faithkit.measure.agreement.base import Agreement, Influence
from faithkit.measure.counting.owners import Owners, by_entry
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.jackknife.central_moments import CentralMoments


@attrs.frozen
class MeasureTotals:
    """What a sample says of a measure, before any unit is left out.

    Attributes
    ----------
    agreeing, compared : float
        How far rows agree with those that they are compared with, and the share that is compared.
    whole : float
        The weight of all rows.
    unchecked : float
        What a row may disagree by that is not compared.
    is_bounded : bool
        Whether two predictions cannot disagree by more than is known; then `unchecked` is divided, too, where
        numbers are.
    """

    agreeing: float
    compared: float
    whole: float
    unchecked: float = 1.0
    is_bounded: bool = True

    @property
    def disagreement(self) -> float:
        """What is compared and disagrees; never a rounding error below 0."""
        return max(0.0, self.compared - self.agreeing)

    @property
    def estimate(self) -> float:
        """What is at most the measure, in the mean: what is not compared disagrees as far as it can."""
        return self.agreeing + (1.0 - self.unchecked) * (1.0 - self.compared)

    def without(self, gone: "Deletions") -> tuple[Floats, Floats]:
        """Return the estimate and the disagreement without each unit."""
        rest = np.asarray(self.whole - gone.weight)
        compared = ratio(self.whole * self.compared - gone.compared, rest)
        lost = ratio(self.whole * self.disagreement - gone.disagreement, rest)
        unchecked: float | Floats = self.unchecked
        if gone.left is not None:
            lost = np.where(gone.left > 0, ratio(lost, gone.left), 1.0)
            if self.is_bounded:
                unchecked = ratio(np.full(len(lost), self.unchecked), gone.left)
        return 1.0 - lost - unchecked * (1.0 - compared), lost


@attrs.frozen(eq=False)
class Deletions:
    """What goes with each unit: of what is compared, of what disagrees, of the weight of all rows.

    `times` says how many units are the same. `left` is the part that is left of what numbers are divided by.
    """

    compared: Floats
    disagreement: Floats
    times: Ints
    left: Floats | None = None
    weight: Floats | float = 1.0

    def pseudo_values(self, level: MeasureTotals, units: int) -> tuple[Floats, Floats]:
        """Return C·x − (C − 1)·x without each of C units, for the estimate and for the disagreement."""
        if self.left is None and isinstance(self.weight, float):  # of equal rows, all is linear
            agreeing = self.compared - self.disagreement
            free = 1.0 - level.unchecked
            return agreeing + free * (1.0 - self.compared) if free else agreeing, self.disagreement
        estimate, lost = self.changes(level)
        scale = units - 1
        return level.estimate + scale * estimate, level.disagreement + scale * lost

    def changes(self, level: MeasureTotals) -> tuple[Floats, Floats]:
        """Return by how much the estimate and the disagreement fall without each unit."""
        estimate, lost = level.without(self)
        return level.estimate - estimate, level.disagreement - lost


# -- explanations that group equal rows: from the owners alone --


class GroupedRows:
    """Deletions of single rows where explanations group them.

    Without a row, N − 1 are left to share its explanation, and one pair of them less for each that it had. A
    matched pair goes together: each of its rows takes half of it.
    """

    def __init__(self, owners: Owners, agreement: Agreement, first_pair: int | None = None) -> None:
        self.owners, self.agreement = owners, agreement
        self.first_pair = len(owners.totals) if first_pair is None else first_pair
        sizes = owners.totals.astype(np.float64)
        are_more = sizes > 2  # two have one score, and without one of them both are gone
        self._mean = np.where(are_more, ratio(owners.scored, sizes), 0.0)
        self._pull = np.where(are_more, ratio(sizes, sizes - 2), 1.0)
        self._compared = np.maximum(np.minimum(1.0, sizes - 1.0) + (sizes == 2), 0.0)  # a partner has both
        self._pull[self.first_pair :] = 0.0
        self._compared[self.first_pair :] = 1.0

    def part(self, start: int, stop: int) -> Deletions:
        """Return the deletions of some owners."""
        owners, scores = self.owners.part(start, stop), self.owners.scores[start:stop]
        agreeing = np.empty(len(owners))

        def compute(start: int, stop: int) -> None:
            row, h, some = owners.explanation[start:stop], scores[start:stop], agreeing[start:stop]
            np.subtract(h, self._mean.take(row), out=some)
            some *= self._pull.take(row)
            some += h

        each_block(compute, len(owners), AT_ONCE)
        compared = by_entry(self._compared, owners.explanation)
        left = left_without(self.agreement, owners.label)
        return Deletions(compared, compared - agreeing, owners.rows, left)

    def every(self) -> Deletions:
        """Return the deletions of all owners."""
        return self.part(0, len(self.owners))

    def spreads(self, level: MeasureTotals) -> tuple[CentralMoments, CentralMoments]:
        """Measure how pseudo-values of the estimate and of the disagreement spread, some owners at a time."""

        def measure(start: int, stop: int) -> tuple[CentralMoments, CentralMoments]:
            return spreads_of(self.part(start, stop), level, self.owners.n)

        return added(map_blocks(measure, len(self.owners), AT_ONCE))

    def paired_spread(self, level: MeasureTotals) -> tuple[float | None, float]:
        """Return the standard error of the estimate and its skewness where a matched pair is one unit."""
        owners, gone = self.owners, self.every()
        values = gone.pseudo_values(level, owners.n)[0]
        spread = CentralMoments.of(values, gone.times)
        if spread.standard_error is None:
            return None, 0.0
        apart = values - spread.mean
        in_pair = owners.explanation >= self.first_pair
        pairs = sum_by(owners.explanation[in_pair] - self.first_pair, (gone.times * apart)[in_pair])
        once = CentralMoments.of(apart[~in_pair], gone.times[~in_pair]), CentralMoments.of(pairs)
        units = once[0].n + once[1].n
        if units < 2:
            return None, 0.0
        squares = sum(one.squares + one.n * one.mean**2 for one in once)
        return float(np.sqrt(units / (units - 1) * squares)) / owners.n, spread.skewness


def left_without(agreement: Agreement, labels: Ints, in_pool: bool = False) -> Floats | None:
    """Return what is left of the divisor of numbers without a row of each label; None where there is none."""
    lost = agreement.lost(labels, in_pool)
    return None if lost is None else 1.0 - lost


def spreads_of(gone: Deletions, level: MeasureTotals, units: int) -> tuple[CentralMoments, CentralMoments]:
    """Measure how pseudo-values of the estimate and of the disagreement spread around these."""
    estimate, lost = gone.pseudo_values(level, units)
    spread = CentralMoments.of(lost, gone.times)
    is_all = gone.left is None or level.compared == 1.0
    if is_all and (gone.compared == level.compared).all():  # then one falls by what the other rises
        return spread.taken_from(level.estimate + level.disagreement), spread
    return CentralMoments.of(estimate, gone.times), spread


def added(spreads: Iterable[tuple[CentralMoments, CentralMoments]]) -> tuple[CentralMoments, CentralMoments]:
    """Add up the spreads of pieces."""
    first, second = (reduce(add, some) for some in zip(*spreads, strict=True))
    return first, second


# -- other relations between equal rows: one more pass over the relation's matrix --


def related_rows(counted: RowCount) -> Deletions:
    """Return the deletions of all rows of a sample, in its order."""
    owners, place, s = counted.owners, counted.place, counted.reflexive.astype(np.int64)
    D, h = owners.others[place], owners.scores[place]
    S, Z = counted.instances.lost(counted.blocks(), _influence(owners))
    agreeing = h - S + s * np.where(D >= 2, ratio(h - 1.0, D - 1.0), -h)
    compared = ((D > 0) + Z - s * (D == 1)).astype(np.float64)
    once, left = np.ones(len(s), dtype=np.int64), left_without(counted.agreement, counted.labels)
    return Deletions(compared, compared - agreeing, once, left)


def pool_spreads(counted: RowCount, level: MeasureTotals) -> tuple[CentralMoments, CentralMoments]:
    """Measure by how much the estimate and the disagreement fall without each row of the pool."""
    influence, pieces = _influence(counted.owners), []
    for piece in counted.pooled():
        S, Z = piece.instances.lost(piece.blocks(), influence)
        left = left_without(piece.agreement, piece.labels, in_pool=True)
        gone = Deletions(
            Z.astype(np.float64), Z + S, np.ones(len(S), dtype=np.int64), left, weight=np.zeros(1)
        )
        estimate, lost = gone.changes(level)
        pieces.append((CentralMoments.of(estimate), CentralMoments.of(lost)))
    return added(pieces)


def _influence(owners: Owners) -> Influence:
    """Say what owners gain and lose by an instance that their explanation holds for."""
    D, h, rows = owners.others, owners.scores, owners.rows.astype(np.float64)
    gain = rows * np.where(D >= 2, ratio(h, D - 1.0), -h)
    loss = rows * ratio(np.ones_like(h), np.where(D >= 2, D - 1.0, 0.0))
    return Influence(owners, gain, loss, owners.by_explanation(rows * (D == 1)))


def fewest_trials(counted: RowCount) -> float:
    """Return the smallest number of trials to assume, by who has the largest part in the values of others."""
    in_pool = max((largest_share(piece) for piece in counted.pooled()), default=0.0)
    return counted.owners.n / max(1.0 + largest_share(counted), in_pool)


def largest_share(counted: RowCount) -> float:
    """Return the largest w of an instance: the shares that it has in the values of others, added up."""
    owners, s = counted.owners, counted.reflexive
    share = owners.rows * ratio(np.ones(len(owners)), owners.others)
    own = s * ratio(np.ones(len(s)), np.where(s, owners.totals[counted.owned] - 1, 0))
    return float((counted.sums(owners.by_explanation(share)) - own).max(initial=0.0))
