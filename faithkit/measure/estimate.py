"""One measure's result: the value, what could be checked, and how sure the sample makes us."""

from collections.abc import Iterable
from typing import Any

import attrs

from faithkit.measure.estimators import by_chance, mean_over
from faithkit.measure.inference import Moments, chance, interval, moments
from faithkit.measure.jackknife import pseudo_values
from faithkit.measure.owned import OwnedCells
from faithkit.measure.permutation import permutation_p_value
from faithkit.measure.tally import Count, Tally

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
        return fields | {"bracket": list(self.bracket), "verdict": self.verdict}


def estimate(
    counted: Count, estimator: Any, confidence: float, permutations: int = 0, seed: int = 0
) -> Estimate:
    """Estimate a measure from a count."""
    p_value = permutation_p_value(counted, permutations, seed) if permutations else None
    facts, groups = moments(counted.cells, pseudo_values(counted)), counted.relation.groups
    return estimate_from(counted.cells, counted.tallies(), facts, estimator, confidence, groups, p_value)


def estimate_from(
    cells: OwnedCells,
    tallies: Iterable[Tally],
    facts: Moments,
    estimator: Any,
    confidence: float,
    groups: bool,
    p_value: float | None = None,
) -> Estimate:
    """Turn a tally, its cells and its moments into an estimate."""
    low, high = interval(facts, confidence) if getattr(estimator, "interval", False) else (None, None)
    value, checked = _value(tallies, facts, estimator), facts.verified > 0
    return Estimate(
        value=value if checked else None,
        verified=facts.verified,
        bracket=(facts.value, 1.0 - facts.disagreement),
        se=facts.se if low is not None else None,
        low=low,
        high=high,
        confidence=confidence,
        p_value=p_value,
        mse_bound=_mse_bound(facts, groups),
        by_chance=by_chance(estimator, facts.verified, chance(cells.by_label())) if checked else None,
    )


def _value(tallies: Iterable[Tally], facts: Moments, estimator: Any) -> float | None:
    """Return the mean of the estimator's scores, which for leave-one-out is known already."""
    if getattr(estimator, "name", None) == "leave-one-out":
        return facts.value
    return mean_over(estimator, tallies)


def _mse_bound(facts: Moments, groups: bool) -> float | None:
    """Return variance plus squared bias; for general relations the variance is only estimated."""
    bias = (1.0 - facts.verified) ** 2
    if groups:
        return 9.0 / (4.0 * facts.n) + bias
    return None if facts.se is None else facts.se**2 + bias
