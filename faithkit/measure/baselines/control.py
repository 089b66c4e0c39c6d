"""Compare a measure with its control and its ceiling.

A control are explanations of the same form, chosen without the model. It is drawn at least ten times, and its
estimate is the mean of the draws. To compare with it, each row or cluster is deleted from the estimate and
from all draws at once.

The ceiling of every explanation is how far the model agrees with itself on the same instance. A deterministic
model always does, so its ceiling is 1. Other models, such as language models, may answer differently when the
same instance is given again.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from scipy.special import stdtr

from faithkit.arrays import Floats, Ints, divide_safely, sum_by
from faithkit.display import Displayable
from faithkit.errors import InputError
from faithkit.measure.agreement.base import Agreement, agreeing_weights
from faithkit.measure.difference import Difference
from faithkit.measure.intervals import student_quantile
from faithkit.measure.jackknife.deletions import CentralMoments
from faithkit.measure.jackknife.summary import JackknifeEstimate


@attrs.frozen(eq=False)
class Ceiling:
    """The agreement of predictions of the same instance.

    Attributes
    ----------
    value : float
        1 where no instance was predicted twice: then the model is taken to be deterministic.
    rows : int
        The number of rows whose instance was predicted more than once.
    without : (u,) float
        The value without each unit.
    """

    value: float
    rows: int
    without: Floats


def measure_ceiling(
    instance: Ints, labels: Ints, agreement: Agreement, unit: Ints, weight: Floats
) -> Ceiling:
    """Return the mean agreement of a row with another prediction of its instance.

    Equal instances have one code in `instance`. The sampling `unit` of a row is the row itself, or its
    cluster.

    Examples
    --------
    The first instance was predicted three times, with two labels; the second once:

    >>> from faithkit.measure.agreement.same_label import SAME_LABEL
    >>> row = np.arange(4)
    >>> ceiling = measure_ceiling(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), SAME_LABEL, row, np.ones(4))
    >>> round(ceiling.value, 3), ceiling.rows
    (0.333, 3)
    """
    has_weight = weight > 0
    is_repeated = has_weight & (sum_by(instance, has_weight.astype(np.int64))[instance] > 1)
    n_units = int(unit.max(initial=-1)) + 1
    if not is_repeated.any():
        return Ceiling(1.0, 0, np.ones(n_units))
    rows = np.flatnonzero(is_repeated)
    instance, labels, unit, weight = instance[rows], labels[rows], unit[rows], weight[rows]
    cell = np.unique(instance * n_units + unit, return_inverse=True)[1]
    cell_instance, cell_unit = (np.zeros(int(cell.max()) + 1, dtype=np.int64) for _ in range(2))
    cell_instance[cell], cell_unit[cell] = instance, unit
    by_instance = _disagreeing(instance, labels, agreement, weight)
    within_cell = sum_by(cell, weight * _disagreeing(cell, labels, agreement, weight))
    pairs = sum_by(instance, weight * by_instance)
    pairs_without = pairs[cell_instance] - 2 * sum_by(cell, weight * by_instance) + within_cell
    total, squares = sum_by(instance, weight), sum_by(instance, weight**2)
    total_without = total[cell_instance] - sum_by(cell, weight)
    squares_without = squares[cell_instance] - sum_by(cell, weight**2)
    disagreeing, pair_weight = _instance_means(pairs, total, squares)
    disagreeing_without, compared_without = _instance_means(pairs_without, total_without, squares_without)
    lost_disagreeing = sum_by(cell_unit, disagreeing[cell_instance] - disagreeing_without, n_units)
    lost_compared = sum_by(cell_unit, pair_weight[cell_instance] - compared_without, n_units)
    value = 1.0 - divide_safely(disagreeing.sum(), pair_weight.sum())
    without = 1.0 - divide_safely(disagreeing.sum() - lost_disagreeing, pair_weight.sum() - lost_compared)
    return Ceiling(float(value), len(rows), without)


def _disagreeing(group: Ints, labels: Ints, agreement: Agreement, weight: Floats) -> Floats:
    """Return, for each row, the weight of rows in its group that disagree with it."""
    agreeing = agreeing_weights(agreement, group, labels, weight)
    return np.asarray(np.maximum(0.0, sum_by(group, weight)[group] - agreeing))


def _instance_means(pairs: Floats, total: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return the disagreeing and the compared weight of instances; those of one row compare nothing."""
    other_pairs = total**2 - squares
    has_several = other_pairs > 1e-9 * total**2
    share = divide_safely(pairs, np.where(has_several, other_pairs, 0.0))
    return np.where(has_several, total * share, 0.0), np.where(has_several, total, 0.0)


ABOVE, NOT_ABOVE, BELOW = "above its control", "not above its control", "below its control"
MIN_UNITS = 40  # of fewer rows or clusters the interval is wrong too often
MIN_DRAWS = 10
ROUNDING = 1e-9


@attrs.frozen
class Worth:
    """The share of the gap between control and ceiling that explanations close, with its interval."""

    value: float
    low: float
    high: float


