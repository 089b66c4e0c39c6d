"""Measure a lie and its honest twin by faithkit's defaults, and decide what exposes the lie."""

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

import attrs

import faithkit
from faithkit_attacks.attack_catalogue import Attack, ModelAndExplainer, why_not_installed
from faithkit_attacks.scenarios import Scenario

STABLE_DIGITS = 9  # machines differ in later digits, so printed numbers must not depend on them
VERDICT, FAITHFUL = "verdict", "faithful"
READER = "reader"  # a diagnostic, of a plugin that this one does not require
EXPOSING_VERDICTS = (
    "nothing was tested",
    "explanations name the prediction",
    "not faithful",
    "not shown to be better than its control",
    "not shown to be better than chance",
)
"""Verdicts that tell a user not to trust explanations. The others claim something in their favour."""


@attrs.frozen
class Measurement:
    """A value with its interval. Both are None if the measure does not apply.

    Examples
    --------
    >>> str(Measurement(0.4987, 0.4937, 0.5102)), str(Measurement(0.0025)), str(Measurement())
    ('0.50 [0.49, 0.52]', '0.003', '–')
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    unchecked: bool = False

    def __str__(self) -> str:
        if self.unchecked:
            return "nothing to check"
        if self.value is None:
            return "–"
        if self.low is None or self.high is None:
            return _format(self.value, digits=3)
        low, high = _round_down(self.low), _round_up(self.high)
        return f"{_format(self.value)} [{_format(low)}, {_format(high)}]"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The printed ends of the interval, or None without one or if nothing could be checked.

        They are rounded outwards, so that what exposes a lie can be seen in the table, and is the same on
        machines that differ in a row.
        """
        if self.unchecked or self.low is None or self.high is None:
            return None
        return _round_down(self.low), _round_up(self.high)


def exposes_lie(lie: Measurement, twin: Measurement) -> bool:
    """Return whether a measure shows that the lie is worse: its interval lies below that of the twin.

    >>> exposes_lie(Measurement(0.5, 0.4, 0.6), Measurement(0.9, 0.8, 1.0))
    True
    """
    lie_interval, twin_interval = lie.interval, twin.interval
    return lie_interval is not None and twin_interval is not None and lie_interval[1] < twin_interval[0]


def is_not_above(lie: Measurement, twin: Measurement) -> bool:
    """Return whether a difference to a control is not shown to be above 0, while that of the twin is.

    >>> is_not_above(Measurement(0.1, -0.1, 0.3), Measurement(0.2, 0.1, 0.3))
    True
    """
    lie_interval, twin_interval = lie.interval, twin.interval
    return lie_interval is not None and twin_interval is not None and lie_interval[0] <= 0 < twin_interval[0]


MEASURES: dict[str, Callable[[Measurement, Measurement], bool]] = {
    "consistency": exposes_lie,
    "sufficiency": exposes_lie,
    "above control": is_not_above,
    READER: exposes_lie,
}
"""By name: whether the measurements of a lie and of its twin expose the lie."""


@attrs.frozen(kw_only=True)
class SideResult:
    """What a user sees of one side of an attack.

    Attributes
    ----------
    verdict : str
    objections, warnings : tuple of str
        The names of the objections that speak against the explanations, and of the warnings.
    measurements : dict of str to Measurement
        One for each of `MEASURES`.
    """

    verdict: str
    objections: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    measurements: dict[str, Measurement]


@attrs.frozen
class AttackResult:
    """An attack, and the results of the lie and of its twin."""

    attack: Attack
    lie: SideResult
    twin: SideResult

    @property
    def caught_by(self) -> list[str]:
        """What exposes the lie: measures, objections and warnings, by name; or its verdict alone.

        Objections and warnings that the twin has too, and a verdict that it shares, expose nothing. Nor does
        a warning beside the verdict "faithful": it is about the rows, and not about the lie.
        """
        lie, twin = self.lie, self.twin
        catchers = [
            name
            for name, exposes in MEASURES.items()
            if exposes(lie.measurements[name], twin.measurements[name])
        ]
        catchers += [name for name in lie.objections if name not in twin.objections]
        if lie.verdict != FAITHFUL:
            catchers += [name for name in lie.warnings if name not in twin.warnings]
        has_worse_verdict = lie.verdict in EXPOSING_VERDICTS and lie.verdict != twin.verdict
        return catchers or ([VERDICT] if has_worse_verdict else [])


def measure_attack(attack: Attack, scenario: Scenario, seed: int = 0) -> AttackResult:
    """Measure a lie and its twin on the same rows."""
    return AttackResult(
        attack, *(measure_side(side, attack, scenario, seed) for side in (attack.lie, attack.twin))
    )


def measure_side(side: ModelAndExplainer, attack: Attack, scenario: Scenario, seed: int = 0) -> SideResult:
    """Explain the rows once, and collect what the result says.

    Examples
    --------
    >>> from faithkit_attacks.attack_catalogue import select_attacks
    >>> from faithkit_attacks.scenarios import applicants_scenario
    >>> (parrot,) = select_attacks(("parrot",))
    >>> lie = measure_side(parrot.lie, parrot, applicants_scenario(400))
    >>> lie.verdict, str(lie.measurements["consistency"])
    ('explanations name the prediction', '1.00 [0.98, 1.00]')
    """
    result = evaluate_side(side, attack, scenario, seed)
    difference = None if result.control is None else result.control.difference
    accuracy = None if why_not_installed("diagnostic", READER) else result.diagnose(READER).accuracy
    return SideResult(
        verdict=result.verdict.name,
        objections=tuple(objection.name for objection in result.objections if objection.verdict is not None),
        warnings=tuple(warning.name for warning in result.warnings),
        measurements={
            "consistency": _to_measurement(result.consistency),
            "sufficiency": _to_measurement(result.sufficiency),
            "above control": Measurement()
            if difference is None
            else Measurement(difference.value, difference.low, difference.high),
            READER: Measurement()
            if accuracy is None
            else Measurement(accuracy.value, accuracy.low, accuracy.high),
        },
    )


def evaluate_side(
    side: ModelAndExplainer, attack: Attack, scenario: Scenario, seed: int = 0
) -> faithkit.Evaluation:
    """Evaluate one side of an attack as a user does who sets no option."""
    X, background = scenario.sample(attack.sample)
    model, X = scenario.model(side.model), faithkit.plugin.take_rows(X, slice(0, attack.rows))
    return faithkit.evaluate(model, X, side.create_explainer(model), background=background, seed=seed)


def _to_measurement(estimate: faithkit.results.Estimate | None) -> Measurement:
    if estimate is None:
        return Measurement()
    is_unchecked = estimate.checkability == "unverifiable"
    return Measurement(estimate.estimate, estimate.low, estimate.high, unchecked=is_unchecked)


def _format(value: float, digits: int = 2) -> str:
    step = Decimal(1).scaleb(-digits)
    return f"{Decimal(repr(round(value, STABLE_DIGITS))).quantize(step, ROUND_HALF_UP) + 0}".replace("-", "−")


def _round_down(low: float) -> float:
    return math.floor(round(low * 100, STABLE_DIGITS)) / 100


def _round_up(high: float) -> float:
    return math.ceil(round(high * 100, STABLE_DIGITS)) / 100
