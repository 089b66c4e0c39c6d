"""The jackknife for equal rows: the exact value of a measure without each row.

Measures are sums over pairs of rows. For equal rows there is a closed form for the terms that a sum loses
without a row. Where explanations group rows, it needs the owners alone. For other relations, it needs one
more pass over the relation's matrix. The module `pairs` treats rows with weights or clusters.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import BATCH_SIZE, Floats, Ints, divide_safely, sum_by
from faithkit.arrays.batches import map_batches
from faithkit.measure.agreement.base import Agreement, Influence
from faithkit.measure.counting.owners import Owners
from faithkit.measure.counting.tally import RowCount
from faithkit.measure.intervals import MeasureStatistics, SamplingUnits

NO_VARIATION = 1e-10
ROUNDING = 1e-12


@attrs.frozen
class CentralMoments:
    """The number, mean and range of some values, and the sums of their squared and cubed deviations.

    Moments of two sets of values can be added.

    Examples
    --------
    >>> import numpy as np
    >>> moments = CentralMoments.of(np.array([0.0, 0.0])) + CentralMoments.of(np.array([1.0, 1.0]))
    >>> moments.mean, round(moments.standard_error, 4)
    (0.5, 0.2887)
    >>> CentralMoments.of(np.array([1.0]), np.array([4])).standard_error is None
    True
    """

    n: int
    mean: float
    squares: float
    cubes: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats, times: Ints | None = None) -> "CentralMoments":
        """Return the moments of values, each of which occurs `times` times (by default once)."""
        n = len(values) if times is None else int(times.sum())
        if not n:
            return cls(0, 0.0, 0.0, 0.0, math.inf, -math.inf)
        mean = float((values if times is None else values * times).sum()) / n
        deviations = values - mean
        squares = deviations * deviations if times is None else deviations * deviations * times
        low, high = float(values.min()), float(values.max())
        return cls(n, mean, float(squares.sum()), float((squares * deviations).sum()), low, high)

    def __add__(self, other: "CentralMoments") -> "CentralMoments":
        n = self.n + other.n
        if not self.n or not other.n:
            return self if self.n else other
        distance, share = other.mean - self.mean, other.n / n
        between = distance * distance * self.n * share
        imbalance = self.n * other.squares - other.n * self.squares
        return CentralMoments(
            n,
            self.mean + distance * share,
            self.squares + other.squares + between,
            self.cubes + other.cubes + distance * (between * (self.n - other.n) + 3 * imbalance) / n,
            min(self.low, other.low),
            max(self.high, other.high),
        )

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None where the values do not vary."""
        if self.n < 2 or self.high - self.low <= NO_VARIATION:
            return None
        return math.sqrt(self.variance / (self.n - 1))

    @property
    def variance(self) -> float:
        """The mean squared deviation."""
        return self.squares / self.n if self.n else 0.0

    @property
    def skewness(self) -> float:
        """The mean cubed deviation, in standard deviations; 0 where the values do not vary."""
        if self.standard_error is None or self.variance <= 0:
            return 0.0
        return float(self.cubes / self.n / self.variance**1.5)


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
    times : (u,) int, optional
        How many identical units each entry stands for; by default 1.
    divisor_left : (u,) float, optional
        For numbers: the share of the divisor, the variance, that is left without the unit.
    weight : (u,) float or float
        The weight of the unit.
    """

    compared: Floats
    disagreement: Floats
    times: Ints | None = None
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
    [deletions] = label_deletions(counts, [None])
    return deletions


def label_deletions(counts: RowCount, labels: Sequence[int | None]) -> Iterator[Deletions]:
    """Yield the deletions of all rows from the sums over the owners of each label, or of all if it is None.

    A row of another label owns nothing, but the owners are compared with it.
    """
    owners, place, s = counts.owners, counts.place, counts.reflexive.astype(np.int64)
    D, h = owners.others[place], owners.scores[place]
    own_agreeing = h + s * np.where(D >= 2, divide_safely(h - 1.0, D - 1.0), -h)
    own_compared = (D > 0).astype(np.float64) - s * (D == 1)
    divisor_left = counts.agreement.divisor_left(counts.labels)
    for label, (score_changes, n_left_alone) in zip(labels, _sum_influences(counts, labels), strict=True):
        weight = 1.0 if label is None else (counts.labels == label).astype(np.float64)
        pair_weight = weight * own_compared + n_left_alone
        agreeing = weight * own_agreeing - score_changes
        yield Deletions(pair_weight, pair_weight - agreeing, divisor_left=divisor_left, weight=weight)


def pool_deletions(counts: RowCount, labels: Sequence[int | None] = (None,)) -> Iterator[list[Deletions]]:
    """Yield the same for the rows of each piece of the pool, which own nothing."""
    for piece in counts.pooled():
        no_weight = np.zeros(1)
        divisor_left = piece.agreement.divisor_left(piece.labels, in_pool=True)
        yield [
            Deletions(n_left_alone, n_left_alone + score_changes, divisor_left=divisor_left, weight=no_weight)
            for score_changes, n_left_alone in _sum_influences(piece, labels)
        ]


def _sum_influences(counts: RowCount, labels: Sequence[int | None]) -> Iterator[tuple[Floats, Floats]]:
    """Yield, for the owners of each label, the sums over the explanations that hold for each row.

    They are the score changes, and the number of owners without others, if the row is deleted.
    """
    influences, instances = [_influence(counts.owners, label) for label in labels], counts.instances
    sums = np.zeros((len(labels), len(counts.labels), 2))
    for batch in counts.batches():
        for place, influence in enumerate(influences):
            batch_sums = instances.sum_influence(batch, influence)
            sums[place, :, : batch_sums.shape[1]] += batch_sums
        del batch  # free memory before the next batch
    return ((label_sums[:, 0], label_sums[:, 1]) for label_sums in sums)


def _influence(owners: Owners, label: int | None) -> Influence:
    """Return what owners gain and lose when an instance in the scope of their explanation is deleted."""
    D, h, rows = owners.others, owners.scores, _label_rows(owners, label)
    gain = rows * np.where(D >= 2, divide_safely(h, D - 1.0), -h)
    loss = rows * divide_safely(np.ones_like(h), np.where(D >= 2, D - 1.0, 0.0))
    return Influence(owners, owners.by_explanation(gain), loss, owners.by_explanation(rows * (D == 1)))


def _label_rows(owners: Owners, label: int | None) -> Floats:
    """Return the number of rows of each entry; 0 for those of other labels."""
    rows = owners.rows.astype(np.float64)
    return rows if label is None else np.where(owners.label == label, rows, 0.0)


def minimum_trials(counts: RowCount) -> float:
    """Return the minimum number of trials to assume: the more influence one row has, the fewer."""
    pool_share = max((max_influence(piece) for piece in counts.pooled()), default=0.0)
    return counts.owners.n / max(1.0 + max_influence(counts), pool_share)


def max_influence(counts: RowCount) -> float:
    """Return the largest influence of an instance on the measure."""
    return float(row_influences(counts, [None]).max(initial=0.0))


def row_influences(counts: RowCount, labels: Sequence[int | None]) -> Floats:
    """Return the influence of each row on each label's measure: its shares in the values of other rows."""
    owners, s = counts.owners, counts.reflexive
    ones = np.ones(len(owners))
    shares = (_label_rows(owners, label) * divide_safely(ones, owners.others) for label in labels)
    influences = counts.sums(np.column_stack([owners.by_explanation(share) for share in shares]))
    own_share = s * divide_safely(np.ones(len(s)), np.where(s, owners.totals[counts.owned] - 1, 0))
    for column, label in zip(influences.T, labels, strict=True):
        column -= own_share if label is None else np.where(counts.labels == label, own_share, 0.0)
    return influences


