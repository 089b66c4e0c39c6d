"""From counts to statistics: the estimate, the disagreement, and their standard errors.

This module combines the others: the comparisons (`counting.tally`, `counting.cells`), the groups of rows with
a unique explanation (`merging`), the influence of each unit (`deletions`, `pairs`), and the statistics that
an interval needs (`intervals`).
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.measure.agreement.same_label import SameLabel
from faithkit.measure.counting.block_count import BlockCount
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.cells import Cells
from faithkit.measure.counting.design import effective_number
from faithkit.measure.counting.tally import Count, RowCount
from faithkit.measure.intervals import MeasureStatistics, SamplingUnits, depends_on_min_trials
from faithkit.measure.jackknife.central_moments import CentralMoments
from faithkit.measure.jackknife.deletions import (
    Deletions,
    GroupedRows,
    MeasureTotals,
    MomentsPair,
    add_moments,
    block_deletions,
    block_units,
    minimum_trials,
    pool_changes,
    pseudo_value_moments,
    relation_deletions,
)
from faithkit.measure.jackknife.merging import NOTHING, PAIRS, Merging
from faithkit.measure.jackknife.pairs import PairSums, pair_sums

ROUNDING = 1e-12
NEARLY = 1e-9  # cells whose weights differ by less weigh the same

PseudoValues = Callable[[], tuple[Floats, Floats]]


class JackknifeEstimate:
    """The statistics of one measure, and the pseudo-values of every row, cluster or block.

    There are pseudo-values of the estimate and of the disagreement. They are computed at first use, and are
    needed for paired comparisons only.
    """

    def __init__(
        self,
        statistics: MeasureStatistics,
        pseudo_values: PseudoValues | None = None,
        pool_changes: Callable[[], Floats] | None = None,
    ) -> None:
        self.statistics, self._compute_pseudo_values = statistics, pseudo_values
        self._compute_pool_changes = pool_changes

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

    @cached_property
    def pool_changes(self) -> Floats:
        """How much the estimate decreases without each unit of the pool; empty without a pool."""
        return np.zeros(0) if self._compute_pool_changes is None else self._compute_pool_changes()

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
        if isinstance(counts, BlockCount):
            return _jackknife_blocks(counts, n_classes)
        if isinstance(counts, CellCount):
            [sums] = _sum_pairs(counts, [None])
            return _WeightedJackknife(counts, n_classes, sums).estimate()
        if counts.relation.groups:
            grouped = GroupedJackknife.of(counts, n_classes)
            return cls(grouped.statistics(), grouped.pseudo_values)
        assert isinstance(counts, RowCount)
        return _jackknife_relation(counts, n_classes)


def _max_disagreement(counts: Count, n_classes: int | None) -> float:
    """Return d_max: the largest disagreement of a row that is compared with no other.

    In a group, the mean disagreement of two rows is that of one row from the group's mean. With k labels it
    is at most 1 − 1/k, and for numbers a quarter of the squared range.
    """
    agreement, groups = counts.agreement, counts.relation.groups
    if agreement.is_normalised:
        return agreement.max_disagreement / (2.0 if groups else 1.0) if agreement.is_bounded else 1.0
    is_label = isinstance(agreement, SameLabel)
    return 1.0 - (counts.lowest_value(n_classes) or 0.0) if is_label else 1.0


def measure_totals(counts: Count, n_classes: int | None) -> MeasureTotals:
    """Return the totals of equal rows; the model declares `n_classes` labels."""
    return MeasureTotals.of(counts.owners, counts.agreement, _max_disagreement(counts, n_classes))


def _merge_unique(
    counts: Count, is_unique: NDArray[np.bool_], unit: Ints | None = None, are_equal: bool = True
) -> Merging:
    """Merge explanations that only one unit has; the merging of these counts is computed once."""
    if not counts.merging_cache:
        merging = Merging.of(counts.relation, counts.explanations, is_unique, unit, are_equal)
        counts.merging_cache.append(merging)
    cached: Merging = counts.merging_cache[0]
    return cached


# -- relations that group equal rows --


@attrs.frozen(eq=False)
class GroupedJackknife:
    """The jackknife of equal rows in groups, without and with the merging of unique explanations.

    `place` is the place of each owner among the merged owners; None where nothing is merged.
    """

    counts: Count
    rows: GroupedRows
    merged_rows: GroupedRows
    merging: Merging | None
    place: Ints | None = None

    @classmethod
    def of(cls, counts: Count, n_classes: int | None) -> "GroupedJackknife":
        """Group and merge the rows of a sample, which is in memory or in a log."""
        owners, agreement = counts.owners, counts.agreement
        max_disagreement = _max_disagreement(counts, n_classes)
        rows = GroupedRows(owners, agreement, max_disagreement)
        if not agreement.is_convex:
            return cls(counts, rows, rows, None)
        merging = _merge_unique(counts, owners.totals == 1)
        if merging.method == NOTHING:
            return cls(counts, rows, rows, merging)
        merged, place = merging.owners(owners, counts.explanations.missing, agreement)
        first_pair = merging.first_block if merging.method == PAIRS else None
        return cls(counts, rows, GroupedRows(merged, agreement, max_disagreement, first_pair), merging, place)

    def statistics(self) -> MeasureStatistics:
        """Return the statistics of the measure."""
        estimate, disagreement = self.rows.moments()
        se, skewness = estimate.standard_error, estimate.skewness
        method = None if self.merging is None else self.merging.method
        if self.place is not None and method == PAIRS:
            se, skewness = self.merged_rows.paired_error()
        elif self.place is not None:
            estimate, _ = self.merged_rows.moments()
            se, skewness = estimate.standard_error, estimate.skewness
        errors, units = (se, disagreement.standard_error), SamplingUnits.equal(self.counts.owners.n)
        totals, merged_totals = self.rows.totals, self.merged_rows.totals
        return _build_statistics(self.counts, totals, merged_totals, errors, units, skewness, method)

    def pseudo_values(self) -> tuple[Floats, Floats]:
        """Return the pseudo-values of all rows, of the estimate and of the disagreement."""
        assert isinstance(self.counts, RowCount)
        place = self.counts.place
        estimate, _ = self.merged_rows.pseudo_values()
        _, disagreement = self.rows.pseudo_values()
        return estimate[place if self.place is None else self.place[place]], disagreement[place]


def _build_statistics(
    counts: Count,
    totals: MeasureTotals,
    merged_totals: MeasureTotals,
    errors: Sequence[float | None],
    units: SamplingUnits,
    skewness: float,
    merging: str | None = None,
) -> MeasureStatistics:
    """Build the statistics of a measure from its totals, without and with merged rows."""
    agreement = counts.agreement
    number_fields: dict[str, Any] = {}
    if agreement.is_normalised:
        number_fields = {
            "span": agreement.max_disagreement,
            "is_bounded": agreement.is_bounded,
            "skew": skewness,
        }
    return MeasureStatistics(
        n=counts.owners.n,
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


# -- other relations between equal rows --


def _jackknife_relation(counts: RowCount, n_classes: int | None) -> JackknifeEstimate:
    """Jackknife equal rows for a relation that does not group them."""
    totals, deletions = measure_totals(counts, n_classes), relation_deletions(counts)
    n = counts.owners.n
    moments = pseudo_value_moments(deletions, totals, n)
    changes = list(pool_changes(counts, totals))
    pool = add_moments(map(_change_moments, changes)) if changes else None
    statistics = relation_statistics(counts, totals, moments, lambda: minimum_trials(counts), pool)
    return JackknifeEstimate(
        statistics,
        lambda: deletions.pseudo_values(totals, n),
        lambda: np.concatenate([np.zeros(0), *(estimate for estimate, _ in changes)]),
    )


def _change_moments(changes: tuple[Floats, Floats]) -> MomentsPair:
    """Return the moments of what the estimate and the disagreement lose without each row of the pool."""
    return CentralMoments.of(changes[0]), CentralMoments.of(changes[1])


def relation_statistics(
    counts: Count,
    totals: MeasureTotals,
    moments: MomentsPair,
    min_trials: Callable[[], float],
    pool: MomentsPair | None = None,
) -> MeasureStatistics:
    """Return the statistics of equal rows; `min_trials` is called only where the interval depends on it."""
    errors = [pseudo_values.standard_error for pseudo_values in moments]
    n = counts.owners.n
    # the shares average to V, so there are at most n / (1 + V) trials, or n if a pool has some of the shares
    max_trials = n / (1.0 + totals.compared)
    if pool is not None:
        errors = [add_pool_variance(se, changes) for se, changes in zip(errors, pool, strict=True)]
        max_trials = float(n)
    units = SamplingUnits.equal(n, max_trials)
    statistics = _build_statistics(counts, totals, totals, errors, units, moments[0].skewness)
    if not depends_on_min_trials(statistics, max_trials):
        return statistics
    return attrs.evolve(statistics, units=SamplingUnits.equal(n, min_trials()))


def add_pool_variance(se: float | None, pool_changes: CentralMoments) -> float | None:
    """Add the variance that comes from the selection of the pool's rows, which are a stratum of their own."""
    if se is None and pool_changes.high - pool_changes.low <= ROUNDING:
        return None
    return math.sqrt((se or 0.0) ** 2 + pool_changes.n * pool_changes.variance)


