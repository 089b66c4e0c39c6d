"""Gates on a result: each is kept, missed, or cannot be checked, which is not the same."""

import math
from collections.abc import Callable, Collection, Mapping
from numbers import Real
from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.measure.finding import NAMES_THE_LABEL, ONE_LABEL
from faithkit.report.formats import below, told_apart, without_noise
from faithkit.report.told import nothing_known
from faithkit.wording import exact

NO_INTERVAL = "its interval could not be computed"
NOTHING_KNOWN = (
    "no explanation holds for any other instance, and nothing else shows that it is above chance; give more "
    "rows, or a coarser discretizer"
)
NOTHING_TESTED = (
    "all explained predictions are the same, so nothing was tested; give rows that the model decides "
    "differently"
)
MAYBE_NAMES = (
    "each prediction has one explanation, which may be no more than its name; sufficiency would test this, "
    "by a relation that says where explanations apply"
)


@attrs.frozen
class GateResult:
    """Whether a measure passes a gate.

    Attributes
    ----------
    measure : str
    limit : float or None
        None where the measure is compared with chance.
    kept : bool or None
        None where it cannot be checked; a build that takes that for a pass lets errors pass.
    words : str
        The comparison in words, or why it cannot be checked.
    above_chance : bool or None
        Whether the lower end is above chance; None where it was not compared with chance. A limit that is
        kept by explanations that may be unrelated to the predictions deserves a warning.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
    >>> consistency, sufficiency = result.judge(consistency=0.99, sufficiency=0.5)
    >>> consistency.kept, consistency.words
    (False, 'consistency may be as low as 0.952, below 0.99')
    >>> sufficiency.kept, sufficiency.words
    (None, "explanations of kind 'value' do not say where else they apply: ...")
    """

    measure: str
    limit: float | None
    kept: bool | None
    words: str
    above_chance: bool | None = None

    @property
    def unchecked(self) -> str:
        """Why the gate cannot be checked, as a sentence that names it."""
        gate = self.measure if self.limit is None else f"{self.measure}={exact(self.limit)}"
        return f"{gate} cannot be checked: {self.words}."


def given_limits(limits: Mapping[str, Any]) -> dict[str, float]:
    """Return those limits that are given, each a number from 0 to 1; None is none.

    Examples
    --------
    >>> given_limits({"consistency": 1, "sufficiency": None})
    {'consistency': 1.0}
    """
    given = {measure: limit for measure, limit in limits.items() if limit is not None}
    for measure, limit in given.items():
        if not isinstance(limit, Real) or isinstance(limit, bool) or not 0 <= float(limit) <= 1:
            raise InputError(f"{measure} must be a number from 0 to 1, as a limit, got {limit!r:.60}.")
    return {measure: float(limit) for measure, limit in given.items()}


def judged(result: Any, limits: Mapping[str, float]) -> list[GateResult]:
    """Compare the lower ends of a result's intervals with limits."""
    return [_judge_limit(result, measure, limit, limits) for measure, limit in limits.items()]


def judged_by_chance(result: Any, measures: Collection[str] = ()) -> list[GateResult]:
    """Compare the lower ends of a result's intervals with chance; without `measures`, of all that were taken.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"] * 50, ["a", "b"] * 75)
    >>> [(one.kept, one.words) for one in judged_by_chance(result)]
    [(False, 'consistency may be as low as 0.495, not above chance (0.553)')]
    """
    gated = measures or list(result.measures)
    return [_judge_chance(result, measure, gated) for measure in gated]


def judged_as_good(findings: Any, margins: Mapping[str, float]) -> list[GateResult]:
    """Say of which measures it is shown that they are not worse than in the reference by more than a margin.

    The lower end of the difference's interval counts.
    """
    return _judge_changes(
        findings, margins, lambda change, margin: without_noise(change.low) >= without_noise(-margin)
    )


def judged_worse(findings: Any, margins: Mapping[str, float]) -> list[GateResult]:
    """Say of which measures it is shown that they are worse than in the reference by more than a margin.

    These are not kept. The upper end of the difference's interval counts.
    """
    return _judge_changes(
        findings, margins, lambda change, margin: without_noise(change.high) >= without_noise(-margin)
    )


