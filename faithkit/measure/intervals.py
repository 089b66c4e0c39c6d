"""The confidence interval of a measure: one rule for rows, clusters, weights, pools, labels and numbers.

A measure is a mean of shares. Its limits are those of Clopper and Pearson, with the number of trials that
would have the jackknife's standard error. The theory page derives the rule and shows how often it misses.
"""

import math
from collections.abc import Mapping
from typing import Any

import attrs
from scipy.special import betaincinv, ndtri, stdtrit

ROUNDING = 1e-14  # a smaller value is 0 but for rounding
MIN_UNITS = 3  # an interval from fewer units is (0, 1)
HIGHEST_CONFIDENCE = 0.999999  # of an interval that anybody asks for
NO_VARIATION = 1e-12  # a standard error below this is rounding
NEARLY = 1e-9  # numbers of trials that differ by less are equal


@attrs.frozen
class SamplingUnits:
    """The independent evidence in a sample.

    Attributes
    ----------
    count : int
        C: the number of units that own explanations. A unit is a row, a cluster or a block of rows.
    effective : float
        A² / Σ A_u²: the effective number of units, if all had the same weight.
    largest : float
        μ = max A_u / A: the share of the largest unit.
    trials : float
        The minimum number of independent trials that an interval assumes.
    compared : float
        The effective number of rows or clusters that are compared with each other: `effective`, or more in
        blocks.
    are_blocks : bool
        Whether units are blocks, and rows are compared only within a unit.

    Examples
    --------
    >>> SamplingUnits.equal(200)
    SamplingUnits(count=200, effective=200.0, largest=0.005, trials=100.0, compared=200.0, are_blocks=False)
    """

    count: int
    effective: float
    largest: float
    trials: float
    compared: float
    are_blocks: bool = False

    @classmethod
    def equal(cls, n: int, trials: float | None = None) -> "SamplingUnits":
        """Return n units of equal weight. By default `trials` is n/2, which holds for rows in groups."""
        return cls(n, float(n), 1.0 / n, n / 2 if trials is None else trials, float(n))


@attrs.frozen
class EstimatedShare:
    """A share from 0 to 1 with its standard error; None or 0 where the sample shows no variation.

    `unseen_sd` is the standard deviation that the jackknife cannot see. Its square is added to the variance.
    """

    value: float
    se: float | None
    unseen_sd: float = 0.0

    @property
    def has_variation(self) -> bool:
        """Whether the standard error is more than rounding."""
        return self.se is not None and self.se > NO_VARIATION

    def variance(self, factor: float) -> float:
        """Return the variance; the jackknife's part is multiplied by `factor`."""
        return factor * (self.se or 0.0) ** 2 + self.unseen_sd**2 if self.has_variation else 0.0

    def effective_trials(self, factor: float = 1.0) -> float:
        """Return the number of independent trials that would have this variance."""
        variance = self.variance(factor)
        return self.value * (1.0 - self.value) / variance if variance > 0 else math.inf