# -- rows in blocks --


def _jackknife_blocks(counts: BlockCount, n_classes: int | None) -> JackknifeEstimate:
    """Jackknife rows that are compared only within blocks; nothing is merged."""
    totals, deletions = measure_totals(counts, n_classes), block_deletions(counts)
    pseudo_values = deletions.pseudo_values(totals, len(counts.sizes))
    moments = [CentralMoments.of(values) for values in pseudo_values]
    errors, units = [values.standard_error for values in moments], block_units(counts)
    merging = NOTHING if counts.relation.groups and counts.agreement.is_convex else None
    statistics = _build_statistics(counts, totals, totals, errors, units, moments[0].skewness, merging)
    return JackknifeEstimate(statistics, lambda: pseudo_values)


# -- rows with weights or clusters --


def weighted_label_statistics(counts: CellCount, labels: Sequence[int]) -> list[MeasureStatistics]:
    """Return, for each label, the statistics of its owners, which are compared with all rows."""
    jackknives = (
        _WeightedJackknife(counts, None, sums, label)
        for label, sums in zip(labels, _sum_pairs(counts, labels), strict=True)
    )
    return [jackknife.estimate().statistics for jackknife in jackknives]


def _sum_pairs(counts: CellCount, labels: Sequence[int | None]) -> list[PairSums]:
    """Sum over the pairs of each label's owners, or of all owners if it is None, in one pass."""
    is_thinned = not _have_equal_weights(counts) and not counts.design.uninformative
    largest = float(counts.weight_range[1])
    allowance = np.full(len(counts.explanations), largest) if is_thinned else None
    sums = [PairSums.zeros(counts.design.n_units) for _ in labels]
    for cells in counts.cells():
        for place, label in enumerate(labels):
            restricted = _restrict_owners(cells, label)
            if label is not None:
                restricted = _drop_unowned(restricted)
            sums[place] += _pair_sums(counts, restricted, allowance)
    return sums


