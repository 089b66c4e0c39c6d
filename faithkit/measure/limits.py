"""Confidence limits of a measure: one rule for rows, clusters, weights, pools, labels and numbers.

A measure is a mean of shares, so its limits are those of Clopper and Pearson, with as many trials as the
jackknife's standard error is worth. The theory page derives the rule and shows how often it misses.
"""

import math

import attrs

NO_VARIATION = 1e-12  # a standard error below this is rounding
NEARLY = 1e-9  # numbers of trials that differ by less are equal


@attrs.frozen
class SamplingUnits:
    """How much independent evidence a sample has.

    Attributes
    ----------
    count : int
        C: the units that own explanations. A unit is a row, or a cluster of rows.
    effective : float
        A² / Σ A_u²: how many units of one weight these are worth.
    largest : float
        μ = max A_u / A: the share of the largest one.
    trials : float
        The smallest number of independent trials that the sample may be worth.

    Examples
    --------
    >>> SamplingUnits.equal(200)
    SamplingUnits(count=200, effective=200.0, largest=0.005, trials=100.0)
    """

    count: int
    effective: float
    largest: float
    trials: float

    @classmethod
    def equal(cls, n: int, trials: float | None = None) -> "SamplingUnits":
        """Describe n rows that count the same; without `trials`, rows that are compared in groups."""
        return cls(n, float(n), 1.0 / n, n / 2 if trials is None else trials)


@attrs.frozen
class EstimatedShare:
    """A share from 0 to 1 with its standard error; None or 0 where the sample shows no variation.

    `extra` is what the jackknife cannot see: a standard deviation that is added to the error.
    """

    value: float
    se: float | None
    extra: float = 0.0

    @property
    def varies(self) -> bool:
        """Whether the standard error says anything."""
        return self.se is not None and self.se > NO_VARIATION

    def variance(self, factor: float) -> float:
        """Return the variance, that of the jackknife times a factor."""
        return factor * (self.se or 0.0) ** 2 + self.extra**2 if self.varies else 0.0

    def worth(self, factor: float = 1.0) -> float:
        """Return how many independent trials would have this variance."""
        variance = self.variance(factor)
        return self.value * (1.0 - self.value) / variance if variance > 0 else math.inf


def lower_limit(share: EstimatedShare, trials: float, confidence: float = 0.95, factor: float = 1.0) -> float:
    """Return the lower end of the two-sided interval of a share that is worth at least so many trials.

    Parameters
    ----------
    share : EstimatedShare
    trials : float
        The fewest independent trials.
    confidence : float
    factor : float
        By which the jackknife's variance is multiplied.

    Examples
    --------
    >>> round(lower_limit(EstimatedShare(1.0, None), trials=500), 3)
    0.993
    >>> round(lower_limit(EstimatedShare(0.8, 0.02), trials=100), 3)
    0.757
    """
    from scipy.special import betaincinv, ndtri

    x, half = share.value, (1 - confidence) / 2
    if x <= 0:
        return 0.0
    if x >= 1:
        return float(half ** (1 / trials))
    worth = share.worth(factor)
    used = max(trials, worth) if math.isfinite(worth) else trials
    limit = float(betaincinv(used * x, used * (1 - x) + 1, half))
    if worth < trials * (1 - NEARLY):
        limit = max(0.0, min(limit, x + float(ndtri(half)) * math.sqrt(share.variance(factor))))
    return limit


def student_factor(effective: float, confidence: float) -> float:
    """Return k = (t/z)²: what a variance gains that was estimated from so few units.

    Examples
    --------
    >>> round(student_factor(10, 0.95), 2), round(student_factor(1e9, 0.95), 2)
    (1.33, 1.0)
    """
    from scipy.special import stdtrit

    t = float(stdtrit(max(1.0, effective - 1.0), 0.5 + confidence / 2))
    return (t / normal_quantile(confidence)) ** 2


def normal_quantile(confidence: float) -> float:
    """Return z: so many standard deviations to both sides have that share of a normal law.

    Examples
    --------
    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))


def share_limits(share: float, trials: float, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for a number of trials that need not be whole.

    Examples
    --------
    >>> [round(end, 3) for end in share_limits(0.5, 10, 0.95)]
    [0.187, 0.813]
    """
    from scipy.special import betaincinv

    half, yes = (1.0 - confidence) / 2, share * trials
    low = 0.0 if share <= 0 else float(betaincinv(yes, trials - yes + 1, half))
    high = 1.0 if share >= 1 else float(betaincinv(yes + 1, trials - yes, 1.0 - half))
    return low, high
