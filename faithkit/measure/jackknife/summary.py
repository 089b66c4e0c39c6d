"""From counts to statistics: the estimate, the disagreement, and their standard errors.

This module combines the others: the comparisons (`counting.tally`, `counting.cells`), the groups of rows with
a unique explanation (`merging`), the influence of each unit (`deletions`, `cell_jackknife`), and the
statistics that an interval needs (`intervals`).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import attrs
import numpy as np

from faithkit.arrays import BATCH_SIZE, Floats, Ints, divide_safely, sum_by
from faithkit.arrays.batches import map_batches, spans
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.owners import Owners
from faithkit.measure.counting.tally import Count, RowCount
from faithkit.measure.intervals import MeasureStatistics, SamplingUnits, depends_on_min_trials
from faithkit.measure.jackknife.cell_jackknife import CellJackknife
from faithkit.measure.jackknife.deletions import (
    CentralMoments,
    Deletions,
    MeasureTotals,
    MomentsPair,
    add_moments,
    build_statistics,
    change_moments,
    label_deletions,
    label_pool_deletions,
    minimum_trials,
    pool_deletions,
    pseudo_value_moments,
    relation_deletions,
    standard_errors,
)
from faithkit.measure.jackknife.merging import NOTHING, PAIRS, merge_unique

MAX_SUMS = 2**24  # sums over a relation's matrix in one pass: rows × labels

PseudoValues = Callable[[], tuple[Floats, Floats]]


class JackknifeEstimate:
    """The statistics of one measure, and the pseudo-values of every row, cluster or block.

    There are pseudo-values of the estimate and of the disagreement. They are computed at first use, and are
    needed for paired comparisons only.
    """

    def __init__(self, statistics: MeasureStatistics, pseudo_values: PseudoValues | None = None) -> None:
        self.statistics, self._compute_pseudo_values = statistics, pseudo_values

    @cached_property
    def _pseudo_values(self) -> tuple[Floats, Floats]:
        assert self._compute_pseudo_values is not None
        return self._compute_pseudo_values()

    @property
    def value(self) -> Floats:
        """Pseudo-values of the estimate."""
        return self._pseudo_values[0]

    @property
    def disagreement(self) -> Floats:
        """Pseudo-values of the disagreement."""
        return self._pseudo_values[1]

    @classmethod
    def of(cls, counts: Count, n_classes: int | None = None) -> "JackknifeEstimate":
        """Jackknife the counts of a sample; the model declares `n_classes` labels.

        Pseudo-values, and relations that do not group, need the rows in memory.

        Examples
        --------
        >>> from faithkit.explanations.explanations import Explanations, Sample
        >>> from faithkit.explanations.relations import SameExplanation
        >>> from faithkit.measure.counting.tally import count
        >>> sample = Sample(None, Explanations.of(["a", "a", "a", "a"]))
        >>> jackknife = JackknifeEstimate.of(count(SameExplanation(), sample, np.array([0, 0, 0, 1]), 2))
        >>> jackknife.statistics.estimate, round(jackknife.statistics.se, 3), jackknife.value.round(2)
        (0.5, 0.5, array([ 1.,  1.,  1., -1.]))
        """
        if isinstance(counts, CellCount):
            of_cells = CellJackknife(counts, n_classes)
            return cls(of_cells.statistics(), of_cells.pseudo_values)
        if counts.relation.groups:
            grouped = GroupedJackknife.of(counts, n_classes)
            return cls(grouped.statistics(), grouped.pseudo_values)
        assert isinstance(counts, RowCount)
        return _jackknife_relation(counts, n_classes)


def measure_totals(counts: Count, n_classes: int | None) -> MeasureTotals:
    """Return the totals of equal rows; the model declares `n_classes` labels."""
    return MeasureTotals.of(counts.owners, counts.agreement, counts.max_disagreement(n_classes))


# -- relations that group equal rows --


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


@attrs.frozen(eq=False)
class GroupedJackknife:
    """The jackknife of equal rows in groups, without and with the merging of unique explanations.

    `method` is that of the merging; None where merging could increase agreement. `merged_index` is the index
    of each owner among the merged owners; None where nothing is merged.
    """

    counts: Count
    rows: GroupedRows
    merged_rows: GroupedRows
    method: str | None
    merged_index: Ints | None = None

    @classmethod
    def of(cls, counts: Count, n_classes: int | None) -> "GroupedJackknife":
        """Group and merge the rows of a sample, which is in memory or in a log."""
        owners, agreement = counts.owners, counts.agreement
        max_disagreement = counts.max_disagreement(n_classes)
        rows = GroupedRows(owners, agreement, max_disagreement)
        if not agreement.is_convex:
            return cls(counts, rows, rows, None)
        merging = merge_unique(counts, owners.totals == 1)
        if merging.method == NOTHING:
            return cls(counts, rows, rows, NOTHING)
        merged, merged_index = merging.owners(owners, counts.explanations.missing, agreement)
        first_pair = merging.first_block if merging.method == PAIRS else None
        merged_rows = GroupedRows(merged, agreement, max_disagreement, first_pair)
        return cls(counts, rows, merged_rows, merging.method, merged_index)

    def statistics(self) -> MeasureStatistics:
        """Return the statistics of the measure."""
        estimate, disagreement = self.rows.moments()
        se, skewness = estimate.standard_error, estimate.skewness
        if self.method == PAIRS:
            se, skewness = self.merged_rows.paired_error()
        elif self.merged_index is not None:
            estimate, _ = self.merged_rows.moments()
            se, skewness = estimate.standard_error, estimate.skewness
        n, agreement, errors = self.counts.owners.n, self.counts.agreement, (se, disagreement.standard_error)
        totals, units = (self.rows.totals, self.merged_rows.totals), SamplingUnits.equal(n)
        return build_statistics(n, agreement, *totals, errors, units, skewness, self.method)

    def pseudo_values(self) -> tuple[Floats, Floats]:
        """Return the pseudo-values of all rows, of the estimate and of the disagreement."""
        assert isinstance(self.counts, RowCount)
        owner = self.counts.owner_index
        estimate, _ = self.merged_rows.pseudo_values()
        _, disagreement = self.rows.pseudo_values()
        merged_owner = owner if self.merged_index is None else self.merged_index[owner]
        return estimate[merged_owner], disagreement[owner]


# -- other relations between equal rows --


def _jackknife_relation(counts: RowCount, n_classes: int | None) -> JackknifeEstimate:
    """Jackknife equal rows for a relation that does not group them."""
    totals, deletions = measure_totals(counts, n_classes), relation_deletions(counts)
    n, moments = counts.owners.n, pseudo_value_moments(deletions, totals, counts.owners.n)
    pool_moments = change_moments(pool_deletions(counts), totals)
    statistics = relation_statistics(counts, totals, moments, lambda: minimum_trials(counts), pool_moments)
    return JackknifeEstimate(statistics, lambda: deletions.pseudo_values(totals, n))


def relation_statistics(
    counts: Count,
    totals: MeasureTotals,
    moments: MomentsPair,
    min_trials: Callable[[], float],
    pool: MomentsPair | None = None,
) -> MeasureStatistics:
    """Return the statistics of equal rows; `min_trials` is called only where the interval depends on it."""
    n, errors = counts.owners.n, standard_errors(moments, pool)
    # the shares average to V, so there are at most n / (1 + V) trials, or n if a pool has some of the shares
    max_trials = n / (1.0 + totals.compared) if pool is None else float(n)
    units = SamplingUnits.equal(n, max_trials)
    statistics = build_statistics(n, counts.agreement, totals, totals, errors, units, moments[0].skewness)
    if not depends_on_min_trials(statistics, max_trials):
        return statistics
    return attrs.evolve(statistics, units=SamplingUnits.equal(n, min_trials()))


# -- each label --


def _label_totals(owners: Owners, label: int) -> MeasureTotals:
    """Return the totals of a label; rows without comparison count as disagreeing."""
    return MeasureTotals.of(owners.of_label(label), SAME_LABEL)


# -- relations that group rows: from the owners alone --


def grouped_label_statistics(counts: Count, labels: Sequence[int]) -> list[MeasureStatistics]:
    """Return the statistics of each label for a relation that groups rows.

    Examples
    --------
    Four rows share an explanation, three of them with the label 0:

    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.tally import count
    >>> counts = count(SameExplanation(), Sample(None, Explanations.of(["a"] * 4)), np.array([0, 0, 0, 1]), 2)
    >>> round(grouped_label_statistics(counts, [0])[0].estimate, 4)
    0.6667
    """
    jackknife = GroupedJackknife.of(counts, None)
    statistics = []
    for label in labels:
        totals = _label_totals(jackknife.rows.owners, label)
        merged_totals = _label_totals(jackknife.merged_rows.owners, label)
        _, moments = _group_moments(jackknife.rows, label, totals)
        merged_moments, _ = _group_moments(jackknife.merged_rows, label, merged_totals)
        n, errors = int(totals.total_weight), standard_errors((merged_moments, moments))
        units = SamplingUnits.equal(n)
        statistics.append(
            build_statistics(n, SAME_LABEL, totals, merged_totals, errors, units, merging=jackknife.method)
        )
    return statistics


def _group_moments(rows: GroupedRows, label: int, totals: MeasureTotals) -> MomentsPair:
    """Return the moments of pseudo-values of a label's rows and matched pairs."""
    owners, slots = rows.owners, rows.owners.of_label(label)
    T, N = slots.rows.astype(np.float64), slots.totals[slots.explanation].astype(np.float64)
    is_pair = slots.explanation >= rows.first_pair
    sums = _group_sums(T, N)
    without_own = np.where(is_pair, 0.0, _group_sums(T - 1, N - 1))
    without_other = _group_sums(T, N - 1)
    nothing = np.zeros((2, 1))
    pair_weight, disagreement = np.concatenate([sums - without_own, sums - without_other, nothing], axis=1)
    own_times, other_times = np.where(is_pair, 1, T), np.where(is_pair, 0, np.maximum(0, N - T))
    n_units = owners.n - (len(owners.totals) - rows.first_pair)
    n_unrelated = n_units - own_times.sum() - other_times.sum()
    times = np.concatenate([own_times, other_times, [n_unrelated]]).astype(np.int64)
    weight = np.concatenate([np.where(is_pair, T, 1.0), np.zeros(len(T) + 1)])
    occurs = times > 0  # a group of one label has no row of another
    deletions = Deletions(pair_weight[occurs], disagreement[occurs], times[occurs], weight=weight[occurs])
    return pseudo_value_moments(deletions, totals, int(n_units))


