"""Confidence limits of a measure: one rule for rows, clusters, weights, pools, labels and numbers.

A measure is a mean of shares. Its limits are those of Clopper and Pearson, with the number of trials that
would have the jackknife's standard error. The theory page derives the rule and shows how often it misses.
"""

import math

import attrs

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
    are_blocks : bool
        Whether units are blocks, and rows are compared only within a unit.

    Examples
    --------
    >>> SamplingUnits.equal(200)
    SamplingUnits(count=200, effective=200.0, largest=0.005, trials=100.0, are_blocks=False)
    """

    count: int
    effective: float
    largest: float
    trials: float
    are_blocks: bool = False

    @classmethod
    def equal(cls, n: int, trials: float | None = None) -> "SamplingUnits":
        """Return n units of equal weight. By default `trials` is n/2, which holds for rows in groups."""
        return cls(n, float(n), 1.0 / n, n / 2 if trials is None else trials)


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


def lower_limit(
    share: EstimatedShare, min_trials: float, confidence: float = 0.95, factor: float = 1.0
) -> float:
    """Return the lower end of the two-sided interval of a share.

    Parameters
    ----------
    share : EstimatedShare
    min_trials : float
        The minimum number of independent trials to assume.
    confidence : float
    factor : float
        The factor for the jackknife's variance.

    Examples
    --------
    >>> round(lower_limit(EstimatedShare(1.0, None), min_trials=500), 3)
    0.993
    >>> round(lower_limit(EstimatedShare(0.8, 0.02), min_trials=100), 3)
    0.757
    """
    from scipy.special import betaincinv, ndtri

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
    from scipy.special import stdtrit

    t = float(stdtrit(max(1.0, effective - 1.0), 0.5 + confidence / 2))
    return (t / normal_quantile(confidence)) ** 2


def normal_quantile(confidence: float) -> float:
    """Return z: a normal variable is within z standard deviations of its mean with this probability.

    Examples
    --------
    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))


def share_limits(share: float, trials: float, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval; the number of trials may be a fraction.

    Examples
    --------
    >>> [round(end, 3) for end in share_limits(0.5, 10, 0.95)]
    [0.187, 0.813]
    """
    from scipy.special import betaincinv

    tail, successes = (1.0 - confidence) / 2, share * trials
    low = 0.0 if share <= 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if share >= 1 else float(betaincinv(successes + 1, trials - successes, 1.0 - tail))
    return low, high
