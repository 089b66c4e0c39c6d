"""From counts to moments: the estimate, the disagreement, and how sure a sample makes us of both.

This is the one place where the parts meet: what is compared (`tally`, `cells`), under which key (`merging`),
what each unit has to do with it (`jackknife`, `pairs`), and what an interval is made of (`inference`).
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Floats, Ints, ratio, sum_by
from faithkit.measure.agreement.same_label import SameLabel
from faithkit.measure.counting.cell_count import CellCount
from faithkit.measure.counting.cells import Cells
from faithkit.measure.counting.design import worth
from faithkit.measure.counting.owners import Owners
from faithkit.measure.counting.tally import Count, RowCount
from faithkit.measure.intervals import MeasureStatistics, agreement, trials_decide
from faithkit.measure.jackknife.central_moments import CentralMoments
from faithkit.measure.jackknife.deletions import (
    Deletions,
    GroupedRows,
    MeasureTotals,
    fewest_trials,
    pool_spreads,
    related_rows,
    spreads_of,
)
from faithkit.measure.jackknife.merging import NOTHING, PAIRS, Merging
from faithkit.measure.jackknife.pairs import PairSums, pair_sums
from faithkit.measure.limits import SamplingUnits

ROUNDING = 1e-12
NEARLY = 1e-9  # cells whose weights differ by less weigh the same

PseudoValues = Callable[[], tuple[Floats, Floats]]


class JackknifeEstimate:
    """What one measure brings into a comparison: its moments, and pseudo-values for every row or cluster.

    Those are of the estimate and of the disagreement, found when they are asked for; without them nothing can
    be paired.
    """

    def __init__(self, facts: MeasureStatistics, pseudo_values: PseudoValues | None = None) -> None:
        self.facts, self._pseudo_values = facts, pseudo_values

    @cached_property
    def _both(self) -> tuple[Floats, Floats]:
        assert self._pseudo_values is not None
        return self._pseudo_values()

    @property
    def value(self) -> Floats:
        """Pseudo-values of the estimate."""
        return self._both[0]

    @property
    def disagreement(self) -> Floats:
        """Pseudo-values of the disagreement."""
        return self._both[1]

    @classmethod
    def of(cls, counted: RowCount, n_classes: int | None = None) -> "JackknifeEstimate":
        """Jackknife what was counted; the model declares to have `n_classes` labels.

        Examples
        --------
        >>> from faithkit.explanations.explanations import Explanations, Sample
        >>> from faithkit.explanations.relations import SameExplanation
        >>> from faithkit.measure.counting.tally import count
        >>> sample = Sample(None, Explanations.of(["a", "a", "a", "a"]))
        >>> found = JackknifeEstimate.of(count(SameExplanation(), sample, np.array([0, 0, 0, 1]), 2))
        >>> found.facts.estimate, round(found.facts.se, 3), found.value.round(2)
        (0.5, 0.5, array([ 1.,  1.,  1., -1.]))
        """
        if isinstance(counted, CellCount):
            return _WeightedJackknife(counted, n_classes).side()
        return _of_groups(counted, n_classes) if counted.relation.groups else _of_relation(counted, n_classes)


def unchecked(counted: Count, n_classes: int | None) -> float:
    """Return what a row may disagree by that is compared with nobody.

    The mean of two rows' disagreement is that of one from the mean: with k labels no more than 1 − 1/k, and
    of numbers a quarter of the squared range.
    """
    known, groups = counted.agreement, counted.relation.groups
    if known.is_divided:
        return known.most / (2.0 if groups else 1.0) if known.is_bounded else 1.0
    declared = n_classes is not None and n_classes >= counted.n_labels and isinstance(known, SameLabel)
    if not declared or not groups or counted.explanations.missing.any():
        return 1.0
    return 1.0 - 1.0 / (n_classes or 1)


def level_of(counted: Count, owners: Owners, n_classes: int | None) -> MeasureTotals:
    """Return what equal rows agree in, compared as some owners say."""
    known = counted.agreement
    free = unchecked(counted, n_classes)
    return MeasureTotals(*agreement(owners), float(owners.n), free, known.is_bounded)


@attrs.frozen(eq=False)
class GroupedJackknife:
    """Equal rows in groups: as explanations group them, and with those that are alone under another key."""

    level: MeasureTotals
    rows: GroupedRows
    merging: Merging | None
    merged_level: MeasureTotals
    merged_rows: GroupedRows
    place: Ints | None  # of each owner among the merged ones

    @classmethod
    def of(cls, counted: Count, n_classes: int | None) -> "GroupedJackknife":
        """Look at a sample, in memory or not."""
        owners, known = counted.owners, counted.agreement
        level, rows = level_of(counted, owners, n_classes), GroupedRows(owners, known)
        if not known.is_convex:
            return cls(level, rows, None, level, rows, None)
        alone = owners.totals == 1
        merging = Merging.of(counted.relation, counted.explanations, alone)
        if merging.how == NOTHING:
            return cls(level, rows, merging, level, rows, None)
        merged, place = merging.owners(owners, counted.explanations.missing, known)
        first_pair = merging.first if merging.how == PAIRS else None
        level_of_merged = level_of(counted, merged, n_classes)
        return cls(level, rows, merging, level_of_merged, GroupedRows(merged, known, first_pair), place)

    def moments(self, counted: Count) -> MeasureStatistics:
        """Summarise both."""
        spread, spread_lost = self.rows.spreads(self.level)
        se, skew = spread.standard_error, spread.skewness
        if self.place is not None:
            if self.merging is not None and self.merging.how == PAIRS:
                se, skew = self.merged_rows.paired_spread(self.merged_level)
            else:
                spread, _ = self.merged_rows.spreads(self.merged_level)
                se, skew = spread.standard_error, spread.skewness
        errors = se, spread_lost.standard_error
        units, how = SamplingUnits.equal(counted.owners.n), None if self.merging is None else self.merging.how
        return moments_of(counted, self.level, self.merged_level, errors, units, skew, how)


def moments_of(
    counted: Count,
    level: MeasureTotals,
    best: MeasureTotals,
    errors: Sequence[float | None],
    units: SamplingUnits,
    skew: float,
    merging: str | None = None,
) -> MeasureStatistics:
    """Put moments together: `level` is what rows agree in, and `best` the same with merged rows."""
    known = counted.agreement
    numbers: dict[str, Any] = {}
    if known.is_divided:
        numbers = {"span": known.most, "is_bounded": known.is_bounded, "skew": skew}
    return MeasureStatistics(
        n=counted.owners.n,
        value=level.agreeing,
        verified=level.compared,
        estimate=best.estimate,
        disagreement=level.disagreement,
        compared=best.compared,
        agreed=best.agreeing,
        related=level.compared,
        se=errors[0],
        se_disagreement=errors[1],
        units=units,
        merging=merging,
        **numbers,
    )


def _of_groups(counted: RowCount, n_classes: int | None) -> JackknifeEstimate:
    found = GroupedJackknife.of(counted, n_classes)

    def pseudo_values() -> tuple[Floats, Floats]:
        value = _per_row(counted, found.merged_rows, found.merged_level, found.place, 0)
        return value, _per_row(counted, found.rows, found.level, None, 1)

    return JackknifeEstimate(found.moments(counted), pseudo_values)


def _per_row(
    counted: RowCount, rows: GroupedRows, level: MeasureTotals, place: Ints | None, which: int
) -> Floats:
    """Return the pseudo-value of every row, in order: of the estimate (0), or of the disagreement (1)."""
    values = rows.every().pseudo_values(level, rows.owners.n)[which]
    return values[counted.place if place is None else place[counted.place]]


def _of_relation(counted: RowCount, n_classes: int | None) -> JackknifeEstimate:
    level, gone = level_of(counted, counted.owners, n_classes), related_rows(counted)
    n = counted.owners.n
    spreads = spreads_of(gone, level, n)
    pool = None if counted.pool is None else pool_spreads(counted, level)
    facts = related_moments(counted, level, spreads, lambda: fewest_trials(counted), pool)
    return JackknifeEstimate(facts, lambda: gone.pseudo_values(level, n))


def related_moments(
    counted: Count,
    level: MeasureTotals,
    spreads: tuple[CentralMoments, CentralMoments],
    few: Callable[[], float],
    pool: tuple[CentralMoments, CentralMoments] | None = None,
) -> MeasureStatistics:
    """Summarise equal rows that a relation compares; `few` is asked only where it decides something."""
    errors = [spread.standard_error for spread in spreads]
    n = counted.owners.n
    # the shares average to V, so there are at most n / (1 + V) trials; a pool's rows have a part in them
    most = n / (1.0 + level.compared)
    if pool is not None:
        errors = [_with_pool(se, spread) for se, spread in zip(errors, pool, strict=True)]
        most = float(n)
    facts = moments_of(counted, level, level, errors, SamplingUnits.equal(n, most), spreads[0].skewness)
    if not trials_decide(facts, most):
        return facts
    return attrs.evolve(facts, units=SamplingUnits.equal(n, few()))


def _with_pool(se: float | None, pool: CentralMoments) -> float | None:
    """Add the variance that comes from the choice of the pool's rows: they are a stratum of their own."""
    if se is None and pool.high - pool.low <= ROUNDING:
        return None
    return math.sqrt((se or 0.0) ** 2 + pool.n * pool.variance)