# -- statistics --


def change_moments(pieces: Iterable[Deletions], totals: MeasureTotals) -> MomentsPair | None:
    """Return the moments of what the estimate and the disagreement lose without each row of the pool."""
    changes = [piece.changes(totals) for piece in pieces]
    if not changes:
        return None
    return add_moments(
        (CentralMoments.of(estimate), CentralMoments.of(disagreement)) for estimate, disagreement in changes
    )


def standard_errors(moments: MomentsPair, pool: MomentsPair | None = None) -> list[float | None]:
    """Return the standard errors of the estimate and of the disagreement; a pool is a further stratum."""
    errors = [pseudo_values.standard_error for pseudo_values in moments]
    if pool is None:
        return errors
    return [_add_pool_variance(se, changes) for se, changes in zip(errors, pool, strict=True)]


def _add_pool_variance(se: float | None, pool_changes: CentralMoments) -> float | None:
    """Add the variance that comes from the selection of the pool's rows, which are a stratum of their own."""
    if se is None and pool_changes.high - pool_changes.low <= ROUNDING:
        return None
    return math.sqrt((se or 0.0) ** 2 + pool_changes.n * pool_changes.variance)


def build_statistics(
    n: int,
    agreement: Agreement,
    totals: MeasureTotals,
    merged_totals: MeasureTotals,
    errors: Sequence[float | None],
    units: SamplingUnits,
    skewness: float = 0.0,
    merging: str | None = None,
) -> MeasureStatistics:
    """Build the statistics of n rows from the totals of their measure, without and with merged rows."""
    number_fields: dict[str, Any] = {}
    if agreement.is_normalised:
        number_fields = {
            "span": agreement.max_disagreement,
            "is_bounded": agreement.is_bounded,
            "skew": skewness,
        }
    return MeasureStatistics(
        n=n,
        value=totals.agreeing,
        verified=totals.compared,
        estimate=merged_totals.estimate,
        disagreement=totals.disagreement,
        compared=merged_totals.compared,
        agreed=merged_totals.agreeing,
        related=totals.compared,
        se=errors[0],
        se_disagreement=errors[1],
        units=units,
        merging=merging,
        **number_fields,
    )