def _pair_sums(counts: CellCount, cells: Cells, allowance: Floats | None) -> PairSums:
    return pair_sums(cells, counts.agreement, counts.design.n_units, counts.design.step, allowance)


def _have_equal_weights(counts: CellCount) -> bool:
    """Whether all cells weigh the same."""
    smallest, largest = counts.weight_range
    return largest - smallest <= NEARLY * largest


def _restrict_owners(cells: Cells, label: int | None) -> Cells:
    """Return cells in which only rows of this label own explanations; all of them if it is None."""
    if label is None:
        return cells
    has_label = cells.label == label
    return attrs.evolve(
        cells,
        owner_weight=np.where(has_label, cells.owner_weight, 0),
        n_owners=np.where(has_label, cells.n_owners, 0),
    )


def _drop_unowned(cells: Cells) -> Cells:
    """Drop explanations that no row owns: they compare nothing."""
    return cells.take(np.isin(cells.explanation, cells.explanation[cells.owner_weight > 0]))


class _WeightedJackknife:
    """The jackknife of rows with weights or clusters, from sums over pairs of rows.

    With a `label`, only rows of this label own explanations. They are compared with all rows.
    """

    def __init__(
        self, counts: CellCount, n_classes: int | None, sums: PairSums, label: int | None = None
    ) -> None:
        self.counts, self.sums, self.label = counts, sums, label
        design, n = counts.design, counts.n_explained
        owner_steps = design.steps if label is None else np.where(counts.labels == label, design.steps, 0)
        self.weight = sum_by(design.unit[:n], owner_steps[:n], design.n_units)
        self.is_explained = sum_by(design.unit[:n], design.steps[:n], design.n_units) > 0
        self.weight_with_pool = sum_by(design.unit, design.steps, design.n_units)
        self.total_weight = float(self.weight.sum()) * design.step
        self.max_disagreement = 1.0 if label is not None else _max_disagreement(counts, n_classes)
        self.divisor, self.divisor_left = self._compute_divisor()

    def _compute_divisor(self) -> tuple[float, Floats | None]:
        """Return the disagreement of a constant explanation, and the share that is left without each unit.

        Labels have no divisor: then it is 1 and None.
        """
        if not self.counts.agreement.is_normalised:
            return 1.0, None
        cells = self.counts.constant_cells
        _, largest = cells.weight_range
        allowance = None if self.counts.design.uninformative else np.array([float(largest)])
        sums = _pair_sums(self.counts, cells, allowance)
        divisor = sums.disagreement / sums.compared
        pair_weight = sums.compared - sums.lost_compared
        disagreement = sums.disagreement - sums.lost_disagreement
        share = divide_safely(disagreement, np.where(pair_weight > ROUNDING, pair_weight, 0.0)) / divisor
        return divisor, np.where(share > ROUNDING, share, 0.0)

    def _totals(self, sums: PairSums) -> MeasureTotals:
        is_bounded = self.counts.agreement.is_bounded
        pair_weight = sums.compared / self.total_weight
        disagreement = sums.disagreement / self.total_weight / self.divisor
        pair_weight = 1.0 if abs(1.0 - pair_weight) < ROUNDING else pair_weight
        max_disagreement = self.max_disagreement / self.divisor if is_bounded else self.max_disagreement
        return MeasureTotals(
            pair_weight - disagreement, pair_weight, self.total_weight, max_disagreement, is_bounded
        )

    def _deletions(self, sums: PairSums, units: NDArray[np.bool_]) -> Deletions:
        """Return the deletions of the units of a mask."""
        disagreement = sums.lost_disagreement[units] / self.divisor
        divisor_left = None if self.divisor_left is None else self.divisor_left[units]
        once, weight = np.ones(int(units.sum()), dtype=np.int64), self.weight[units] * self.counts.design.step
        return Deletions(sums.lost_compared[units], disagreement, once, divisor_left, weight)

    def estimate(self) -> JackknifeEstimate:
        """Return the statistics and the pseudo-values of all units."""
        counts, is_explained = self.counts, self.is_explained
        n_units = int(is_explained.sum())
        totals, deletions = self._totals(self.sums), self._deletions(self.sums, is_explained)
        merging, lone_sums, lone_cells = self._merge_lone_rows()
        all_sums = self.sums + lone_sums
        merged_totals, merged_deletions = self._totals(all_sums), self._deletions(all_sums, is_explained)
        estimate, _ = merged_deletions.pseudo_values(merged_totals, n_units)
        _, disagreement = deletions.pseudo_values(totals, n_units)
        moments = CentralMoments.of(estimate), CentralMoments.of(disagreement)
        errors = [pseudo_values.standard_error for pseudo_values in moments]
        method = None if merging is None else merging.method
        if method == PAIRS and errors[0] is not None:
            errors[0] = self._paired_error(merged_totals, lone_sums, lone_cells)
        in_pool = ~is_explained & (self.weight_with_pool > 0)
        pool_changes = self._deletions(self.sums, in_pool).changes(totals)
        if in_pool.any():
            changes = map(CentralMoments.of, pool_changes)
            errors = [add_pool_variance(se, pool) for se, pool in zip(errors, changes, strict=True)]
        skewness = moments[0].skewness
        statistics = _build_statistics(counts, totals, merged_totals, errors, self._units(), skewness, method)
        owners = counts.owners if self.label is None else counts.owners.of_label(self.label)
        value, verified = owners.mean_agreement
        statistics = attrs.evolve(statistics, n=owners.n, value=value, verified=verified)
        if statistics.span is not None:
            statistics = attrs.evolve(statistics, span=statistics.span / self.divisor)
        return JackknifeEstimate(statistics, lambda: (estimate, disagreement), lambda: pool_changes[0])

    def _units(self) -> SamplingUnits:
        weight = self.weight[self.weight > 0]
        effective = effective_number(weight)
        min_trials = effective / 2
        if not self.counts.relation.groups:
            own_weight = self.weight * self.counts.design.step
            shared_trials = self.total_weight / float((own_weight + self.sums.influence).max())
            min_trials = shared_trials if self.label is None else min(min_trials, shared_trials)
        return SamplingUnits(len(weight), effective, float(weight.max()) / float(weight.sum()), min_trials)

    def _merge_lone_rows(self) -> tuple[Merging | None, PairSums, Cells | None]:
        """Compare explanations that only one unit has; return the merging, its sums and its cells."""
        counts = self.counts
        no_sums = PairSums.zeros(counts.design.n_units)
        if not counts.relation.groups or not counts.agreement.is_convex:
            return None, no_sums, None
        cells = _restrict_owners(next(counts.cells()), self.label)
        cells = cells.take(cells.scope_weight > 0)
        is_unique = np.zeros(len(counts.explanations), dtype=bool)
        is_unique[: len(cells.n_units)] = cells.n_units == 1
        unit = np.zeros(len(is_unique), dtype=np.int64)
        unit[cells.explanation] = cells.unit
        merging = _merge_unique(counts, is_unique, unit, _have_equal_weights(counts))
        block = merging.key[cells.explanation] - merging.first_block
        lone_cells = cells.take(block >= 0).with_explanations(block[block >= 0])
        if not len(lone_cells):
            return merging, no_sums, lone_cells
        if merging.method == PAIRS:
            return merging, _pair_sums(self.counts, lone_cells, None), lone_cells
        allowance = np.zeros(int(lone_cells.explanation.max()) + 1)
        np.maximum.at(allowance, lone_cells.explanation[lone_cells.first], lone_cells.cell_weights[0])
        return merging, _pair_sums(self.counts, lone_cells, allowance), lone_cells

    def _paired_error(
        self, totals: MeasureTotals, pair_sums: PairSums, pair_cells: Cells | None
    ) -> float | None:
        """Return the standard error of the estimate, where matched pairs may share units.

        A unit together with all its pairs is one deviation. That counts each pair twice, once for each of its
        units, so one of the two is subtracted.
        """
        assert pair_cells is not None
        assert pair_sums.by_explanation is not None
        step, d_max = self.counts.design.step, totals.max_disagreement
        pair, units = pair_cells.explanation[pair_cells.first], pair_cells.unit[pair_cells.first]
        _, compared, disagreement = pair_sums.by_explanation
        pair_weight = np.bincount(pair, weights=pair_cells.cell_weights[1] * step)
        by_pair = d_max * compared - disagreement / self.divisor + (1.0 - d_max) * pair_weight
        unpaired_weight = (self.weight - sum_by(units, pair_cells.cell_weights[1], len(self.weight))) * step
        by_unit = d_max * self.sums.lost_compared - self.sums.lost_disagreement / self.divisor
        by_unit = by_unit + (1.0 - d_max) * unpaired_weight
        mean = float(by_unit.sum() + by_pair.sum()) / self.total_weight
        by_unit, by_pair = by_unit - mean * unpaired_weight, by_pair - mean * pair_weight
        if self.divisor_left is not None:
            by_unit = by_unit + self.total_weight * totals.disagreement * (1.0 - self.divisor_left)
        by_unit_with_pairs = by_unit + sum_by(units, by_pair[pair], len(by_unit))
        linked = float((by_unit_with_pairs**2).sum() - (by_pair**2).sum())
        independent = float((by_unit**2).sum() + (by_pair**2).sum())
        unpaired_units = np.setdiff1d(np.flatnonzero(self.is_explained), units)
        count = len(unpaired_units) + len(by_pair)
        if count < 2:
            return None
        return math.sqrt(count / (count - 1) * max(linked, independent)) / self.total_weight