def why_untested(estimate: Any, measure: str, gated: Collection[str]) -> str | None:
    """Return why an estimate cannot pass a gate, whatever its numbers; None where it can.

    Consistency that may be that of names passes beside a gate on sufficiency, which tests that.

    Parameters
    ----------
    estimate : Estimate
    measure : str
        The measure it is of.
    gated : collection of str
        All measures that have the gate.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "yes"], ["a", "a", "b"])
    >>> why_untested(result.consistency, "consistency", ["consistency"])
    'all explained predictions are the same, so nothing was tested; ...'
    """
    if nothing_known(estimate):
        return NOTHING_KNOWN
    if estimate.finding == ONE_LABEL:
        return NOTHING_TESTED
    alone = measure == "sufficiency" or "sufficiency" not in gated
    return MAYBE_NAMES if estimate.finding == NAMES_THE_LABEL and alone else None


def why_unknown(result: Any, measure: str, gated: Collection[str]) -> str | None:
    """Return why a measure of a result cannot pass a gate, as `why_untested` says; None where it can."""
    estimate = getattr(result, measure)
    if estimate is None:
        return str(result.why_no_sufficiency)
    return why_untested(estimate, measure, gated)


def _judge_limit(result: Any, measure: str, limit: float, gated: Collection[str]) -> GateResult:
    reason = _why_unchecked(result, measure, gated)
    if reason is not None:
        return GateResult(measure, limit, None, reason)
    low, chance = getattr(result, measure).low, result.chance
    kept = without_noise(low) >= without_noise(limit)
    words = (
        f"{measure} may be as low as {below(low, limit)}, {'not below' if kept else 'below'} {exact(limit)}"
    )
    above = None if chance is None else without_noise(low) > without_noise(chance)
    if above is False:
        words += f", {'but' if kept else 'and'} not above chance ({told_apart(low, chance)[1]})"
    return GateResult(measure, limit, kept, words, above)


def _judge_chance(result: Any, measure: str, gated: Collection[str]) -> GateResult:
    reason = _why_unchecked(result, measure, gated)
    if reason is not None:
        return GateResult(measure, None, None, reason)
    low, chance = getattr(result, measure).low, result.chance
    above = without_noise(low) > without_noise(chance)
    end, level = told_apart(low, chance)
    words = f"{measure} may be as low as {end}, {'' if above else 'not '}above chance ({level})"
    return GateResult(measure, None, above, words, above)


def _judge_changes(
    findings: Any, margins: Mapping[str, float], is_kept: Callable[[Any, float], bool]
) -> list[GateResult]:
    changes = findings.drift()
    return [
        _judge_change(findings, measure, margin, changes.get(measure), margins, is_kept)
        for measure, margin in margins.items()
    ]


def _judge_change(
    findings: Any,
    measure: str,
    margin: float,
    change: Any,
    gated: Collection[str],
    is_kept: Callable[[Any, float], bool],
) -> GateResult:
    if change is None:
        reason = findings.why_not_compared(measure)
    else:
        reason = _why_undecided(findings, measure, change, gated)
    if reason is not None:
        return GateResult(measure, margin, None, reason)
    return GateResult(
        measure, margin, bool(is_kept(change, margin)), findings.sentence(measure, change, margin)
    )


def _why_unchecked(result: Any, measure: str, gated: Collection[str]) -> str | None:
    reason = why_unknown(result, measure, gated)
    if reason is not None:
        return reason
    low = getattr(result, measure).low
    if low is None:
        return "the estimator has no interval; use leave-one-out"
    return NO_INTERVAL if math.isnan(low) else None


def _why_undecided(findings: Any, measure: str, change: Any, gated: Collection[str]) -> str | None:
    for where, estimate in findings.sides(measure).items():
        if reason := why_untested(estimate, measure, gated):
            return f"{where} {reason}"
    return NO_INTERVAL if math.isnan(change.low) or math.isnan(change.high) else None