def _group_sums(T: Floats, N: Floats) -> Floats:
    """Return the compared weight and the disagreement of T rows of a label, in groups of N rows."""
    return np.stack([np.where(N >= 2, T, 0.0), divide_safely(T * (N - T), N - 1)])


# -- other relations: one more pass over the relation's matrix, for all labels --


def relation_label_statistics(counts: RowCount, labels: Sequence[int]) -> list[MeasureStatistics]:
    """Return the statistics of each label for a relation that does not group; a pool is a further stratum."""
    batches = spans(len(labels), MAX_SUMS // len(counts.labels))
    return [
        statistics for start, stop in batches for statistics in _batch_statistics(counts, labels[start:stop])
    ]


def _batch_statistics(counts: RowCount, labels: Sequence[int]) -> Iterator[MeasureStatistics]:
    """Yield the statistics of labels whose sums are computed in one pass over the matrix."""
    pool = list(label_pool_deletions(counts, labels))
    for position, (deletions, influence) in enumerate(label_deletions(counts, labels)):
        totals = _label_totals(counts.owners, labels[position])
        moments = pseudo_value_moments(deletions, totals, len(counts.labels))
        pool_moments = change_moments((piece[position][0] for piece in pool), totals)
        n, influences = int(totals.total_weight), [influence, *(piece[position][1] for piece in pool)]
        units = SamplingUnits.equal(n, n / max(2.0, *influences))
        errors = standard_errors(moments, pool_moments)
        yield build_statistics(n, SAME_LABEL, totals, totals, errors, units)