@attrs.frozen(kw_only=True)
class MeasureStatistics:
    """The statistics of a measure from which its interval is computed.

    Attributes
    ----------
    n : int
        The number of rows.
    value, verified : float
        M, the mean of leave-one-out, and V, the share of rows that have others.
    estimate : float
        The point estimate.
    low_estimate : float
        x: the same if everything that does not count as checked disagreed. Its expectation is at most the
        measure. For rows without weights and clusters, it is the estimate.
    disagreement : float
        R_v: the mean disagreement of rows that have others. The expectation of 1 − R_v is at least the
        measure.
    compared, agreed : float
        The share of rows that counts as compared with others, including merged rows, and how far they agreed.
    related : float
        The same share without merged rows. For rows without weights and clusters, it equals `verified`.
    se, se_disagreement : float or None
        Standard errors of `low_estimate` and `disagreement`; None where the sample shows no variation.
    units : SamplingUnits
    merging : str or None
        How rows with a unique explanation were compared; None where the relation does not group.
    span : float or None
        For numbers: the largest disagreement of two predictions, in units of a constant explanation's.
    is_bounded : bool
        Whether no two predictions can disagree by more than `span`. If not, the interval is approximate.
    skew : float
        For numbers: the skewness of the pseudo-values of the estimate.

    Examples
    --------
    >>> statistics = MeasureStatistics.of_rows(200, value=0.8, se=0.03)
    >>> [round(end, 2) for end in compute_interval(statistics)]
    [0.73, 0.86]
    """

    n: int
    value: float
    verified: float
    estimate: float
    low_estimate: float
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
        cls, n: int, value: float, se: float | None, verified: float = 1.0, **fields: Any
    ) -> "MeasureStatistics":
        """Return the statistics of n rows of equal weight, none of which were merged."""
        defaults: dict[str, Any] = {
            "estimate": value,
            "low_estimate": fields.get("estimate", value),
            "disagreement": verified - value,
            "compared": verified,
            "agreed": value,
            "related": verified,
            "se_disagreement": se,
            "units": SamplingUnits.equal(n),
        }
        return cls(n=n, value=value, verified=verified, se=se, **(defaults | fields))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, without `n` and `verified`, which stand elsewhere in a result."""
        return {name: value for name, value in attrs.asdict(self).items() if name not in ("n", "verified")}

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any], n: int, verified: float) -> "MeasureStatistics":
        """Rebuild from the output of `to_dict` and the two fields that it leaves out."""
        return cls(n=n, verified=verified, **{**payload, "units": SamplingUnits(**payload["units"])})

    @property
    def estimate_share(self) -> EstimatedShare:
        """The low estimate, rescaled so that the largest disagreement of two predictions is 1."""
        span, units = self.span or 1.0, self.units
        x = 1.0 - (1.0 - self.low_estimate) / span
        se = None if self.se is None else self.se / span
        return EstimatedShare(x, se, max(0.0, x) * units.largest if self.is_bounded else 0.0)

    @property
    def disagreement_share(self) -> EstimatedShare:
        """The disagreement, rescaled in the same way."""
        span, units = self.span or 1.0, self.units
        disagreement = self.disagreement / span
        se = None if self.se_disagreement is None else self.se_disagreement / span
        # a block may agree wholly although no block of the sample does, as large as its largest block
        unseen_share = units.largest if units.are_blocks else units.largest - 1.0 / units.count
        unseen_sd = disagreement * unseen_share if self.is_bounded else 0.0
        return EstimatedShare(disagreement, se, unseen_sd)


def compute_interval(statistics: MeasureStatistics, confidence: float = 0.95) -> tuple[float, float]:
    """Return the confidence interval of a measure, without regard to its floor.

    Examples
    --------
    Everything agrees, in three rows and in a thousand:

    >>> [round(end, 3) for end in compute_interval(MeasureStatistics.of_rows(3, 1.0, None))]
    [0.085, 1.0]
    >>> [round(end, 3) for end in compute_interval(MeasureStatistics.of_rows(1000, 1.0, None))]
    [0.993, 1.0]
    """
    units, span, disagreement = statistics.units, statistics.span, statistics.disagreement
    if units.count < MIN_UNITS or statistics.compared <= 0:
        return 0.0, 1.0
    z, factor = normal_quantile(confidence), student_factor(units.effective, confidence)
    skewness_factor = 1.0 if statistics.is_bounded else _skewness_factor(statistics, z)
    low = lower_limit(statistics.estimate_share, units.trials, confidence, factor * skewness_factor**2)
    min_disagreement = lower_limit(statistics.disagreement_share, units.trials, confidence, factor)
    variation = disagreement * (1 - disagreement) if span is None else disagreement
    high = 1.0 - (span or 1.0) * min_disagreement + 2 * (z * z + 1) * variation / units.compared
    if span is not None:
        low = 1.0 - span * (1.0 - low)
        low = 0.0 if abs(low) < ROUNDING else low
    return low, min(1.0, high)


def checked_agreement_limit(statistics: MeasureStatistics, confidence: float) -> float:
    """Return a lower limit of the agreement of rows that have others; rows without others count as 0.

    Examples
    --------
    >>> half = MeasureStatistics.of_rows(200, 0.475, 0.03, verified=0.5, se_disagreement=0.01)
    >>> round(checked_agreement_limit(half, 0.95), 3)
    0.446
    """
    units, span = statistics.units, statistics.span or 1.0
    if units.count < MIN_UNITS or statistics.verified <= 0:
        return 0.0
    disagreement = statistics.disagreement_share
    agreement = EstimatedShare(1.0 - disagreement.value, disagreement.se, disagreement.unseen_sd)
    low = lower_limit(agreement, units.trials, confidence, student_factor(units.effective, confidence))
    return statistics.related - span * (1.0 - low)


def _skewness_factor(statistics: MeasureStatistics, z: float) -> float:
    """Return Johnson's factor for the standard error of a distribution that is skewed to the left."""
    skewness = max(0.0, -statistics.skew) / math.sqrt(statistics.units.effective)
    return 1.0 + skewness * (2 * z * z + 1) / (6 * max(1.0, z))


