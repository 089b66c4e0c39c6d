"""What a measure loses without each unit, and the statistics that follow from it.

Measures are sums over pairs of rows. For equal rows there is a closed form for the terms that a sum loses
without a row. Relations that do not group rows need one more pass over their matrix, which is here. Groups
and blocks are in `summary`, and rows with weights or clusters in `pairs` and `weighted`.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import add

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints, divide_safely
from faithkit.arrays.bitsets import column_sums
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
        if divisor is None:
            return 1.0 - disagreement - max_disagreement * (1.0 - pair_weight), disagreement
        varies = divisor > 0  # without this unit, predictions may all be the same number
        disagreement = np.where(varies, divide_safely(disagreement, divisor), 1.0)
        if self.is_bounded:
            max_disagreement = divide_safely(np.full(len(disagreement), self.max_disagreement), divisor)
        estimate = 1.0 - disagreement - max_disagreement * (1.0 - pair_weight)
        return np.where(varies, estimate, 0.0), disagreement


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


def pseudo_value_moments(deletions: Deletions, totals: MeasureTotals, n_units: int) -> MomentsPair:
    """Return the moments of the pseudo-values of the estimate and of the disagreement."""
    estimate, disagreement = deletions.pseudo_values(totals, n_units)
    return CentralMoments.of(estimate, deletions.times), CentralMoments.of(disagreement, deletions.times)


def add_moments(pairs: Iterable[MomentsPair]) -> MomentsPair:
    """Add up the moments of several batches of rows."""
    estimate, disagreement = (reduce(add, moments) for moments in zip(*pairs, strict=True))
    return estimate, disagreement


# -- relations that do not group equal rows: one more pass over the relation's matrix --


def relation_deletions(counts: RowCount) -> Deletions:
    """Return the deletions of all rows of a sample, in its order."""
    return _add_own_terms(counts, *_sum_influence(counts))


def pool_deletions(counts: RowCount) -> Iterator[Deletions]:
    """Yield the deletions of the rows of each piece of the pool, which own nothing."""
    for piece in counts.pooled():
        score_changes, n_left_alone = _sum_influence(piece)
        divisor_left = piece.agreement.divisor_left(piece.labels, in_pool=True)
        yield Deletions(
            n_left_alone, n_left_alone + score_changes, divisor_left=divisor_left, weight=np.zeros(1)
        )


def _add_own_terms(
    counts: RowCount, score_changes: Floats, n_left_alone: Floats, weight: Floats | float = 1.0
) -> Deletions:
    """Return the deletions of rows from what their owners lose; `weight` is 1 for rows that own something."""
    owners, position, s = counts.owners, counts.owner_index, counts.reflexive.astype(np.int64)
    D, h = owners.others[position], owners.scores[position]
    own_agreeing = h + s * np.where(D >= 2, divide_safely(h - 1.0, D - 1.0), -h)
    pair_weight = weight * ((D > 0).astype(np.float64) - s * (D == 1)) + n_left_alone
    disagreement = pair_weight - (weight * own_agreeing - score_changes)
    divisor_left = counts.agreement.divisor_left(counts.labels)
    return Deletions(pair_weight, disagreement, divisor_left=divisor_left, weight=weight)


def _sum_influence(counts: RowCount) -> tuple[Floats, Floats]:
    """Return the score changes and the number of owners without others, if each row is deleted."""
    influence, instances = _influence(counts.owners), counts.instances
    sums = np.zeros((len(counts.labels), 2))
    for batch in counts.batches():
        batch_sums = instances.sum_influence(batch, influence)
        sums[:, : batch_sums.shape[1]] += batch_sums
        del batch  # free memory before the next batch
    return sums[:, 0], sums[:, 1]


def _influence(owners: Owners, label: int | None = None) -> Influence:
    """Return what owners gain and lose when an instance in the scope of their explanation is deleted.

    With a label, these are the owners of that label only.
    """
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
    """Return the largest influence of an instance: the sum of its shares in the values of other rows."""
    shares = counts.sums(_sum_shares(counts.owners)[:, None])[:, 0]
    return float((shares - _own_shares(counts)).max(initial=0.0))


def _sum_shares(owners: Owners, label: int | None = None) -> Floats:
    """Sum, for each explanation, the share of one row in the values of its owners."""
    share = _label_rows(owners, label) * divide_safely(np.ones(len(owners)), owners.others)
    shares: Floats = owners.by_explanation(share)
    return shares


def _own_shares(counts: RowCount) -> Floats:
    """Return the share of each row that `_sum_shares` counts in the row's own value."""
    s = counts.reflexive
    return s * divide_safely(np.ones(len(s)), np.where(s, counts.owners.totals[counts.owned] - 1, 0))


# -- the same for the owners of each label --


def label_deletions(counts: RowCount, labels: Sequence[int]) -> Iterator[tuple[Deletions, float]]:
    """Yield the deletions of all rows from each label's sums, and the largest influence of a row.

    A row of another label owns nothing, but the owners are compared with it.
    """
    own_shares = _own_shares(counts)
    sums = _sum_label_influences(counts, labels)
    for label, (changes, n_left_alone, shares) in zip(labels, sums, strict=True):
        is_owner = (counts.labels == label).astype(np.float64)
        influence = float((shares + is_owner * (1.0 - own_shares)).max())
        yield _add_own_terms(counts, changes, n_left_alone, is_owner), influence


def label_pool_deletions(counts: RowCount, labels: Sequence[int]) -> Iterator[list[tuple[Deletions, float]]]:
    """Yield the same for the rows of each piece of the pool."""
    for piece in counts.pooled():
        yield [
            (Deletions(n_left_alone, n_left_alone + changes, weight=np.zeros(1)), float(shares.max()))
            for changes, n_left_alone, shares in _sum_label_influences(piece, labels)
        ]


def _sum_label_influences(counts: RowCount, labels: Sequence[int]) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield the score changes, the owners left alone and the shares of each row, in one pass for all labels.

    The score of an owner changes by its gain, and by its loss if the deleted row has its label.
    """
    owners, instances, n = counts.owners, counts.instances, len(counts.labels)
    whole, parts = _influence(owners), [_influence(owners, label) for label in labels]
    gains, left_alone = [part.gain for part in parts], [part.n_left_alone for part in parts]
    shares = [_sum_shares(owners, label) for label in labels]
    columns = np.column_stack([whole.gain, *gains, *left_alone, *shares])
    changes, sums, one_label = np.zeros(n), np.zeros((n, columns.shape[1])), np.zeros(n, dtype=np.int64)
    for start, stop, bits in counts.batches():
        changes += instances.sum_influence((start, stop, bits), whole)[:, 0]
        sums += column_sums(bits, columns[start:stop, None], one_label)
        del bits  # free memory before the next batch
    losses = sums[:, 0] - changes  # of the owners with the label of each row
    for position, label in enumerate(labels):
        gain, n_left_alone, share = sums[:, 1 + position :: len(labels)].T
        yield gain - np.where(counts.labels == label, losses, 0.0), n_left_alone, share


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
    return MeasureStatistics(
        n=n,
        value=totals.agreeing,
        verified=totals.compared,
        estimate=merged_totals.estimate,
        low_estimate=merged_totals.estimate,
        disagreement=totals.disagreement,
        compared=merged_totals.compared,
        agreed=merged_totals.agreeing,
        related=totals.compared,
        se=errors[0],
        se_disagreement=errors[1],
        units=units,
        merging=merging,
        span=agreement.max_disagreement if agreement.is_normalised else None,
        is_bounded=agreement.is_bounded,
        skew=skewness if agreement.is_normalised else 0.0,
    )
