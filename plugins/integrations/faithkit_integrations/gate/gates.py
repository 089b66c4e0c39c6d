"""Gates on one result: each passes, fails, or cannot be checked."""

import math
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any

import attrs

import faithkit
from faithkit_integrations.gate.numbers import format_below, format_exactly, round_noise

MEASURES = ("consistency", "sufficiency")
ABOVE_CHANCE, ABOVE_CONTROL = "above chance", "above its control"  # findings of the kernel
ONE_LABEL, NAMES_THE_LABEL = "one label", "names the label"

FAIL_UNDER = "fail-under"
UNLESS_ABOVE_CHANCE, UNLESS_ABOVE_CONTROL = "fail-unless above-chance", "fail-unless above-control"
UNLESS_AS_GOOD, IF_WORSE = "fail-unless-as-good", "fail-if-worse"

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
LEAKS = (
    "nearly every explanation names the prediction of its own instance, and no other, so they may only "
    "repeat it; leave it out of the explanations"
)


@attrs.frozen
class GateResult:
    """Whether a measure passes a gate.

    Attributes
    ----------
    gate : str
        The gate, named as the option of `faithkit gate`: "fail-under", "fail-unless above-chance",
        "fail-unless above-control", "fail-unless-as-good" or "fail-if-worse".
    measure : str
    limit : float or None
        The limit or the margin; None if the measure is compared with chance or with its control.
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
    >>> from faithkit_integrations import judge
    >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
    >>> consistency, sufficiency = judge(result, consistency=0.99, sufficiency=0.5)
    >>> consistency.is_kept, consistency.words
    (False, 'consistency may be as low as 0.952, below 0.99')
    >>> sufficiency.is_kept, sufficiency.words
    (None, "explanations of kind 'value' need a relation that says where they apply ...")
    """

    gate: str
    measure: str
    limit: float | None
    is_kept: bool | None
    words: str
    is_above_chance: bool | None = None

    @property
    def name(self) -> str:
        """The gate with its measure and its limit."""
        return f"{self.gate} {self._subject}"

    @property
    def unchecked(self) -> str:
        """The sentence that says why the gate cannot be checked."""
        return f"{self._subject} cannot be checked: {self.words}."

    @property
    def _subject(self) -> str:
        return self.measure if self.limit is None else f"{self.measure}={format_exactly(self.limit)}"


def check_limits(limits: Mapping[str, Any], noun: str = "limit") -> dict[str, float]:
    """Return the limits that are not None; refuse other measures, and what is no number from 0 to 1.

    Examples
    --------
    >>> check_limits({"consistency": 1, "sufficiency": None})
    {'consistency': 1.0}
    """
    limits = {measure: limit for measure, limit in limits.items() if limit is not None}
    for measure, limit in limits.items():
        if measure not in MEASURES:
            raise faithkit.errors.InputError(
                f"there is no measure {measure!r:.60}: give a {noun} of consistency or of sufficiency."
            )
        if not isinstance(limit, Real) or isinstance(limit, bool) or not 0 <= float(limit) <= 1:
            raise faithkit.errors.InputError(
                f"{measure} must be a number from 0 to 1, as a {noun}, got {limit!r:.60}."
            )
    return {measure: float(limit) for measure, limit in limits.items()}


def judge_limits(result: faithkit.Evaluation, limits: Mapping[str, float]) -> list[GateResult]:
    """Compare the lower ends of a result's intervals with limits."""
    return [_judge(result, FAIL_UNDER, measure, limit, limits) for measure, limit in limits.items()]


def judge_against_chance(result: faithkit.Evaluation, measures: Collection[str] = ()) -> list[GateResult]:
    """Compare the lower ends of a result's intervals with chance, for all measures unless some are named.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"] * 50, ["a", "b"] * 75)
    >>> [(gate.is_kept, gate.words) for gate in judge_against_chance(result)]
    [(False, 'consistency may be as low as 0.495, not above chance (0.553)')]
    """
    gated = measures or list(result.measures)
    return [_judge(result, UNLESS_ABOVE_CHANCE, measure, None, gated) for measure in gated]


def judge_against_control(result: faithkit.Evaluation) -> list[GateResult]:
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
        return [GateResult(UNLESS_ABOVE_CONTROL, "sufficiency", None, None, reason)]
    control = result.control
    if control is None:
        words = f"it has no control: {result.why_no_control}"
        return [GateResult(UNLESS_ABOVE_CONTROL, "sufficiency", None, None, words)]
    change = control.difference
    _, interval = faithkit.plugin.format_difference(change.value, change.low, change.high)
    words = (
        f"sufficiency is {control.finding} (the difference is between {interval.replace(' to ', ' and ')})"
    )
    is_kept = control.finding == ABOVE_CONTROL
    return [GateResult(UNLESS_ABOVE_CONTROL, "sufficiency", None, is_kept, words)]


def why_unknown(result: faithkit.Evaluation, measure: str, gated: Collection[str]) -> str | None:
    """Return why a measure cannot pass a gate, whatever its numbers; None if it can.

    Parameters
    ----------
    result : Evaluation
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
    if estimate.is_unknown:
        return NOTHING_EXPLAINED if result.unexplained == result.n else NOTHING_KNOWN
    if estimate.finding == ONE_LABEL:
        return NOTHING_TESTED_IN_BLOCKS if estimate.is_within_blocks else NOTHING_TESTED
    if measure == "consistency" and "sufficiency" in gated:
        return None
    if measure == "consistency" and result.leaks_prediction:
        return LEAKS
    return MAYBE_NAMES if estimate.finding == NAMES_THE_LABEL else None


def _judge(
    result: faithkit.Evaluation, gate: str, measure: str, limit: float | None, gated: Collection[str]
) -> GateResult:
    """Compare the lower end of a measure's interval with a limit, or with chance if there is no limit."""
    reason = _why_unchecked(result, measure, gated)
    if reason is not None:
        return GateResult(gate, measure, limit, None, reason)
    estimate = getattr(result, measure)
    low, chance = estimate.low, estimate.chance
    is_above = None if chance is None else round_noise(low) > round_noise(chance)
    if limit is None:
        low_text, chance_text = faithkit.plugin.format_distinct(low, chance)
        side = "above" if is_above else "not above"
        words = f"{measure} may be as low as {low_text}, {side} chance ({chance_text})"
        return GateResult(gate, measure, None, is_above, words, is_above)
    is_kept = round_noise(low) >= round_noise(limit)
    side = "not below" if is_kept else "below"
    words = f"{measure} may be as low as {format_below(low, limit)}, {side} {format_exactly(limit)}"
    if is_above is False:
        _, chance_text = faithkit.plugin.format_distinct(low, chance)
        words += f", {'but' if is_kept else 'and'} not above chance ({chance_text})"
    return GateResult(gate, measure, limit, is_kept, words, is_above)


def _why_unchecked(result: faithkit.Evaluation, measure: str, gated: Collection[str]) -> str | None:
    reason = why_unknown(result, measure, gated)
    if reason is not None:
        return reason
    low = getattr(result, measure).low
    if low is None:
        return "the estimator has no interval; use leave-one-out"
    return NO_INTERVAL if math.isnan(low) else None