def depends_on_min_trials(statistics: MeasureStatistics, max_trials: float) -> bool:
    """Whether the interval may depend on the minimum number of trials, which is at most `max_trials`."""
    factor = student_factor(statistics.units.effective, HIGHEST_CONFIDENCE)
    return any(
        not share.has_variation or share.effective_trials(factor) < max_trials or not 0 < share.value < 1
        for share in (statistics.estimate_share, statistics.disagreement_share)
    )


def lower_limit(
    share: EstimatedShare, min_trials: float, confidence: float = 0.95, factor: float = 1.0
) -> float:
    """Return the lower end of the two-sided interval of a share.

    At least `min_trials` independent trials are assumed. `factor` is that of the jackknife's variance.

    Examples
    --------
    >>> round(lower_limit(EstimatedShare(1.0, None), min_trials=500), 3)
    0.993
    >>> round(lower_limit(EstimatedShare(0.8, 0.02), min_trials=100), 3)
    0.757
    """
    x, tail = share.value, (1 - confidence) / 2
    if x <= 0:
        return 0.0
    if x >= 1:
        return float(tail ** (1 / min_trials))
    effective = share.effective_trials(factor)
    trials = max(min_trials, effective) if math.isfinite(effective) else min_trials
    limit = float(betaincinv(trials * x, trials * (1 - x) + 1, tail))
    if effective < min_trials * (1 - NEARLY):
        limit = max(0.0, min(limit, x + float(ndtri(tail)) * math.sqrt(share.variance(factor))))
    return limit


def student_factor(effective: float, confidence: float) -> float:
    """Return k = (t/z)²: the factor for a variance that was estimated from `effective` units.

    Examples
    --------
    >>> round(student_factor(10, 0.95), 2), round(student_factor(1e9, 0.95), 2)
    (1.33, 1.0)
    """
    return (student_quantile(effective, confidence) / normal_quantile(confidence)) ** 2


def student_quantile(effective: float, confidence: float) -> float:
    """Return t: the same as z, in units of a standard error that was estimated from `effective` units."""
    return float(stdtrit(max(1.0, effective - 1.0), 0.5 + confidence / 2))


def normal_quantile(confidence: float) -> float:
    """Return z: a normal variable is within z standard deviations of its mean with this probability.

    Examples
    --------
    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    return float(ndtri(0.5 + confidence / 2))


def share_limits(share: float, trials: float, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval; the number of trials may be a fraction.

    Examples
    --------
    >>> [round(end, 3) for end in share_limits(0.5, 10, 0.95)]
    [0.187, 0.813]
    """
    tail, successes = (1.0 - confidence) / 2, share * trials
    low = 0.0 if share <= 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if share >= 1 else float(betaincinv(successes + 1, trials - successes, 1.0 - tail))
    return low, high
