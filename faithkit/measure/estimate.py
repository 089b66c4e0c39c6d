"""One measure's result: the value, what could be checked, and how sure the sample makes us."""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from faithkit.measure.estimators import LeaveOneOut, by_chance, mean_over
from faithkit.measure.inference import Moments, chance, interval
from faithkit.measure.others import Others
from faithkit.measure.protocols import said
from faithkit.measure.slots import Counts
from faithkit.measure.tally import Count, RowCount
from faithkit.measure.unequal.counting import UnequalCount

VERIFIABLE, UNVERIFIABLE = 0.95, 0.05


@attrs.frozen
class Estimate:
    """A measure estimated from a sample.

    Attributes
    ----------
    value : float or None
        The estimate; None where nothing could be checked, or the estimator leaves every instance out.
    verified : float
        Share of instances with at least one *other* instance to check against.
    bracket : tuple of float
        (M, M + 1 − verified), M by leave-one-out: what the sample cannot rule out.
    se, low, high : float or None
        Standard error and interval of the measure, by leave-one-out; None where they are none of what the
        estimator estimates, and `se` also where the sample shows no variation.
    confidence : float
        Of the interval.
    p_value : float or None
        Permutation test; None unless asked for.
    mse_bound : float or None
        Bound on the mean-squared error (an estimate of it, for relations other than grouping).
    by_chance : float or None
        What explanations unrelated to the predictions would get; None where the estimator does not say.
    moments : Moments or None
        What the interval is made of, by leave-one-out: with it, measures are compared.
    others : Others or None
        How many others each row could be checked against: with it, samples are planned. None where rows have
        weights or clusters, and with a pool.
    verdict : str
        "verifiable", "partly verifiable" or "unverifiable".

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score([0, 0, 1], ["a", "a", "b"]).consistency.verdict
    'partly verifiable'
    """

    value: float | None
    verified: float
    bracket: tuple[float, float]
    se: float | None
    low: float | None
    high: float | None
    confidence: float
    p_value: float | None
    mse_bound: float | None
    by_chance: float | None = None
    moments: Moments | None = None
    others: Others | None = None

    @property
    def verdict(self) -> str:
        """Whether a person could check these explanations at all."""
        if self.verified >= VERIFIABLE:
            return "verifiable"
        return "unverifiable" if self.verified <= UNVERIFIABLE else "partly verifiable"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, in the documented order."""
        order = ["value", "se", "low", "high", "confidence", "p_value", "verified", "bracket", "mse_bound"]
        fields = {name: getattr(self, name) for name in order}
        return fields | {
            "bracket": list(self.bracket),
            "verdict": self.verdict,
            "by_chance": self.by_chance,
            "moments": None if self.moments is None else self.moments.to_dict(),
            "others": None if self.others is None else self.others.to_dict(),
        }

    def to_row(self) -> dict[str, Any]:
        """Return what fits into a row of a table."""
        return {name: value for name, value in self.to_dict().items() if name not in ("moments", "others")}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any], n: int) -> "Estimate":
        """Make an estimate of what `to_dict` told of n rows; what an older version did not tell is None."""
        known: dict[str, Any] = {field.name: told.get(field.name) for field in attrs.fields(cls)}
        known["bracket"] = tuple(told["bracket"])
        if known["moments"] is not None:
            known["moments"] = Moments.from_dict(known["moments"], n, told["verified"])
        if known["others"] is not None:
            known["others"] = Others.from_dict(known["others"])
        return cls(**known)


def estimate(
    counted: Count, facts: Moments, estimator: Any, confidence: float, p_value: float | None = None
) -> Estimate:
    """Turn what was counted and its moments into an estimate."""
    low, high = interval(facts, confidence) if said(estimator, "interval") else (None, None)
    # the mean of leave-one-out's scores is known already
    value = facts.value if isinstance(estimator, LeaveOneOut) else mean_over(estimator, counted.tallies())
    checked, luck = facts.verified > 0, chance_of(counted)
    return Estimate(
        value=value if checked else None,
        verified=facts.verified,
        bracket=(facts.value, 1.0 - facts.disagreement),
        se=facts.se if low is not None else None,
        low=low,
        high=high,
        confidence=confidence,
        p_value=p_value,
        mse_bound=_mse_bound(facts, counted.relation.groups and facts.effective is None),
        by_chance=by_chance(estimator, facts.verified, luck) if checked else None,
        moments=facts,
        others=Others.of(counted.slots) if _is_plain(counted) else None,
    )


def _is_plain(counted: Count) -> bool:
    """Whether every row is checked against all others of its sample, and against nobody else."""
    return not isinstance(counted, UnequalCount) and getattr(counted, "pool", None) is None


def chance_of(counted: Count) -> float | None:
    """Return what a constant explainer would get on the same rows."""
    if isinstance(counted, UnequalCount):
        return counted.design.chance(counted.labels, len(counted.place))
    if isinstance(counted, RowCount) and counted.pool is not None:
        return _chance_in_pool(counted.labels, counted.pool.codes)
    return chance(counted.slots.by_label())


def _chance_in_pool(explained: Counts, pool: Counts) -> float:
    """Return the probability that an explained row and another one, of these or of the pool, agree."""
    k = int(max(explained.max(), pool.max())) + 1
    mine, theirs = np.bincount(explained, minlength=k), np.bincount(pool, minlength=k)
    agreeing = int((mine * (mine + theirs - 1)).sum())
    return agreeing / (len(explained) * (len(explained) + len(pool) - 1))


def _mse_bound(facts: Moments, is_bounded: bool) -> float | None:
    """Return variance plus squared bias; but for grouping of equal rows the variance is only estimated."""
    bias = (1.0 - facts.verified) ** 2
    if is_bounded:
        return 9.0 / (4.0 * facts.n) + bias
    return None if facts.se is None else facts.se**2 + bias