# -- rows with weights or clusters --


class _WeightedJackknife:
    """The sums over pairs of rows with weights or clusters, and all that they give."""

    def __init__(self, counted: CellCount, n_classes: int | None) -> None:
        self.counted, design = counted, counted.design
        n = counted.n_explained
        self.weight = sum_by(design.unit[:n], design.steps[:n], design.n_units)
        self.held = sum_by(design.unit, design.steps, design.n_units)
        self.whole = float(self.weight.sum()) * design.step
        smallest, largest = counted.extent
        self.are_equal = largest - smallest <= NEARLY * largest
        self.is_thinned = not self.are_equal and not design.uninformative
        self.free = unchecked(counted, n_classes)
        allowance = np.full(len(counted.explanations), float(largest)) if self.is_thinned else None
        parts = [self._sums(cells, allowance) for cells in counted.cells()]
        self.sums = sum(parts[1:], start=parts[0])
        self.left = self._left()

    def _sums(self, cells: Cells, allowance: Floats | None) -> PairSums:
        counted = self.counted
        return pair_sums(cells, counted.agreement, counted.design.n_units, counted.design.step, allowance)

    def _left(self) -> tuple[float, Floats] | None:
        """Return what a constant explanation leaves, and the part of it that is left without each unit."""
        if not self.counted.agreement.is_divided:
            return None
        cells = self.counted.every_row
        _, largest = cells.extent
        sums = self._sums(cells, None if self.counted.design.uninformative else np.array([float(largest)]))
        level = sums.disagreement / sums.compared
        rest = sums.compared - sums.lost_compared
        without = ratio(sums.disagreement - sums.lost_disagreement, np.where(rest > ROUNDING, rest, 0.0))
        part = without / level
        return level, np.where(part > ROUNDING, part, 0.0)

    def _level(self, sums: PairSums) -> MeasureTotals:
        known = self.counted.agreement
        compared, lost = sums.compared / self.whole, sums.disagreement / self.whole
        if self.left is not None:
            lost /= self.left[0]
        compared = 1.0 if abs(1.0 - compared) < ROUNDING else compared
        free = self.free if self.left is None or not known.is_bounded else self.free / self.left[0]
        return MeasureTotals(compared - lost, compared, self.whole, free, known.is_bounded)

    def _gone(self, sums: PairSums, some: np.ndarray) -> Deletions:
        """Return the deletions of some units."""
        lost = sums.lost_disagreement[some]
        left = None
        if self.left is not None:
            lost, left = lost / self.left[0], self.left[1][some]
        once, weight = np.ones(int(some.sum()), dtype=np.int64), self.weight[some] * self.counted.design.step
        return Deletions(sums.lost_compared[some], lost, once, left, weight)

    def side(self) -> JackknifeEstimate:
        """Put everything together."""
        counted, mine = self.counted, self.weight > 0
        value, verified = agreement(counted.owners)
        level, gone = self._level(self.sums), self._gone(self.sums, mine)
        count = int(mine.sum())
        merging, merged = self._merged()
        both = self.sums + merged
        best, best_gone = self._level(both), self._gone(both, mine)
        values = best_gone.pseudo_values(best, count)[0], gone.pseudo_values(level, count)[1]
        spreads = CentralMoments.of(values[0]), CentralMoments.of(values[1])
        errors = [spread.standard_error for spread in spreads]
        if merging is not None and merging.how == PAIRS and errors[0] is not None:
            errors[0] = self._paired_error(best, merged)
        in_pool = ~mine & (self.held > 0)
        if in_pool.any():
            changes = self._gone(self.sums, in_pool).changes(level)
            errors = [_with_pool(se, CentralMoments.of(one)) for se, one in zip(errors, changes, strict=True)]
        how = None if merging is None else merging.how
        facts = moments_of(counted, level, best, errors, self._units(), spreads[0].skewness, how)
        facts = attrs.evolve(facts, value=value, verified=verified)
        if self.left is not None:
            facts = attrs.evolve(facts, span=counted.agreement.most / self.left[0])
        return JackknifeEstimate(facts, lambda: values)

    def _units(self) -> SamplingUnits:
        weight = self.weight[self.weight > 0]
        effective = worth(weight)
        few = effective / 2
        if not self.counted.relation.groups:
            own = self.weight * self.counted.design.step
            few = self.whole / float((own + self.sums.influence).max())
        return SamplingUnits(len(weight), effective, float(weight.max()) / float(weight.sum()), few)

    def _merged(self) -> tuple[Merging | None, PairSums]:
        """Compare explanations that only one unit has, under another key."""
        counted = self.counted
        nothing = PairSums.nothing(counted.design.n_units)
        if not counted.relation.groups or not counted.agreement.is_convex:
            return None, nothing
        cells = next(counted.cells())
        cells = cells.take(cells.held > 0)
        alone = np.zeros(len(counted.explanations), dtype=bool)
        alone[: len(cells.n_units)] = cells.n_units == 1
        unit = np.zeros(len(alone), dtype=np.int64)
        unit[cells.explanation] = cells.unit
        merging = Merging.of(counted.relation, counted.explanations, alone, unit, self.are_equal)
        key = merging.key[cells.explanation] - merging.first
        self.keyed = keyed = cells.take(key >= 0).keyed(key[key >= 0])
        if not len(keyed):
            return merging, nothing
        if merging.how == PAIRS:
            return merging, self._sums(keyed, None)
        allowance = np.zeros(int(keyed.explanation.max()) + 1)
        np.maximum.at(allowance, keyed.explanation[keyed.first], keyed.weights[0])
        return merging, self._sums(keyed, allowance)

    def _paired_error(self, best: MeasureTotals, merged: PairSums) -> float | None:
        """Return the standard error of the estimate: pairs are units, linked where a unit is in several.

        A unit with all its pairs is one, too, so each pair is counted once for each of its two: one is taken
        back.
        """
        step, scale = self.counted.design.step, 1.0 if self.left is None else self.left[0]
        keyed = self.keyed
        pair, units = keyed.explanation[keyed.first], keyed.unit[keyed.first]
        assert merged.by_explanation is not None
        _, compared, lost = merged.by_explanation
        free = best.unchecked
        size = np.bincount(pair, weights=keyed.weights[1] * step)
        apart = free * compared - lost / scale + (1.0 - free) * size
        elsewhere = (self.weight - sum_by(units, keyed.weights[1], len(self.weight))) * step
        own = free * self.sums.lost_compared - self.sums.lost_disagreement / scale
        own = own + (1.0 - free) * elsewhere
        mean = float(own.sum() + apart.sum()) / self.whole
        own, apart = own - mean * elsewhere, apart - mean * size
        if self.left is not None:
            own = own + self.whole * best.disagreement * (1.0 - self.left[1])
        together = own + sum_by(units, apart[pair], len(own))
        linked = float((together**2).sum() - (apart**2).sum())
        independent = float((own**2).sum() + (apart**2).sum())
        outside = np.setdiff1d(np.flatnonzero(self.weight > 0), units)
        number = len(outside) + len(apart)
        if number < 2:
            return None
        return math.sqrt(number / (number - 1) * max(linked, independent)) / self.whole
