"""Gates on a result: each passes, fails, or cannot be checked."""

import math
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.measure.baselines.control import ABOVE as ABOVE_CONTROL
from faithkit.measure.finding import NAMES_THE_LABEL, ONE_LABEL
from faithkit.measure.verdict import LEAKAGE
from faithkit.report.formats import format_below, format_difference_ends, format_distinct, round_noise
from faithkit.report.payloads import is_unknown
from faithkit.run.result import Result
from faithkit.wording import format_exactly

NO_INTERVAL = "its interval could not be computed"
NOTHING_EXPLAINED = "no row has an explanation; check what wrote them, or the explainer"
NOTHING_KNOWN = (
    "no explanation holds for any other instance, and nothing else shows that it is above chance; give more "
    "rows, or a coarser discretizer"
)
NOTHING_TESTED = (
    "all explained predictions are the same, so nothing was tested; give rows with different predictions"
)
NOTHING_TESTED_IN_BLOCKS = (
    "in every block all predictions are the same, so nothing was tested; give blocks with different "
    "predictions"
)
MAYBE_NAMES = (
    "each prediction has one explanation, which may only repeat the prediction; sufficiency would test this, "
    "by a relation that says where explanations apply"
)
LEAKS = f"{LEAKAGE}, so they may only repeat it; leave it out of the explanations"


@attrs.frozen
class GateResult:
    """Whether a measure passes a gate.

    Attributes
    ----------
    measure : str
    limit : float or None
        None if the measure is compared with chance.
    is_kept : bool or None
        None if the gate cannot be checked. A build that counts this as a pass lets errors through.
    words : str
        The comparison in words, or why the gate cannot be checked.
    is_above_chance : bool or None
        Whether the lower end is above chance; None if it was not compared with chance. A limit that is
        kept although this is False deserves a warning: explanations may be unrelated to the predictions.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
    >>> consistency, sufficiency = result.judge(consistency=0.99, sufficiency=0.5)
    >>> consistency.is_kept, consistency.words
    (False, 'consistency may be as low as 0.952, below 0.99')
    >>> sufficiency.is_kept, sufficiency.words
    (None, "explanations of kind 'value' need a relation that says where they apply ...")
    """

    measure: str
    limit: float | None
    is_kept: bool | None
    words: str
    is_above_chance: bool | None = None

    @property
    def unchecked(self) -> str:
        """The sentence that says why the gate cannot be checked."""
        gate = self.measure if self.limit is None else f"{self.measure}={format_exactly(self.limit)}"
        return f"{gate} cannot be checked: {self.words}."


def check_limits(limits: Mapping[str, Any]) -> dict[str, float]:
    """Return the limits that are not None; refuse those that are not numbers from 0 to 1.

    Examples
    --------
    >>> check_limits({"consistency": 1, "sufficiency": None})
    {'consistency': 1.0}
    """
    limits = {measure: limit for measure, limit in limits.items() if limit is not None}
    for measure, limit in limits.items():
        if not isinstance(limit, Real) or isinstance(limit, bool) or not 0 <= float(limit) <= 1:
            raise InputError(f"{measure} must be a number from 0 to 1, as a limit, got {limit!r:.60}.")
    return {measure: float(limit) for measure, limit in limits.items()}


def judge_limits(result: Result, limits: Mapping[str, float]) -> list[GateResult]:
    """Compare the lower ends of a result's intervals with limits."""
    return [_judge(result, measure, limit, limits) for measure, limit in limits.items()]


def judge_against_chance(result: Result, measures: Collection[str] = ()) -> list[GateResult]:
    """Compare the lower ends of a result's intervals with chance, for all measures unless some are named.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"] * 50, ["a", "b"] * 75)
    >>> [(gate.is_kept, gate.words) for gate in judge_against_chance(result)]
    [(False, 'consistency may be as low as 0.495, not above chance (0.553)')]
    """
    gated = measures or list(result.measures)
    return [_judge(result, measure, None, gated) for measure in gated]


def judge_against_control(result: Result) -> list[GateResult]:
    """Check that sufficiency is above its control: the interval of the difference lies above 0.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"] * 50, ["a", "b"] * 75)
    >>> [(gate.is_kept, gate.words) for gate in judge_against_control(result)]
    [(None, "explanations of kind 'value' need a relation that says where they apply ...")]
    """
    reason = why_unknown(result, "sufficiency", ["sufficiency"])
    if reason is not None:
        return [GateResult("sufficiency", None, None, reason)]
    control = result.control
    if control is None:
        return [GateResult("sufficiency", None, None, f"it has no control: {result.why_no_control}")]
    low, high = format_difference_ends(control.difference.low, control.difference.high)
    words = f"sufficiency is {control.finding} (the difference is between {low} and {high})"
    return [GateResult("sufficiency", None, control.finding == ABOVE_CONTROL, words)]


def why_unknown(result: Result, measure: str, gated: Collection[str]) -> str | None:
    """Return why a measure cannot pass a gate, whatever its numbers; None if it can.

    If explanations may only repeat the prediction, consistency can pass only beside a gate on sufficiency,
    which tests this.

    Parameters
    ----------
    result : Result
    measure : str
    gated : collection of str
        All measures that have the gate.

    Examples
    --------
    >>> import faithkit
    >>> why_unknown(faithkit.score(["yes", "yes", "yes"], ["a", "a", "b"]), "consistency", ["consistency"])
    'all explained predictions are the same, so nothing was tested; ...'
    """
    estimate = getattr(result, measure)
    if estimate is None:
        return str(result.why_no_sufficiency)
    if is_unknown(estimate):
        return NOTHING_EXPLAINED if result.unexplained == result.n else NOTHING_KNOWN
    if estimate.finding == ONE_LABEL:
        return NOTHING_TESTED_IN_BLOCKS if estimate.is_within_blocks else NOTHING_TESTED
    if measure == "consistency" and "sufficiency" in gated:
        return None
    if measure == "consistency" and result.leaks_prediction:
        return LEAKS
    return MAYBE_NAMES if estimate.finding == NAMES_THE_LABEL else None


def _judge(result: Result, measure: str, limit: float | None, gated: Collection[str]) -> GateResult:
    """Compare the lower end of a measure's interval with a limit, or with chance if there is no limit."""
    reason = _why_unchecked(result, measure, gated)
    if reason is not None:
        return GateResult(measure, limit, None, reason)
    estimate = getattr(result, measure)
    low, chance = estimate.low, estimate.chance
    is_above = None if chance is None else round_noise(low) > round_noise(chance)
    if limit is None:
        low_text, chance_text = format_distinct(low, chance)
        side = "above" if is_above else "not above"
        words = f"{measure} may be as low as {low_text}, {side} chance ({chance_text})"
        return GateResult(measure, None, is_above, words, is_above)
    is_kept = round_noise(low) >= round_noise(limit)
    side = "not below" if is_kept else "below"
    words = f"{measure} may be as low as {format_below(low, limit)}, {side} {format_exactly(limit)}"
    if is_above is False:
        words += f", {'but' if is_kept else 'and'} not above chance ({format_distinct(low, chance)[1]})"
    return GateResult(measure, limit, is_kept, words, is_above)


def _why_unchecked(result: Result, measure: str, gated: Collection[str]) -> str | None:
    reason = why_unknown(result, measure, gated)
    if reason is not None:
        return reason
    low = getattr(result, measure).low
    if low is None:
        return "the estimator has no interval; use leave-one-out"
    return NO_INTERVAL if math.isnan(low) else None
