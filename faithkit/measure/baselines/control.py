"""Compare a measure with its control: explanations of the same form, chosen without the model.

A control is drawn at least ten times, and its estimate is the mean of the draws. To compare with it, each
row or cluster is deleted from the estimate and from all draws at once.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from faithkit.arrays import Floats, divide_safely
from faithkit.display import Displayable
from faithkit.errors import InputError
from faithkit.measure.baselines.ceiling import Ceiling
from faithkit.measure.difference import Difference
from faithkit.measure.jackknife.central_moments import CentralMoments
from faithkit.measure.jackknife.summary import JackknifeEstimate

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
        from scipy.special import stdtrit

        t = float(stdtrit(max(1.0, self.effective - 1.0), 0.5 + self.confidence / 2))
        return value - t * se, value + t * se

    def p_value(self, value: float, se: float) -> float:
        """Return the p-value of the hypothesis that the value is 0."""
        from scipy.special import stdtr

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