@attrs.frozen(repr=False, kw_only=True)
class Control(Displayable):
    """The score of random explanations of the same form, chosen without the model.

    Attributes
    ----------
    estimate : float
        The mean estimate of the draws.
    verified : float
        The mean share of rows whose control could be checked.
    draws : int
    difference : Difference
        The estimate of the measure minus that of the control. Rows that could not be checked count as
        disagreeing in both.
    finding : str
        "above its control", "not above its control" or "below its control".
    ceiling : float
        How far the model agrees with itself on the same instance; 1 for a deterministic model.
    ceiling_rows : int
        The number of rows whose instance was predicted more than once. If it is 0, the model is taken to be
        deterministic.
    worth : Worth or None
        (estimate − control) / (ceiling − control); None where the ceiling is not above the control.

    Examples
    --------
    >>> import faithkit, numpy as np
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 4)).astype(float)
    >>> rules = [faithkit.Rule([faithkit.OneOf(0, [x])]) for x in X[:, 0]]
    >>> explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    >>> control = faithkit.score(X[:, 0] > 0, explanations, X).control
    >>> control.finding, round(control.worth.value, 3)
    ('above its control', 1.0)
    """

    estimate: float
    verified: float
    draws: int
    difference: Difference
    finding: str
    ceiling: float
    ceiling_rows: int
    worth: Worth | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "Control":
        """Rebuild from the output of `to_dict`."""
        worth = payload["worth"]
        parts = {
            "difference": Difference(**payload["difference"]),
            "worth": None if worth is None else Worth(**worth),
        }
        return cls(**{**payload, **parts})


def compare_with_control(
    measure: JackknifeEstimate, draws: Sequence[JackknifeEstimate], ceiling: Ceiling, confidence: float
) -> Control:
    """Compare a measure with the draws of its control, and with its ceiling.

    Raises
    ------
    InputError
        If there are fewer than 40 rows or clusters.
    """
    statistics = measure.statistics
    n_units = statistics.units.count
    if n_units < MIN_UNITS:
        raise InputError(
            f"a control is compared on {MIN_UNITS} independent rows or more, and there are {n_units}"
        )
    control = float(np.mean([draw.statistics.estimate for draw in draws]))
    values = np.array([statistics.estimate, control, ceiling.value])
    without = (
        _without_units(statistics.estimate, measure.value),
        np.mean([_without_units(draw.statistics.estimate, draw.value) for draw in draws], axis=0),
        ceiling.without,
    )
    changes = measure.pool_changes
    control_changes = np.mean([draw.pool_changes for draw in draws], axis=0)
    contrast = _Contrast(
        values=values,
        without=np.column_stack(without),
        without_pool=values - np.column_stack([changes, control_changes, np.zeros(len(changes))]),
        effective=statistics.units.effective,
        confidence=confidence,
    )
    value, se = contrast.jackknife(lambda x, control, _: x - control)
    low, high = contrast.interval(value, se)
    difference = Difference(value, low, high, confidence, contrast.p_value(value, se))
    return Control(
        estimate=control,
        verified=float(np.mean([draw.statistics.verified for draw in draws])),
        draws=len(draws),
        difference=difference,
        finding=ABOVE if low > ROUNDING else BELOW if high < -ROUNDING else NOT_ABOVE,
        ceiling=ceiling.value,
        ceiling_rows=ceiling.rows,
        worth=contrast.worth(),
    )


def _without_units(estimate: float, pseudo_values: Floats) -> Floats:
    """Return the estimate without each unit, from its pseudo-values."""
    return estimate - (pseudo_values - estimate) / (len(pseudo_values) - 1)


@attrs.frozen(eq=False)
class _Contrast:
    """Estimate, control and ceiling, and all three without each unit, for the jackknife of their functions.

    Units of the pool are a stratum of their own.
    """

    values: Floats
    without: Floats
    without_pool: Floats
    effective: float
    confidence: float

    def jackknife(self, function: Any) -> tuple[float, float]:
        """Return a function of the three, and its standard error."""
        n = len(self.without)
        moments = CentralMoments.of(np.asarray(function(*self.without.T)))
        pool = CentralMoments.of(np.asarray(function(*self.without_pool.T)))
        variance = (n - 1) * moments.variance + pool.n * pool.variance
        return float(function(*self.values)), math.sqrt(variance)

    def interval(self, value: float, se: float) -> tuple[float, float]:
        """Return value ± t·se."""
        t = student_quantile(self.effective, self.confidence)
        return value - t * se, value + t * se

    def p_value(self, value: float, se: float) -> float:
        """Return the p-value of the hypothesis that the value is 0."""
        if abs(value) <= ROUNDING:
            return 1.0
        return 2 * float(stdtr(max(1.0, self.effective - 1.0), -abs(value) / se)) if se > 0 else 0.0

    def worth(self) -> Worth | None:
        """Return the share of the gap that is closed; None unless the ceiling is above the control."""
        gap, se = self.jackknife(lambda _, control, ceiling: ceiling - control)
        if self.interval(gap, se)[0] <= ROUNDING:
            return None
        value, se = self.jackknife(lambda x, control, ceiling: _share(x - control, ceiling - control))
        return Worth(value, *self.interval(value, se))


def _share(part: Floats, gap: Floats) -> Floats:
    return divide_safely(np.asarray(part), np.asarray(gap))
