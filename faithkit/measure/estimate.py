"""One measure's result: the value, what could be checked, and how sure the sample makes us."""

from collections.abc import Mapping
from typing import Any

import attrs

from faithkit.display import Displayable
from faithkit.measure.counting.tally import Count
from faithkit.measure.estimators import LeaveOneOut, by_chance, mean_over
from faithkit.measure.finding import finding
from faithkit.measure.intervals import MeasureStatistics, interval
from faithkit.measure.planning.checkable_counts import CheckableCounts
from faithkit.measure.protocols import said

VERIFIABLE, UNVERIFIABLE = 0.95, 0.05


@attrs.frozen(repr=False)
class Estimate(Displayable):
    """A measure estimated from a sample.

    Attributes
    ----------
    value : float or None
        What the estimator gives; None where nothing could be checked, or it leaves every instance out.
    estimate : float
        The point estimate that the interval is around: leave-one-out, for grouping with the rows compared
        that are alone, and with weights or clusters by thinning. Where that is below the `floor`, the floor.
        In the mean it is at most the measure; in about half of all samples it is above.
    merging : str or None
        How rows that are alone were merged: "pairs", "near blocks", "one block" or "nothing"; None for other
        relations.
    verified : float
        Share of instances with at least one *other* instance to check against.
    checked : int
        How many instances these are.
    agree : float or None
        The mean share of others that agree, among those that were checked; None where nothing was.
    bracket : tuple of float
        (`estimate`, 1 less the disagreement of rows that have others): what the sample cannot rule out; no
        end is below the `floor`.
    se : float or None
        Standard error of `estimate`; None where the sample shows no variation.
    low, high : float or None
        Interval of the measure, around `estimate`; None, as is `se`, where the estimator estimates something
        else.
    floor : float or None
        What the measure cannot be below: one over the number of labels that the model declares. `moments`
        and `value` are as the sample gives them, and may be below.
    confidence : float
        Of the interval.
    p_value : float or None
        Permutation test; None unless asked for.
    mse_bound : float or None
        Bound on the mean-squared error (an estimate of it, for relations other than grouping).
    by_chance : float or None
        What explanations unrelated to the predictions would get, of `value`; None where the estimator does
        not say, and for a single instance.
    chance : float or None
        What one explanation for all instances would get: the baseline of `estimate` and its interval. None
        for a single instance.
    finding : str
        What was found, against chance: one of `faithkit.measure.finding.FINDINGS`.
    moments : MeasureStatistics or None
        What the interval is made of: with it, measures are compared.
    others : CheckableCounts or None
        How many others each row could be checked against: with it, samples are planned. None where rows have
        weights or clusters, and with a pool.
    checkability : str
        "verifiable", "partly verifiable" or "unverifiable".

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score([0, 0, 1], ["a", "a", "b"]).consistency.checkability
    'partly verifiable'
    """

    value: float | None
    estimate: float
    verified: float
    bracket: tuple[float, float]
    se: float | None
    low: float | None
    high: float | None
    confidence: float
    p_value: float | None
    mse_bound: float | None
    by_chance: float | None = None
    chance: float | None = None
    merging: str | None = None
    checked: int | None = None
    agree: float | None = None
    floor: float | None = None
    finding: str | None = None
    moments: MeasureStatistics | None = None
    others: CheckableCounts | None = None

    @property
    def checkability(self) -> str:
        """Whether a person could check these explanations at all."""
        if self.verified >= VERIFIABLE:
            return "verifiable"
        return "unverifiable" if self.verified <= UNVERIFIABLE else "partly verifiable"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, in the documented order."""
        order = ("value", "se", "estimate", "merging", "low", "high", "floor", "confidence", "p_value")
        more = ("verified", "checked", "agree", "bracket", "mse_bound", "checkability", "finding")
        chances = ("by_chance", "chance")
        fields = {name: getattr(self, name) for name in (*order, *more, *chances)}
        return fields | {
            "bracket": list(self.bracket),
            "moments": None if self.moments is None else self.moments.to_dict(),
            "others": None if self.others is None else self.others.to_dict(),
        }

    def to_row(self) -> dict[str, Any]:
        """Return what fits into a row of a table."""
        return {name: value for name, value in self.to_dict().items() if name not in ("moments", "others")}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any], n: int) -> "Estimate":
        """Make an estimate of what `to_dict` or `to_row` told of n rows."""
        known: dict[str, Any] = {field.name: told.get(field.name) for field in attrs.fields(cls)}
        known["bracket"] = tuple(told["bracket"])
        if known["moments"] is not None:
            known["moments"] = MeasureStatistics.from_dict(known["moments"], n, told["verified"])
        if known["others"] is not None:
            known["others"] = CheckableCounts.from_dict(known["others"])
        return cls(**known)


def estimate(
    counted: Count,
    facts: MeasureStatistics,
    estimator: Any,
    confidence: float = 0.95,
    p_value: float | None = None,
    n_classes: int | None = None,
) -> Estimate:
    """Turn what was counted and its moments into an estimate; `n_classes` labels are declared."""
    floor = _floor(counted, n_classes)
    low, high = interval(facts, confidence) if said(estimator, "interval") else (None, None)
    # the mean of leave-one-out's scores is known already
    value = facts.value if isinstance(estimator, LeaveOneOut) else mean_over(estimator, counted.tallies())
    checked, luck = facts.verified > 0, counted.chance()
    point = _above(floor, facts.estimate)
    return Estimate(
        value=value if checked else None,
        estimate=point,
        merging=facts.merging,
        verified=facts.verified,
        checked=counted.owners.checked[0],
        agree=facts.value / facts.verified if checked else None,
        bracket=(point, max(point, 1.0 - facts.disagreement)),  # not below it in the last bit, either
        se=facts.se if low is not None else None,
        low=None if low is None else _above(floor, low),
        high=None if high is None else _above(floor, high),
        floor=floor,
        confidence=confidence,
        p_value=p_value,
        mse_bound=None
        if facts.span is not None
        else _mse_bound(facts, counted.relation.groups and counted.is_plain),
        by_chance=by_chance(estimator, facts.verified, luck) if checked else None,
        chance=None if luck is None else _above(floor, luck),
        finding=finding(counted, facts, luck, confidence, p_value),
        moments=facts,
        others=CheckableCounts.of(counted.owners) if counted.is_plain else None,
    )


def _above(floor: float | None, found: float) -> float:
    """Return what was found of a measure, or what it cannot be below where that is more."""
    return found if floor is None else max(found, floor)


def _floor(counted: Count, n_classes: int | None) -> float | None:
    """Return what consistency cannot be below, by convexity; rows without an explanation count as 0."""
    if counted.agreement.is_divided:
        return 0.0 if counted.relation.groups else None
    known = n_classes is not None and n_classes >= counted.n_labels
    if not known or not counted.relation.groups or counted.explanations.missing.any():
        return None
    return 1.0 / (n_classes or 1)


def _mse_bound(facts: MeasureStatistics, is_bounded: bool) -> float | None:
    """Return variance plus squared bias; but for grouping of equal rows the variance is only estimated."""
    bias = (1.0 - facts.verified) ** 2
    if is_bounded:
        return 9.0 / (4.0 * facts.n) + bias
    return None if facts.se is None else facts.se**2 + bias
