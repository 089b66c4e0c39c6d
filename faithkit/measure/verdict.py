"""The verdict on a result: the first rule of a table that applies.

The name "faithful" needs sufficiency by a relation that reads instances. Consistency alone shows that
explanations determine the prediction, as a code of the prediction would.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from faithkit.measure.baselines.control import ABOVE as ABOVE_CONTROL
from faithkit.measure.baselines.control import Control
from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import ABOVE, NAMES_THE_LABEL, ONE_LABEL, checked_above_chance
from faithkit.measure.objections import Objection
from faithkit.wording import format_exactly

FAITHFUL, NOT_FAITHFUL = "faithful", "not faithful"
ABOVE_ITS_CONTROL, ABOVE_CHANCE = "better than its control", "better than chance"
NOT_ABOVE_CONTROL = "not shown to be better than its control"
NOT_ABOVE_CHANCE = "not shown to be better than chance"
NOTHING_TESTED, NAMES = "nothing was tested", "explanations name the prediction"
DETERMINES = "explanations determine the prediction"

VERDICTS = (
    *(NOTHING_TESTED, NAMES, NOT_FAITHFUL, NOT_ABOVE_CHANCE, NOT_ABOVE_CONTROL),
    *(ABOVE_CHANCE, ABOVE_ITS_CONTROL, DETERMINES, FAITHFUL),
)
"""All verdicts, from those that say least of explanations to the one that says most."""

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
        One of `faithkit.results.VERDICTS`. "faithful", "explanations determine the prediction", "not
        faithful", "better than its control" and "better than chance" are claims. The others claim nothing.
    measure : str
        The measure that it rests on: sufficiency, if that could be checked by a relation that reads
        instances; else consistency.
    reason : str
        Why this is the verdict.
    level : float
        The level that the lower end must reach for explanations to be called faithful.

    Examples
    --------
    >>> import faithkit
    >>> faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50).verdict
    Verdict(name='explanations determine the prediction', measure='consistency', reason='consistency is at
    least 0.952, which reaches 0.8 and is above chance; what the model used was not tested', level=0.8)
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


@attrs.frozen(kw_only=True)
class VerdictCase:
    """All that the rules of a verdict read.

    Attributes
    ----------
    measures : mapping of str to Estimate
    control : Control or None
        The control of sufficiency.
    why_no_control : str or None
    objections : tuple of Objection
        What speaks against the explanations, by the kernel and by the relation.
    reads_instances : bool
        Whether the relation of sufficiency reads instances.
    are_importances : bool
        Whether explanations are importances, whose scopes are coarse.
    leaks_prediction : bool
        Whether nearly every explanation names the prediction of its own instance.
    level : float
        The level that the lower end must reach for explanations to be called faithful.
    """

    measures: Mapping[str, Estimate]
    control: Control | None = None
    why_no_control: str | None = None
    objections: tuple[Objection, ...] = ()
    reads_instances: bool = True
    are_importances: bool = False
    leaks_prediction: bool = False
    level: float = LEVEL

    @property
    def measure(self) -> str:
        """The measure that the verdict rests on."""
        return "sufficiency" if self.has_sufficiency else "consistency"

    @property
    def estimate(self) -> Estimate:
        """The estimate of that measure."""
        return self.measures[self.measure]

    @property
    def has_sufficiency(self) -> bool:
        """Whether sufficiency was checked by a relation that reads instances."""
        estimate = self.measures.get("sufficiency")
        return self.reads_instances and estimate is not None and why_untested("sufficiency", estimate) is None

    @property
    def low(self) -> float:
        """The lower end of the interval, without rounding errors."""
        return round(self.estimate.interval[0], NOISE)

    @property
    def high(self) -> float:
        """The upper end of the interval, without rounding errors."""
        return round(self.estimate.interval[1], NOISE)

    @property
    def is_above_control(self) -> bool:
        """Whether the difference to the control is shown to be above 0."""
        return self.control is not None and self.control.finding == ABOVE_CONTROL

    @property
    def is_consistency_at_chance(self) -> bool:
        """Whether consistency was tested, and is not above chance on the rows that could be checked.

        It was tested if agreement of all rows that share an explanation would have been above chance. Other
        rows are compared with similar ones, or with all, which may hide that explanations say much.
        """
        estimate = self.measures["consistency"]
        statistics, chance = estimate.statistics, estimate.chance
        if statistics is None or chance is None or not estimate.verified:
            return False
        if estimate.finding == ABOVE or round(estimate.interval[0], NOISE) > round(chance, NOISE):
            return False  # also where each prediction has one explanation
        tail, n_checked = (1.0 - estimate.confidence) / 2, estimate.verified * statistics.n
        if tail ** (2.0 / n_checked) <= chance:
            return False
        return not checked_above_chance(statistics, chance, estimate.confidence, estimate.p_value)

    def find_objection(self, *verdicts: str) -> Objection | None:
        """Return the first objection that leads to one of some verdicts."""
        return next((objection for objection in self.objections if objection.verdict in verdicts), None)


@attrs.frozen
class VerdictRule:
    """A row of the table: a condition, the verdict's name, and the reason if the condition holds.

    Attributes
    ----------
    condition : str
        The condition in words, for people.
    name : str or callable
        The name of the verdict; an objection names its own.
    reason : callable
        Returns the reason if the rule applies to a case, else None.
    needs : str or None
        The measure that must have been checked; None if the rule applies to every case.
    """

    condition: str
    name: str | Callable[[VerdictCase], str]
    reason: Callable[[VerdictCase], str | None]
    needs: str | None = None


def reach_verdict(case: VerdictCase) -> Verdict:
    """Return the verdict by the first rule that applies.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "no"] * 50, ["a", "b"] * 100)
    >>> reach_verdict(VerdictCase(measures=result.measures)).reason
    'consistency is below 0.8'
    """
    for rule in RULES:
        if rule.needs in (None, case.measure):
            reason = rule.reason(case)
            if reason is not None:
                name = rule.name if isinstance(rule.name, str) else rule.name(case)
                return Verdict(name, case.measure, reason, case.level)
    raise AssertionError("the last rule applies to every case")


def why_untested(measure: str, estimate: Estimate) -> str | None:
    """Return why nothing was tested, or None; comparing similar explanations counts as a test."""
    if estimate.finding == ONE_LABEL:
        return ONE_PREDICTION_IN_BLOCKS if estimate.is_within_blocks else ONE_PREDICTION
    if estimate.is_compared and estimate.chance is not None:
        return None
    return (UNSHARED_IN_BLOCKS if estimate.is_within_blocks else UNSHARED)[measure]


# -- conditions: each returns the reason, or None where it does not hold --


def _nothing_tested(case: VerdictCase) -> str | None:
    return why_untested(case.measure, case.estimate)


def _leaks(case: VerdictCase) -> str | None:
    return LEAKAGE if case.leaks_prediction else None


def _one_name(case: VerdictCase) -> str | None:
    return ONE_NAME if case.estimate.finding == NAMES_THE_LABEL else None


def _below(case: VerdictCase) -> str | None:
    if case.high >= case.level or (case.are_importances and case.is_above_control):
        return None
    return f"{case.measure} is below {format_exactly(case.level)}"


def _objected(*verdicts: str) -> Callable[[VerdictCase], str | None]:
    def condition(case: VerdictCase) -> str | None:
        objection = case.find_objection(*verdicts)
        return None if objection is None else objection.sentence

    return condition


def _coarse(case: VerdictCase) -> str | None:
    return None if case.high >= case.level else f"{case.measure} is below {format_exactly(case.level)}"


def _at_chance(case: VerdictCase) -> str | None:
    if case.estimate.finding != ABOVE:
        return "one explanation for all instances may do as well"
    if case.has_sufficiency and case.is_consistency_at_chance:
        return "rows with the same explanation agree no more often than any two rows"
    return None


def _at_control(case: VerdictCase) -> str | None:
    if case.control is None or case.is_above_control:
        return None
    return "explanations of the same form, chosen without the model, may do as well"


def _uncontrolled(case: VerdictCase) -> str | None:
    if case.control is not None:
        return None
    return f"no control, so not called faithful: {case.why_no_control or 'none was drawn'}"


def _reached(case: VerdictCase) -> str | None:
    if case.low < case.level:
        return None
    baselines = "chance and its control" if case.has_sufficiency else "chance"
    end, level = _format_end(case.low, case.level), format_exactly(case.level)
    return f"{case.measure} is at least {end}, which reaches {level} and is above {baselines}"


def _determined(case: VerdictCase) -> str | None:
    reason = _reached(case)
    return None if reason is None else f"{reason}; what the model used was not tested"


def _may_be_below(case: VerdictCase) -> str:
    return f"{case.measure} may be below {format_exactly(case.level)}"


def _verdict_of_objection(case: VerdictCase) -> str:
    objection = case.find_objection(*LOWER)
    assert objection is not None
    return str(objection.verdict)


S, C = "sufficiency", "consistency"
LOWER = tuple(name for name in VERDICTS if name not in (NAMES, NOT_FAITHFUL, DETERMINES, FAITHFUL))

RULES = (
    VerdictRule("no measure could be checked", NOTHING_TESTED, _nothing_tested),
    VerdictRule("nearly every explanation names the prediction of its own row", NAMES, _leaks),
    VerdictRule("each prediction has one explanation", NAMES, _one_name, C),
    VerdictRule(
        "high end below the level, except of importances above their control", NOT_FAITHFUL, _below, S
    ),
    VerdictRule('an objection says "not faithful"', NOT_FAITHFUL, _objected(NOT_FAITHFUL), S),
    VerdictRule("high end below the level, importances above their control", ABOVE_ITS_CONTROL, _coarse, S),
    VerdictRule(
        "not above chance, or consistency tested and not above chance", NOT_ABOVE_CHANCE, _at_chance, S
    ),
    VerdictRule("not above its control", NOT_ABOVE_CONTROL, _at_control, S),
    VerdictRule("no control", ABOVE_CHANCE, _uncontrolled, S),
    VerdictRule("an objection names a lower verdict", _verdict_of_objection, _objected(*LOWER), S),
    VerdictRule("low end at the level", FAITHFUL, _reached, S),
    VerdictRule("else", ABOVE_ITS_CONTROL, _may_be_below, S),
    VerdictRule("high end below the level", NOT_FAITHFUL, _below, C),
    VerdictRule("not above chance", NOT_ABOVE_CHANCE, _at_chance, C),
    VerdictRule("low end at the level", DETERMINES, _determined, C),
    VerdictRule("else", ABOVE_CHANCE, _may_be_below, C),
)
"""The rules in the order in which they are considered; the docs show them as a table."""


def _format_end(low: float, level: float) -> str:
    """Return a lower end rounded down, but not below the level that it reaches."""
    rounded = math.floor(round(1000 * low, NOISE)) / 1000
    return f"{rounded:.3f}" if rounded >= level else format_exactly(level)
