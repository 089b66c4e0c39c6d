"""The jackknife for equal rows, also in blocks: the exact value of a measure without each row or block.

Measures are sums over pairs of rows. For equal rows there is a closed form for the terms that a sum loses
without a row. Where explanations group rows, it needs the owners alone. For other relations, it needs one
more pass over the relation's matrix. In blocks, every explanation holds inside one block only, so the sums
lose the terms of a block with it, and no others. The module `pairs` treats rows with weights or clusters.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add

import attrs
import numpy as np

from faithkit.arrays import BATCH_SIZE, Floats, Ints, divide_safely, sum_by
from faithkit.arrays.batches import map_batches
from faithkit.measure.agreement.base import Agreement, Influence
from faithkit.measure.counting.block_count import BlockCount
from faithkit.measure.counting.design import effective_number
from faithkit.measure.counting.owners import Owners
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.intervals import SamplingUnits
from faithkit.measure.jackknife.central_moments import CentralMoments

MomentsPair = tuple[CentralMoments, CentralMoments]
"""The moments of pseudo-values of the estimate, and of the disagreement."""


@attrs.frozen
class MeasureTotals:
    """The agreement and the disagreement of a whole sample, before any unit is deleted.

    Attributes
    ----------
    agreeing, compared : float
        The mean agreement of rows with the rows that they are compared with, and the share of compared rows.
    total_weight : float
        A: the weight of all rows.
    max_disagreement : float
        d_max: the largest disagreement that a row without comparison may have.
    is_bounded : bool
        Whether the disagreement of two predictions has a known bound. For numbers, `max_disagreement` is then
        divided by the variance, as disagreement is.
    """

    agreeing: float
    compared: float
    total_weight: float
    max_disagreement: float = 1.0
    is_bounded: bool = True

    @classmethod
    def of(cls, owners: Owners, agreement: Agreement, max_disagreement: float = 1.0) -> "MeasureTotals":
        """Return the totals of equal rows, grouped as these owners are."""
        agreeing, pair_weight = owners.mean_agreement
        return cls(agreeing, pair_weight, float(owners.n), max_disagreement, agreement.is_bounded)

    @property
    def disagreement(self) -> float:
        """The mean disagreement of compared rows; rounding never makes it negative."""
        return max(0.0, self.compared - self.agreeing)

    @property
    def estimate(self) -> float:
        """The point estimate, for which rows without comparison disagree as much as possible.

        Its expectation is at most the measure.
        """
        return self.agreeing + (1.0 - self.max_disagreement) * (1.0 - self.compared)

    def without(self, deletions: "Deletions") -> tuple[Floats, Floats]:
        """Return the estimate and the disagreement without each unit."""
        weight = np.asarray(self.total_weight - deletions.weight)
        pair_weight = divide_safely(self.total_weight * self.compared - deletions.compared, weight)
        disagreement = divide_safely(self.total_weight * self.disagreement - deletions.disagreement, weight)
        max_disagreement: float | Floats = self.max_disagreement
        divisor = deletions.divisor_left
        if divisor is not None:
            disagreement = np.where(divisor > 0, divide_safely(disagreement, divisor), 1.0)
            if self.is_bounded:
                max_disagreement = divide_safely(np.full(len(disagreement), self.max_disagreement), divisor)
        return 1.0 - disagreement - max_disagreement * (1.0 - pair_weight), disagreement


@attrs.frozen(eq=False)
class Deletions:
    """The terms that the sums lose with each unit.

    Attributes
    ----------
    compared, disagreement : (u,) float
        The loss of compared weight and of disagreement.
    times : (u,) int
        How many identical units each entry stands for.
    divisor_left : (u,) float, optional
        For numbers: the share of the divisor, the variance, that is left without the unit.
    weight : (u,) float or float
        The weight of the unit.
    """

    compared: Floats
    disagreement: Floats
    times: Ints
    divisor_left: Floats | None = None
    weight: Floats | float = 1.0

    def pseudo_values(self, totals: MeasureTotals, n_units: int) -> tuple[Floats, Floats]:
        """Return C·x − (C − 1)·x₍₋u₎ for each of C units, of the estimate and of the disagreement."""
        if self.divisor_left is None and isinstance(self.weight, float):  # equal rows: the measure is linear
            agreeing = self.compared - self.disagreement
            min_agreement = 1.0 - totals.max_disagreement
            estimate = agreeing + min_agreement * (1.0 - self.compared) if min_agreement else agreeing
            return estimate, self.disagreement
        estimate_change, disagreement_change = self.changes(totals)
        scale = n_units - 1
        return totals.estimate + scale * estimate_change, totals.disagreement + scale * disagreement_change

    def changes(self, totals: MeasureTotals) -> tuple[Floats, Floats]:
        """Return how much the estimate and the disagreement decrease without each unit."""
        estimate, disagreement = totals.without(self)
        return totals.estimate - estimate, totals.disagreement - disagreement


# -- relations that group equal rows: from the owners alone --


class GroupedRows:
    """Equal rows that explanations group, with the totals of their measure, and the deletions of single rows.

    Without a row, N − 1 rows of its group are left, and all pairs of the row are gone. From `first_pair` on,
    groups are matched pairs. A pair is deleted as a whole, and each of its rows accounts for half of it.
    """

    def __init__(
        self,
        owners: Owners,
        agreement: Agreement,
        max_disagreement: float = 1.0,
        first_pair: int | None = None,
    ) -> None:
        self.owners, self.agreement = owners, agreement
        self.totals = MeasureTotals.of(owners, agreement, max_disagreement)
        self.first_pair = len(owners.totals) if first_pair is None else first_pair
        sizes = owners.totals.astype(np.float64)
        is_large = sizes > 2  # without one row of two, the other has no comparison left
        self._mean_score = np.where(
            is_large, divide_safely(owners.by_explanation(owners.times(owners.scores)), sizes), 0.0
        )
        self._factor = np.where(is_large, divide_safely(sizes, sizes - 2), 1.0)
        # of two rows, both lose their comparison
        self._compared = np.maximum(np.minimum(1.0, sizes - 1.0) + (sizes == 2), 0.0)
        self._factor[self.first_pair :] = 0.0
        self._compared[self.first_pair :] = 1.0

    def deletions(self, start: int = 0, stop: int | None = None) -> Deletions:
        """Return the deletions of consecutive owners, by default of all."""
        stop = len(self.owners) if stop is None else stop
        owners, h = self.owners.part(start, stop), self.owners.scores[start:stop]
        agreeing = h - self._mean_score.take(owners.explanation)
        agreeing *= self._factor.take(owners.explanation)
        agreeing += h
        pair_weight = self._compared.take(owners.explanation)
        divisor_left = self.agreement.divisor_left(owners.label)
        return Deletions(pair_weight, pair_weight - agreeing, owners.rows, divisor_left)

    def pseudo_values(self) -> tuple[Floats, Floats]:
        """Return the pseudo-values of all owners, of the estimate and of the disagreement."""
        return self.deletions().pseudo_values(self.totals, self.owners.n)

    def moments(self) -> MomentsPair:
        """Return the moments of the pseudo-values, computed in batches of owners."""

        def compute(start: int, stop: int) -> MomentsPair:
            return pseudo_value_moments(self.deletions(start, stop), self.totals, self.owners.n)

        return add_moments(map_batches(compute, len(self.owners), BATCH_SIZE))

    def paired_error(self) -> tuple[float | None, float]:
        """Return the standard error and the skewness of the estimate where a matched pair is one unit."""
        owners, (values, _), times = self.owners, self.pseudo_values(), self.owners.rows
        row_moments = CentralMoments.of(values, times)
        if row_moments.standard_error is None:
            return None, 0.0
        deviations = values - row_moments.mean
        in_pair = owners.explanation >= self.first_pair
        pair_sums = sum_by(owners.explanation[in_pair] - self.first_pair, (times * deviations)[in_pair])
        unit_moments = CentralMoments.of(deviations[~in_pair], times[~in_pair]), CentralMoments.of(pair_sums)
        n_units = sum(moments.n for moments in unit_moments)
        if n_units < 2:
            return None, 0.0
        squares = sum(moments.squares + moments.n * moments.mean**2 for moments in unit_moments)
        return float(np.sqrt(n_units / (n_units - 1) * squares)) / owners.n, row_moments.skewness


def pseudo_value_moments(deletions: Deletions, totals: MeasureTotals, n_units: int) -> MomentsPair:
    """Return the moments of the pseudo-values of the estimate and of the disagreement."""
    estimate, disagreement = deletions.pseudo_values(totals, n_units)
    return CentralMoments.of(estimate, deletions.times), CentralMoments.of(disagreement, deletions.times)


def add_moments(pairs: Iterable[MomentsPair]) -> MomentsPair:
    """Add up the moments of several batches of rows."""
    estimate, disagreement = (reduce(add, moments) for moments in zip(*pairs, strict=True))
    return estimate, disagreement


# -- other relations between equal rows: one more pass over the relation's matrix --


def relation_deletions(counts: RowCount) -> Deletions:
    """Return the deletions of all rows of a sample, in its order."""
    owners, place, s = counts.owners, counts.place, counts.reflexive.astype(np.int64)
    D, h = owners.others[place], owners.scores[place]
    S, Z = counts.instances.sum_influence(counts.batches(), _influence(owners))
    agreeing = h - S + s * np.where(D >= 2, divide_safely(h - 1.0, D - 1.0), -h)
    pair_weight = ((D > 0) + Z - s * (D == 1)).astype(np.float64)
    once, divisor_left = np.ones(len(s), dtype=np.int64), counts.agreement.divisor_left(counts.labels)
    return Deletions(pair_weight, pair_weight - agreeing, once, divisor_left)


def pool_changes(counts: RowCount, totals: MeasureTotals) -> Iterator[tuple[Floats, Floats]]:
    """Yield how much the estimate and the disagreement decrease without each row of the pool, by pieces."""
    influence = _influence(counts.owners)
    for piece in counts.pooled():
        S, Z = piece.instances.sum_influence(piece.batches(), influence)
        divisor_left = piece.agreement.divisor_left(piece.labels, in_pool=True)
        once, no_weight = np.ones(len(S), dtype=np.int64), np.zeros(1)
        deletions = Deletions(Z.astype(np.float64), Z + S, once, divisor_left, weight=no_weight)
        yield deletions.changes(totals)


def _influence(owners: Owners) -> Influence:
    """Return what owners gain and lose when an instance in the scope of their explanation is deleted."""
    D, h, rows = owners.others, owners.scores, owners.rows.astype(np.float64)
    gain = rows * np.where(D >= 2, divide_safely(h, D - 1.0), -h)
    loss = rows * divide_safely(np.ones_like(h), np.where(D >= 2, D - 1.0, 0.0))
    return Influence(owners, gain, loss, owners.by_explanation(rows * (D == 1)))


def minimum_trials(counts: RowCount) -> float:
    """Return the minimum number of trials to assume: the more influence one row has, the fewer."""
    pool_share = max((max_influence(piece) for piece in counts.pooled()), default=0.0)
    return counts.owners.n / max(1.0 + max_influence(counts), pool_share)


def max_influence(counts: RowCount) -> float:
    """Return the largest influence of an instance: the sum of its shares in the values of other rows."""
    owners, s = counts.owners, counts.reflexive
    share = owners.rows * divide_safely(np.ones(len(owners)), owners.others)
    own_share = s * divide_safely(np.ones(len(s)), np.where(s, owners.totals[counts.owned] - 1, 0))
    return float((counts.sums(owners.by_explanation(share)) - own_share).max(initial=0.0))


# -- rows in blocks --


def block_deletions(counts: BlockCount) -> Deletions:
    """Return the deletions of all blocks, in the order of their numbers.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.block_count import count_in_blocks
    >>> words = Explanations.of(["a", "a", "a", "a", "b"], block=np.array([0, 0, 1, 1, 1]))
    >>> counts = count_in_blocks(SameExplanation(), Sample(None, words), np.array([0, 0, 0, 1, 1]), 2)
    >>> deletions = block_deletions(counts)
    >>> deletions.compared, deletions.disagreement, deletions.weight
    (array([2., 2.]), array([0., 2.]), array([2., 3.]))
    """
    owners, n_blocks = counts.owners, len(counts.sizes)
    is_checked = owners.others > 0
    pair_weight = owners.rows * is_checked.astype(np.float64)
    disagreement = owners.rows * np.where(is_checked, 1.0 - owners.scores, 0.0)
    return Deletions(
        sum_by(counts.owner_block, pair_weight, n_blocks),
        sum_by(counts.owner_block, disagreement, n_blocks),
        np.ones(n_blocks, dtype=np.int64),
        _divisor_without(counts),
        counts.sizes.astype(np.float64),
    )


def _divisor_without(counts: BlockCount) -> Floats | None:
    """Return the share of the divisor, the variance inside blocks, that is left without each block."""
    if not counts.agreement.is_normalised:
        return None
    comparable = (counts.sizes * (counts.sizes > 1)).astype(np.float64)
    disagreement = comparable * (1.0 - counts.chances)  # divided by the divisor, so that the mean is 1
    return divide_safely(disagreement.sum() - disagreement, comparable.sum() - comparable)


def block_units(counts: BlockCount) -> SamplingUnits:
    """Return the blocks as the independent units of a sample."""
    sizes = counts.sizes
    effective = effective_number(sizes)
    largest = float(sizes.max() / sizes.sum())
    return SamplingUnits(len(sizes), effective, largest, effective, are_blocks=True)
