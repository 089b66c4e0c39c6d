"""The interval of a measure, and all that it is made of; the theory page derives each formula."""

import math
from collections.abc import Mapping
from typing import Any

import attrs

from faithkit.arrays import AT_ONCE
from faithkit.arrays.blocks import spans
from faithkit.measure.counting.owners import Owners
from faithkit.measure.estimators import mean_score
from faithkit.measure.limits import (
    EstimatedShare,
    SamplingUnits,
    lower_limit,
    normal_quantile,
    student_factor,
)

ROUNDING = 1e-14  # what is left of 0
FEWEST = 3  # units that an interval needs


@attrs.frozen(kw_only=True)
class MeasureStatistics:
    """All that an interval needs.

    Attributes
    ----------
    n : int
        Rows.
    value, verified : float
        Leave-one-out's mean, and the share of rows that have others.
    estimate : float
        x: in the mean at most the measure.
    disagreement : float
        Of the rows that have others, by which 1 falls: in the mean, 1 less it is at least the measure.
    compared, agreed : float
        The share of rows that were compared with others, merged ones included; and how far they agreed.
    related : float
        The same share, merged ones left out: of rows without weights and clusters, `verified`.
    se, se_disagreement : float or None
        Standard errors of `estimate` and `disagreement`; None where the sample shows no variation.
    units : SamplingUnits
    merging : str or None
        How rows that are alone were compared; None where the relation does not group.
    span : float or None
        Of numbers: the largest disagreement of two, in units of what a constant explanation leaves.
    is_bounded : bool
        Whether no two predictions can disagree by more: else the interval is approximate.
    skew : float
        Of numbers: the skewness of what the estimate is the mean of.

    Examples
    --------
    >>> facts = MeasureStatistics.of_rows(200, value=0.8, se=0.03)
    >>> [round(end, 2) for end in interval(facts)]
    [0.73, 0.86]
    """

    n: int
    value: float
    verified: float
    estimate: float
    disagreement: float
    compared: float
    agreed: float
    related: float
    se: float | None
    se_disagreement: float | None
    units: SamplingUnits
    merging: str | None = None
    span: float | None = None
    is_bounded: bool = True
    skew: float = 0.0

    @classmethod
    def of_rows(
        cls, n: int, value: float, se: float | None, verified: float = 1.0, **more: Any
    ) -> "MeasureStatistics":
        """Describe n rows that count the same, of which nothing was merged."""
        known: dict[str, Any] = {
            "estimate": value,
            "disagreement": verified - value,
            "compared": verified,
            "agreed": value,
            "related": verified,
            "se_disagreement": se,
            "units": SamplingUnits.equal(n),
        }
        return cls(n=n, value=value, verified=verified, se=se, **(known | more))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, without what an estimate tells itself."""
        told = attrs.asdict(self)
        return {name: told[name] for name in told if name not in ("n", "verified")}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any], n: int, verified: float) -> "MeasureStatistics":
        """Make moments of what `to_dict` told, and of what stands beside it."""
        return cls(n=n, verified=verified, **{**told, "units": SamplingUnits(**told["units"])})

    @property
    def estimate_share(self) -> EstimatedShare:
        """The estimate, as a share of what two predictions can disagree by."""
        span, units = self.span or 1.0, self.units
        x = 1.0 - (1.0 - self.estimate) / span
        se = None if self.se is None else self.se / span
        return EstimatedShare(x, se, max(0.0, x) * units.largest if self.is_bounded else 0.0)

    @property
    def disagreement_share(self) -> EstimatedShare:
        """The disagreement, as such a share."""
        span, units = self.span or 1.0, self.units
        lost = self.disagreement / span
        se = None if self.se_disagreement is None else self.se_disagreement / span
        extra = lost * (units.largest - 1.0 / units.count) if self.is_bounded else 0.0
        return EstimatedShare(lost, se, extra)


def interval(facts: MeasureStatistics, confidence: float = 0.95) -> tuple[float, float]:
    """Return the confidence interval of a measure; no end knows of a floor.

    Examples
    --------
    Everything agrees, in three rows and in a thousand:

    >>> [round(end, 3) for end in interval(MeasureStatistics.of_rows(3, 1.0, None))]
    [0.085, 1.0]
    >>> [round(end, 3) for end in interval(MeasureStatistics.of_rows(1000, 1.0, None))]
    [0.993, 1.0]
    """
    units, span, lost = facts.units, facts.span, facts.disagreement
    if units.count < FEWEST or facts.compared <= 0:
        return 0.0, 1.0
    z, factor = normal_quantile(confidence), student_factor(units.effective, confidence)
    leaning = 1.0 if facts.is_bounded else _johnson(facts, z)
    low = lower_limit(facts.estimate_share, units.trials, confidence, factor * leaning**2)
    least = lower_limit(facts.disagreement_share, units.trials, confidence, factor)
    variation = lost * (1 - lost) if span is None else lost
    high = 1.0 - (span or 1.0) * least + 2 * (z * z + 1) * variation / units.effective
    if span is not None:
        low = 1.0 - span * (1.0 - low)
        low = 0.0 if abs(low) < ROUNDING else low
    return low, min(1.0, high)


def checked_limit(facts: MeasureStatistics, confidence: float) -> float:
    """Return a lower limit of how far rows agree that have others, those without counting as none.

    Examples
    --------
    >>> half = MeasureStatistics.of_rows(200, 0.475, 0.03, verified=0.5, se_disagreement=0.01)
    >>> round(checked_limit(half, 0.95), 3)
    0.446
    """
    units, span = facts.units, facts.span or 1.0
    if units.count < FEWEST or facts.verified <= 0:
        return 0.0
    lost = facts.disagreement_share
    agreeing = EstimatedShare(1.0 - lost.value, lost.se, lost.extra)
    low = lower_limit(agreeing, units.trials, confidence, student_factor(units.effective, confidence))
    return facts.related - span * (1.0 - low)


def _johnson(facts: MeasureStatistics, z: float) -> float:
    """Return by how much a standard error grows where what it is of leans to the left."""
    lean = max(0.0, -facts.skew) / math.sqrt(facts.units.effective)
    return 1.0 + lean * (2 * z * z + 1) / (6 * max(1.0, z))


def trials_decide(facts: MeasureStatistics, trials: float) -> bool:
    """Whether an interval may depend on the fewest trials, if these are no more than so many."""
    shares = facts.estimate_share, facts.disagreement_share
    return any(not share.varies or share.worth(1.5) < trials or not 0 < share.value < 1 for share in shares)


def agreement(owners: Owners) -> tuple[float, float]:
    """Return M, the mean agreement with others, and V, the share of instances that have others.

    Examples
    --------
    >>> import numpy as np
    >>> from faithkit.measure.counting.tally import Tally
    >>> agreement(Tally(np.array([[2, 1], [0, 1]]), np.array([[[0, 0], [0, 0]], [[2, 1], [0, 1]]])).entries)
    (0.25, 0.75)
    """
    verified = owners.checked[1] / owners.whole
    if not any(_disagree(owners, *span) for span in spans(len(owners), AT_ONCE)):
        return verified, verified  # no disagreement at all must give exactly 0
    value = mean_score(owners.scores, owners.weight) or 0.0
    return 0.0 if abs(value) < ROUNDING else value, verified


def _disagree(owners: Owners, start: int, stop: int) -> bool:
    """Whether some owners have others that disagree; most often the first ones do."""
    part, scores = owners.part(start, stop), owners.scores[start:stop]
    return bool(((scores < 1.0) & (part.others > 0) & (part.weight > 0)).any())
