"""The jackknife: a measure without each unit, and the statistics that an interval needs.

A measure is a sum over pairs of cells, and `Count.pair_sums` says what it loses without each unit.
Explanations that only one unit has are compared with each other (`lone_rows`), and their sums are added.
"""

import math
from functools import cached_property
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.design import effective_number
from faithkit.measure.counting.pair_ratio import Sums
from faithkit.measure.intervals import MeasureStatistics, SamplingUnits, depends_on_min_trials
from faithkit.measure.jackknife.lone_rows import LoneRows, paired_error
from faithkit.measure.jackknife.merging import PAIRS

NO_VARIATION = 1e-10
ROUNDING = 1e-12
NOTHING = 1e-14  # a smaller difference is rounding


@attrs.frozen
class Moments:
    """The number and the range of some values, and the sums of their squared and cubed deviations.

    Examples
    --------
    >>> moments = Moments.of(np.array([0.0, 1.0]), np.array([2, 2]))
    >>> moments.n, round(moments.standard_error, 4)
    (4, 0.2887)
    >>> Moments.of(np.array([1.0]), np.array([4])).standard_error is None
    True
    """

    n: int
    squares: float
    cubes: float
    width: float

    @classmethod
    def of(cls, values: Floats, times: Ints | None = None) -> "Moments":
        """Return the moments of values, each of which occurs `times` times (by default once)."""
        n = len(values) if times is None else int(times.sum())
        if not n:
            return cls(0, 0.0, 0.0, 0.0)
        deviations = values - float((values if times is None else values * times).sum()) / n
        squares = deviations * deviations if times is None else deviations * deviations * times
        return cls(n, float(squares.sum()), float((squares * deviations).sum()), float(np.ptp(values)))

    @property
    def variance(self) -> float:
        """The mean squared deviation."""
        return self.squares / self.n if self.n else 0.0

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean; None where the values do not vary."""
        if self.n < 2 or self.width <= NO_VARIATION:
            return None
        return math.sqrt(self.variance / (self.n - 1))

    @property
    def skewness(self) -> float:
        """The mean cubed deviation, in standard deviations; 0 where the values do not vary."""
        if self.standard_error is None or self.variance <= 0:
            return 0.0
        return float(self.cubes / self.n / self.variance**1.5)


@attrs.frozen
class Level:
    """The estimate and the disagreement of a sample, from sums over pairs.

    Attributes
    ----------
    compared, disagreement : float
        The share of the weight of all rows that is compared, and how far it disagrees.
    max_disagreement : float
        d_max: the largest disagreement that a row without comparison may have.
    """

    compared: float
    disagreement: float
    max_disagreement: float

    @property
    def agreeing(self) -> float:
        """The agreement of compared rows; the others count as 0."""
        agreeing = self.compared - self.disagreement
        return 0.0 if abs(agreeing) < NOTHING else agreeing

    @property
    def estimate(self) -> float:
        """The point estimate, for which rows without comparison disagree as much as possible."""
        return self.agreeing + (1.0 - self.max_disagreement) * (1.0 - self.compared)


class JackknifeEstimate:
    """The statistics of one measure, and its pseudo-values.

    With a `label`, only rows of this label own explanations. They are compared with all rows.

    Examples
    --------
    >>> from faithkit.explanations.explanations import Explanations, Sample
    >>> from faithkit.explanations.relations import SameExplanation
    >>> from faithkit.measure.counting.count import count
    >>> sample = Sample(None, Explanations.of(["a", "a", "a", "a"]))
    >>> jackknife = JackknifeEstimate.of(count(SameExplanation(), sample, np.array([0, 0, 0, 1]), 2))
    >>> jackknife.statistics.estimate, round(jackknife.statistics.se, 3), jackknife.value.round(2)
    (0.5, 0.5, array([ 1.,  1.,  1., -1.]))
    """

    def __init__(self, count: Count, n_classes: int | None, label: int | None) -> None:
        self.count, self.label = count, label
        self.units = units = count.units(label)
        self.total_weight = float((units.owned * units.all_times).sum())
        self.d_max = 1.0 if label is not None else count.max_disagreement(n_classes)
        self.divisor_left = count.divisor_left()
        self.sums = count.pair_sums(label)
        self.lone = LoneRows.of(count, len(units.owned), label)
        self.all_sums = self.sums + self.lone.sums

    @classmethod
    def of(cls, count: Count, n_classes: int | None = None, label: int | None = None) -> "JackknifeEstimate":
        """Jackknife the counts of a sample; the model declares `n_classes` labels."""
        return cls(count, n_classes, label)

    def _level(self, compared: float, disagreement: float) -> Level:
        share = compared / self.total_weight
        share = 1.0 if abs(1.0 - share) < ROUNDING else share
        return Level(share, max(0.0, disagreement / self.total_weight), self.d_max)

    # -- each unit left out --

    @property
    def value(self) -> Floats:
        """Pseudo-values of the estimate: of every row, or of every cluster or block."""
        return self._of_rows(self._pseudo_values[0])

    @property
    def disagreement(self) -> Floats:
        """Pseudo-values of the disagreement."""
        return self._of_rows(self._pseudo_values[1])

    def _of_rows(self, values: Floats) -> Floats:
        return values[self.count.owner_index] if self.count.has_classes else values

    @cached_property
    def _pseudo_values(self) -> tuple[Floats, Floats]:
        """C·x − (C − 1)·x₍₋u₎ of each explained unit: of the estimate, and of the disagreement."""
        is_explained = self.units.is_explained
        if self.count.design.is_equal and self.label is None and self.divisor_left is None:
            sums, low = self.all_sums, 1.0 - self.d_max  # the measure is a mean over rows
            compared, lost = sums.lost_compared[is_explained], sums.lost_disagreement[is_explained]
            return compared - lost + low * (1.0 - compared), self.sums.lost_disagreement[is_explained]
        levels = (self._level(sums.compared, sums.disagreement) for sums in (self.all_sums, self.sums))
        estimate, disagreement = next(levels).estimate, next(levels).disagreement
        change, _ = self._changes(self.all_sums, is_explained)
        _, change_of_disagreement = self._changes(self.sums, is_explained)
        scale = int(self.units.all_times[is_explained].sum()) - 1
        return estimate + scale * change, disagreement + scale * change_of_disagreement

    def _changes(self, sums: Sums, selected: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return how much the estimate and the disagreement decrease without each of the selected units."""
        level = self._level(sums.compared, sums.disagreement)
        weight = self.total_weight - self.units.owned[selected]
        compared = divide_safely(self.total_weight * level.compared - sums.lost_compared[selected], weight)
        disagreement = divide_safely(
            self.total_weight * level.disagreement - sums.lost_disagreement[selected], weight
        )
        max_disagreement: Any = self.d_max
        if self.divisor_left is None:
            estimate = 1.0 - disagreement - max_disagreement * (1.0 - compared)
            return level.estimate - estimate, level.disagreement - disagreement
        divisor = self.divisor_left[selected]
        varies = divisor > 0  # without this unit, predictions may all be the same number
        disagreement = np.where(varies, divide_safely(disagreement, divisor), 1.0)
        if self.count.agreement.is_bounded:
            max_disagreement = divide_safely(np.full(len(divisor), self.d_max), divisor)
        estimate = np.where(varies, 1.0 - disagreement - max_disagreement * (1.0 - compared), 0.0)
        return level.estimate - estimate, level.disagreement - disagreement

    # -- statistics --

    @cached_property
    def statistics(self) -> MeasureStatistics:
        """What an interval needs."""
        count, sums, both = self.count, self.sums, self.all_sums
        times = None if self.units.times is None else self.units.times[self.units.is_explained]
        moments = [Moments.of(values, times) for values in self._pseudo_values]
        errors = [values.standard_error for values in moments]
        if self.units.is_pool.any():
            changes = self._changes(sums, self.units.is_pool)
            errors = [_add_pool_variance(se, Moments.of(x)) for se, x in zip(errors, changes, strict=True)]
        if self.lone.method == PAIRS and errors[0] is not None:
            errors[0] = self._paired_error()
        owners = count.owners if self.label is None else count.owners.of_label(self.label)
        value, verified = owners.mean_agreement
        level, merged = (self._level(x.compared, x.disagreement) for x in (sums, both))
        agreement = count.agreement
        statistics = MeasureStatistics(
            n=owners.n,
            value=value,
            verified=verified,
            estimate=self._level(both.all_compared, both.all_disagreement).estimate,
            low_estimate=merged.estimate,
            disagreement=level.disagreement,
            compared=merged.compared,
            agreed=merged.agreeing,
            related=level.compared,
            se=errors[0],
            se_disagreement=errors[1],
            units=self._units,
            merging=self.lone.method,
            span=agreement.max_disagreement if agreement.is_normalised else None,
            is_bounded=agreement.is_bounded,
            skew=moments[0].skewness if agreement.is_normalised else 0.0,
        )
        if count.relation.groups or count.is_in_blocks:
            return statistics
        return self._with_trials(statistics)

    @property
    def _units(self) -> SamplingUnits:
        owns = self.units.owned > 0
        owned, times = self.units.owned[owns], self.units.all_times[owns]
        n, largest = int(times.sum()), float(owned.max()) / self.total_weight
        effective = self.total_weight**2 / float((times * owned**2).sum())
        if self.count.is_in_blocks:
            draws = effective_number(self._compared_weights())
            return SamplingUnits(n, effective, largest, effective, draws, are_blocks=True)
        return SamplingUnits(n, effective, largest, effective / 2, effective)

    def _compared_weights(self) -> Ints:
        """Return the weights of the clusters, or rows, that are compared with each other within blocks."""
        design, n = self.count.design, self.count.n_explained
        assert design.block is not None
        steps = design.steps[:n]
        if self.label is not None:
            steps = np.where(self.count.labels[:n] == self.label, steps, 0)
        cell = np.unique(design.block[:n] * design.n_units + design.unit[:n], return_inverse=True)[1]
        weights = sum_by(cell, steps)
        return weights[weights > 0]

    def _with_trials(self, statistics: MeasureStatistics) -> MeasureStatistics:
        """Return the statistics of a relation: the more influence one unit has, the fewer trials there are.

        If the influence is not known yet, it takes another pass over the matrix. An interval seldom depends
        on it.
        """
        units, n_units = statistics.units, float(len(self.units.owned))
        # without a pool, the shares of units in the values of others average to V
        max_trials = n_units if self.units.is_pool.any() else n_units / (1.0 + statistics.related)
        if self.label is None and not depends_on_min_trials(statistics, max_trials):
            return attrs.evolve(statistics, units=attrs.evolve(units, trials=max_trials))
        influence = self.sums.influence
        if not influence.any():
            influence = self.count.pair_sums(self.label, has_influence=True).influence
        trials = self.total_weight / float((self.units.owned + influence).max())
        if self.label is not None:
            trials = min(units.trials, trials)
        return attrs.evolve(statistics, units=attrs.evolve(units, trials=trials))

    def _paired_error(self) -> float | None:
        """Return the standard error of the estimate, where matched pairs may share units."""
        sums, level = self.sums, self._level(self.all_sums.compared, self.all_sums.disagreement)
        by_unit = self.d_max * sums.lost_compared - sums.lost_disagreement
        if self.divisor_left is not None:
            by_unit = by_unit + self.total_weight * level.disagreement * (1.0 - self.divisor_left)
        return paired_error(self.lone, self.units, by_unit, self.total_weight, self.d_max)


def _add_pool_variance(se: float | None, changes: Moments) -> float | None:
    """Add the variance from the selection of the pool's units, which are a stratum of their own."""
    if se is None and changes.width <= ROUNDING:
        return None
    return math.sqrt((se or 0.0) ** 2 + changes.squares)
