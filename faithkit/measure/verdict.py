"""The verdict on a result, from a closed list, by rules on its estimates and its control."""

import math
from collections.abc import Mapping
from typing import Any

import attrs

from faithkit.measure.baselines.control import ABOVE as ABOVE_CONTROL
from faithkit.measure.baselines.control import Control
from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import ABOVE, NAMES_THE_LABEL, ONE_LABEL
from faithkit.wording import format_exactly

FAITHFUL, NOT_FAITHFUL = "faithful", "not faithful"
ABOVE_ITS_CONTROL, ABOVE_CHANCE = "better than its control", "better than chance"
NOT_ABOVE_CONTROL = "not shown to be better than its control"
NOT_ABOVE_CHANCE = "not shown to be better than chance"
NOTHING_TESTED, NAMES = "nothing was tested", "explanations name the prediction"
DETERMINES = "explanations determine the prediction"

VERDICTS = (
    *(NOTHING_TESTED, NAMES, FAITHFUL, DETERMINES, NOT_FAITHFUL),
    *(NOT_ABOVE_CONTROL, NOT_ABOVE_CHANCE, ABOVE_ITS_CONTROL, ABOVE_CHANCE),
)
"""All verdicts, in the order in which they are considered."""

LEVEL = 0.8
NOISE = 9  # digits: ends that differ only further on do so by rounding errors
LEAKAGE = "nearly every explanation names the prediction of its own instance, and no other"
ONE_NAME = "each prediction has one explanation, which may only repeat the prediction"
ONE_PREDICTION = "all explained predictions agree with each other"
ONE_PREDICTION_IN_BLOCKS = "in every block all predictions agree with each other"
UNSHARED = {
    "consistency": "no two independent instances share an explanation",
    "sufficiency": "no explanation applies to another independent instance",
}
UNSHARED_IN_BLOCKS = {
    "consistency": "no two instances of one block share an explanation",
    "sufficiency": "no explanation applies to another instance of its block",
}


@attrs.frozen
class Verdict:
    """The conclusion of a result about its explanations, with the reason.

    Attributes
    ----------
    name : str
        One of `faithkit.measure.verdict.VERDICTS`. "faithful", "not faithful", "better than its control" and
        "better than chance" are claims, and wrong no more often than the intervals. The others claim nothing.
    measure : str
        The measure that it rests on: sufficiency if it has a control, or alone was tested; else
        consistency.
    reason : str
        Why this is the verdict.
    level : float
        The level that the lower end must reach for explanations to be called faithful.

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50).verdict
    Verdict(name='faithful', measure='consistency', reason='consistency is at least 0.952, which reaches 0.8
    and is above chance', level=0.8)
    >>> faithkit.score(["yes", "yes", "no", "no"] * 50, ["a", "b"] * 100).verdict.name
    'not faithful'
    """

    name: str
    measure: str
    reason: str
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)


def reach_verdict(
    measures: Mapping[str, Estimate],
    control: Control | None = None,
    level: float = LEVEL,
    leaks_prediction: bool = False,
) -> Verdict:
    """Return the verdict on a result.

    Parameters
    ----------
    measures : mapping of str to Estimate
    control : Control or None
        The control of sufficiency.
    level : float
        The level that the lower end must reach for explanations to be called faithful.
    leaks_prediction : bool
        Whether nearly every explanation names the prediction of its own instance.
    """
    is_controlled = control is not None and measures["sufficiency"].verified > 0
    tested = [name for name, estimate in measures.items() if _why_untested(name, estimate) is None]
    measure = "sufficiency" if is_controlled or tested == ["sufficiency"] else "consistency"
    name, reason = _decide(measure, measures[measure], control if is_controlled else None, level)
    if leaks_prediction and name != NOTHING_TESTED:
        name, reason = NAMES, LEAKAGE
    return Verdict(name, measure, reason, level)


def _decide(measure: str, estimate: Estimate, control: Control | None, level: float) -> tuple[str, str]:
    """Return the name of the verdict, and its reason."""
    reason = _why_untested(measure, estimate)
    if reason is not None:
        return NOTHING_TESTED, reason
    if estimate.finding == NAMES_THE_LABEL:
        return NAMES, ONE_NAME
    low, high = (round(end, NOISE) for end in estimate.interval)
    is_controlled, is_above_control = control is not None, control is None or control.finding == ABOVE_CONTROL
    baseline = max(estimate.chance or 0.0, 0.0 if control is None else control.estimate)
    is_above_baselines = low > round(baseline, NOISE) and is_above_control
    baselines, at = "chance and its control" if is_controlled else "chance", format_exactly(level)
    if low >= level and is_above_baselines:
        end = _format_end(low, level)
        return FAITHFUL, f"{measure} is at least {end}, which reaches {at} and is above {baselines}"
    if high < level:
        is_better = is_controlled and is_above_control and estimate.finding == ABOVE
        addition = ", though better than its control" if is_better else ""
        return NOT_FAITHFUL, f"{measure} is below {at}{addition}"
    if not is_above_control:
        return NOT_ABOVE_CONTROL, "explanations of the same form, chosen without the model, may do as well"
    if estimate.finding != ABOVE:
        return NOT_ABOVE_CHANCE, "one explanation for all instances may do as well"
    reason = f"its interval reaches down to {baselines}" if low >= level else f"{measure} may be below {at}"
    return (ABOVE_ITS_CONTROL if is_controlled else ABOVE_CHANCE), reason


def _format_end(low: float, level: float) -> str:
    """Return a lower end rounded down, but not below the level that it reaches."""
    rounded = math.floor(round(1000 * low, NOISE)) / 1000
    return f"{rounded:.3f}" if rounded >= level else format_exactly(level)


def _why_untested(measure: str, estimate: Estimate) -> str | None:
    """Return why nothing was tested, or None; comparing similar explanations counts as a test."""
    if estimate.finding == ONE_LABEL:
        return ONE_PREDICTION_IN_BLOCKS if estimate.is_within_blocks else ONE_PREDICTION
    if estimate.is_compared and estimate.chance is not None:
        return None
    return (UNSHARED_IN_BLOCKS if estimate.is_within_blocks else UNSHARED)[measure]
