"""The jackknife of rows with weights, clusters or blocks, from sums over pairs of cells."""

import math
from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.design import effective_number
from faithkit.measure.counting.pair_ratio import MergedSums, Sums, merge_parts
from faithkit.measure.counting.parts import Parts
from faithkit.measure.intervals import MeasureStatistics, SamplingUnits
from faithkit.measure.jackknife.deletions import (
    CentralMoments,
    Deletions,
    MeasureTotals,
    build_statistics,
    change_moments,
    standard_errors,
)
from faithkit.measure.jackknife.merging import NOTHING, PAIRS, merge_unique

ROUNDING = 1e-12


def cell_label_statistics(counts: CellCount, labels: Sequence[int]) -> list[MeasureStatistics]:
    """Return, for each label, the statistics of its owners, which are compared with all rows."""
    return [CellJackknife(counts, None, label).statistics() for label in labels]


class CellJackknife:
    """The jackknife of rows with weights, clusters or blocks, from sums over pairs of cells.

    Clusters are left out one by one, or blocks where there are any. With a `label`, only rows of this label
    own explanations. They are compared with all rows.
    """

    def __init__(self, counts: CellCount, n_classes: int | None, label: int | None = None) -> None:
        self.counts, self.sums, self.label = counts, counts.pair_sums(label), label
        design, n, unit = counts.design, counts.n_explained, counts.design.independent_unit
        owner_steps = design.steps if label is None else np.where(counts.labels == label, design.steps, 0)
        self.owner_steps = owner_steps[:n]
        self.weight = sum_by(unit[:n], self.owner_steps, counts.n_left_out)
        self.is_explained = sum_by(unit[:n], design.steps[:n], counts.n_left_out) > 0
        self.total_weight = float(self.weight.sum()) * design.step
        self.max_disagreement = 1.0 if label is not None else counts.max_disagreement(n_classes)
        self.divisor_left = self._divisor_left()
        self.method, self.merged, self.lone_cells = self._merge_lone_rows()
        with_merged = self.sums + self.merged.sums
        self.totals = self._totals(self.sums.compared, self.sums.disagreement)
        self.merged_totals = self._totals(with_merged.compared, with_merged.disagreement)
        self.printed_totals = self._totals(with_merged.all_compared, with_merged.all_disagreement)
        self.deletions = self._deletions(self.sums, self.is_explained)
        self.merged_deletions = self._deletions(with_merged, self.is_explained)
        has_weight = sum_by(unit, design.steps, counts.n_left_out) > 0
        self.pool_deletions = self._deletions(self.sums, ~self.is_explained & has_weight)

    def _divisor_left(self) -> Floats | None:
        """Return the share of the disagreement of a constant explanation that is left without each unit."""
        if not self.counts.agreement.is_normalised:
            return None
        sums = self.counts.constant_sums()
        compared = sums.compared - sums.lost_compared
        share = divide_safely(
            sums.disagreement - sums.lost_disagreement, np.where(compared > ROUNDING, compared, 0.0)
        )
        return np.where(share > ROUNDING, share, 0.0)

    def _totals(self, compared: float, disagreement: float) -> MeasureTotals:
        """Return the totals of these sums over pairs."""
        share = compared / self.total_weight
        compared = 1.0 if abs(1.0 - share) < ROUNDING else share
        return MeasureTotals(
            compared - disagreement / self.total_weight,
            compared,
            self.total_weight,
            self.max_disagreement,
            self.counts.agreement.is_bounded,
        )

    def _deletions(self, sums: Sums, units: NDArray[np.bool_]) -> Deletions:
        """Return the deletions of the units of a mask."""
        return Deletions(
            sums.lost_compared[units],
            sums.lost_disagreement[units],
            divisor_left=None if self.divisor_left is None else self.divisor_left[units],
            weight=self.weight[units] * self.counts.design.step,
        )

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
        value, verified = owners.mean_agreement
        return attrs.evolve(
            build_statistics(
                owners.n,
                self.counts.agreement,
                self.totals,
                self.merged_totals,
                errors,
                self._units(),
                estimate.skewness,
                self.method,
            ),
            estimate=self.printed_totals.estimate,
            value=value,
            verified=verified,
        )

    def _units(self) -> SamplingUnits:
        weight = self.weight[self.weight > 0]
        effective = effective_number(weight)
        largest = float(weight.max()) / float(weight.sum())
        if self.counts.is_in_blocks:
            draws = effective_number(self._compared_weights())
            return SamplingUnits(len(weight), effective, largest, effective, draws, are_blocks=True)
        min_trials = effective / 2
        if not self.counts.relation.groups:
            own_weight = self.weight * self.counts.design.step
            shared_trials = self.total_weight / float((own_weight + self.sums.influence).max())
            min_trials = shared_trials if self.label is None else min(min_trials, shared_trials)
        return SamplingUnits(len(weight), effective, largest, min_trials, effective)

    def _compared_weights(self) -> Ints:
        """Return the weights of the clusters, or rows, that are compared with each other within blocks."""
        design, n = self.counts.design, self.counts.n_explained
        assert design.block is not None
        cell = np.unique(design.block[:n] * design.n_units + design.unit[:n], return_inverse=True)[1]
        weights = sum_by(cell, self.owner_steps)
        return weights[weights > 0]

    def _merge_lone_rows(self) -> tuple[str | None, MergedSums, Parts | None]:
        """Compare explanations that only one unit has; return the method, the sums and the cells."""
        counts = self.counts
        nothing = MergedSums.zeros(counts.n_left_out)
        if not counts.relation.groups or not counts.agreement.is_convex:
            return None, nothing, None
        if counts.is_in_blocks:
            return NOTHING, nothing, None
        cells = next(counts.cells())
        cells = cells.take(cells.scope_weight > 0)
        is_unique = np.zeros(len(counts.explanations), dtype=bool)
        is_unique[: len(cells.n_units)] = cells.n_units == 1
        unit = np.zeros(len(is_unique), dtype=np.int64)
        unit[cells.explanation] = cells.unit
        merging = merge_unique(counts, is_unique, unit, counts.has_equal_cells)
        block = merging.key[cells.explanation] - merging.first_block
        lone_cells = cells.take(block >= 0).with_explanations(block[block >= 0])
        parts = Parts.of(lone_cells, counts.design.step, self.label)
        return merging.method, merge_parts(parts, counts.agreement, counts.n_left_out), parts

    def _paired_error(self) -> float | None:
        """Return the standard error of the estimate, where matched pairs may share units.

        A unit together with all its pairs is one deviation; the pairs of two units are one. That counts each
        pair twice, once for each of its units, so one of the two is subtracted.
        """
        parts, totals, step = self.lone_cells, self.merged_totals, self.counts.design.step
        assert parts is not None
        d_max, n_units = totals.max_disagreement, len(self.weight)
        compared, disagreement = self.merged.compared, self.merged.disagreement
        pair_weight = parts.by_part(parts.owned)
        by_pair = d_max * compared - disagreement + (1.0 - d_max) * pair_weight
        unpaired_weight = self.weight * step - sum_by(parts.unit, parts.owned, n_units)
        by_unit = d_max * self.sums.lost_compared - self.sums.lost_disagreement
        by_unit = by_unit + (1.0 - d_max) * unpaired_weight
        mean = float(by_unit.sum() + by_pair.sum()) / self.total_weight
        by_unit, by_pair = by_unit - mean * unpaired_weight, by_pair - mean * pair_weight
        if self.divisor_left is not None:
            by_unit = by_unit + self.total_weight * totals.disagreement * (1.0 - self.divisor_left)
        first, second = parts.unit.reshape(-1, 2).T  # of each pair
        links, link = np.unique(first * n_units + second, return_inverse=True)
        by_link = sum_by(link, by_pair)
        by_unit_with_pairs = by_unit.copy()
        for unit in np.divmod(links, n_units):
            by_unit_with_pairs += sum_by(unit, by_link, n_units)
        linked = float((by_unit_with_pairs**2).sum() - (by_link**2).sum())
        independent = float((by_unit**2).sum() + (by_link**2).sum())
        n_explained = int(self.is_explained.sum())
        n_unpaired = n_explained - len(np.unique(parts.unit))
        count = min(n_explained, n_unpaired + len(links))
        if count < 2:
            return None
        return math.sqrt(count / (count - 1) * max(linked, independent)) / self.total_weight
