"""The jackknife of rows with weights or clusters, from sums over pairs of rows."""

import math
from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, divide_safely, sum_by
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.cells import Cells
from faithkit.measure.counting.design import effective_number
from faithkit.measure.intervals import MeasureStatistics, SamplingUnits
from faithkit.measure.jackknife.deletions import (
    CentralMoments,
    Deletions,
    MeasureTotals,
    build_statistics,
    change_moments,
    standard_errors,
)
from faithkit.measure.jackknife.merging import PAIRS, merge_unique
from faithkit.measure.jackknife.pairs import PairSums, pair_sums

ROUNDING = 1e-12
NEARLY = 1e-9  # cells whose weights differ by less weigh the same


def weighted_label_statistics(counts: CellCount, labels: Sequence[int]) -> list[MeasureStatistics]:
    """Return, for each label, the statistics of its owners, which are compared with all rows."""
    jackknives = (
        WeightedJackknife(counts, None, sums, label)
        for label, sums in zip(labels, sum_pairs(counts, labels), strict=True)
    )
    return [jackknife.statistics() for jackknife in jackknives]


def sum_pairs(counts: CellCount, labels: Sequence[int | None]) -> list[PairSums]:
    """Sum over the pairs of each label's owners, or of all owners if it is None, in one pass."""
    is_thinned = not _have_equal_weights(counts) and not counts.design.uninformative
    largest = float(counts.weight_range[1])
    allowance = np.full(len(counts.explanations), largest) if is_thinned else None
    sums = [PairSums.zeros(counts.design.n_units) for _ in labels]
    for cells in counts.cells():
        for position, label in enumerate(labels):
            restricted = _restrict_owners(cells, label)
            if label is not None:
                restricted = _drop_unowned(restricted)
            sums[position] += _pair_sums(counts, restricted, allowance)
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


class WeightedJackknife:
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
        self.total_weight = float(self.weight.sum()) * design.step
        self.max_disagreement = 1.0 if label is not None else counts.max_disagreement(n_classes)
        self.divisor, self.divisor_left = self._compute_divisor()
        self.method, self.lone_sums, self.lone_cells = self._merge_lone_rows()
        all_sums = sums + self.lone_sums
        self.totals, self.merged_totals = self._totals(sums), self._totals(all_sums)
        self.deletions = self._deletions(sums, self.is_explained)
        self.merged_deletions = self._deletions(all_sums, self.is_explained)
        weight_with_pool = sum_by(design.unit, design.steps, design.n_units)
        self.pool_deletions = self._deletions(sums, ~self.is_explained & (weight_with_pool > 0))

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
        weight = self.weight[units] * self.counts.design.step
        return Deletions(sums.lost_compared[units], disagreement, divisor_left=divisor_left, weight=weight)

    def pseudo_values(self) -> tuple[Floats, Floats]:
        """Return the pseudo-values of all explained units, of the estimate and of the disagreement."""
        n_units = len(self.deletions.compared)
        estimate, _ = self.merged_deletions.pseudo_values(self.merged_totals, n_units)
        _, disagreement = self.deletions.pseudo_values(self.totals, n_units)
        return estimate, disagreement

    def statistics(self) -> MeasureStatistics:
        """Return the statistics of the measure."""
        estimate, disagreement = map(CentralMoments.of, self.pseudo_values())
        pool = [self.pool_deletions] if len(self.pool_deletions.compared) else []
        errors = standard_errors((estimate, disagreement), change_moments(pool, self.totals))
        if self.method == PAIRS and errors[0] is not None:
            errors[0] = self._paired_error()
        owners = self.counts.owners if self.label is None else self.counts.owners.of_label(self.label)
        statistics = build_statistics(
            owners.n,
            self.counts.agreement,
            self.totals,
            self.merged_totals,
            errors,
            self._units(),
            estimate.skewness,
            self.method,
        )
        value, verified = owners.mean_agreement
        span = None if statistics.span is None else statistics.span / self.divisor
        return attrs.evolve(statistics, value=value, verified=verified, span=span)

    def _units(self) -> SamplingUnits:
        weight = self.weight[self.weight > 0]
        effective = effective_number(weight)
        min_trials = effective / 2
        if not self.counts.relation.groups:
            own_weight = self.weight * self.counts.design.step
            shared_trials = self.total_weight / float((own_weight + self.sums.influence).max())
            min_trials = shared_trials if self.label is None else min(min_trials, shared_trials)
        return SamplingUnits(len(weight), effective, float(weight.max()) / float(weight.sum()), min_trials)

    def _merge_lone_rows(self) -> tuple[str | None, PairSums, Cells | None]:
        """Compare explanations that only one unit has; return the method, the sums and the cells."""
        counts = self.counts
        if not counts.relation.groups or not counts.agreement.is_convex:
            return None, PairSums.zeros(counts.design.n_units), None
        cells = _restrict_owners(next(counts.cells()), self.label)
        cells = cells.take(cells.scope_weight > 0)
        is_unique = np.zeros(len(counts.explanations), dtype=bool)
        is_unique[: len(cells.n_units)] = cells.n_units == 1
        unit = np.zeros(len(is_unique), dtype=np.int64)
        unit[cells.explanation] = cells.unit
        merging = merge_unique(counts, is_unique, unit, _have_equal_weights(counts))
        block = merging.key[cells.explanation] - merging.first_block
        lone_cells = cells.take(block >= 0).with_explanations(block[block >= 0])
        allowance = None
        if merging.method != PAIRS:
            allowance = np.zeros(int(lone_cells.explanation.max(initial=-1)) + 1)
            np.maximum.at(allowance, lone_cells.explanation[lone_cells.first], lone_cells.cell_weights[0])
        return merging.method, _pair_sums(counts, lone_cells, allowance), lone_cells

    def _paired_error(self) -> float | None:
        """Return the standard error of the estimate, where matched pairs may share units.

        A unit together with all its pairs is one deviation. That counts each pair twice, once for each of its
        units, so one of the two is subtracted.
        """
        totals, pair_cells = self.merged_totals, self.lone_cells
        assert pair_cells is not None
        assert self.lone_sums.by_explanation is not None
        step, d_max = self.counts.design.step, totals.max_disagreement
        pair, units = pair_cells.explanation[pair_cells.first], pair_cells.unit[pair_cells.first]
        compared, disagreement = self.lone_sums.by_explanation
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
