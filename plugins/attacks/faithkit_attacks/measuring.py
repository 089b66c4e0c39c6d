"""Measure a lie and its honest twin, and decide which measures expose the lie."""

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import attrs

import faithkit
from faithkit_attacks.attack_catalogue import Attack, ModelAndExplainer
from faithkit_attacks.scenarios import Scenario

OPTIONS_BY_KIND: dict[str, dict[str, Any]] = {  # of explanations: how `evaluate` compares and applies them
    "vector": {"discretizer": "sign-of-top:k=1", "relation": "same-top-features:k=1,bins=2"},
    "example": {"discretizer": "is-feature-modified"},
}
STABLE_DIGITS = 9  # machines differ in later digits, so printed numbers must not depend on them
MEASURES = (
    *("consistency", "merged bound", "sufficiency", "same-top-features", "control"),
    *("reader", "uniqueness"),
)


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
        return f"{_format(self.value)} [{_format_rounded_down(self.low)}, {_format_rounded_up(self.high)}]"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the interval, or None without one or if nothing could be checked."""
        if self.unchecked or self.low is None or self.high is None:
            return None
        return self.low, self.high


def exposes_lie(lie: Measurement, twin: Measurement) -> bool:
    """Return whether a measure shows that the lie is worse: its interval lies below that of the twin.

    It is also exposed if nothing of the lie can be checked, while the twin can be.

    >>> exposes_lie(Measurement(0.5, 0.4, 0.6), Measurement(0.9, 0.8, 1.0))
    True
    """
    if lie.unchecked:
        return twin.interval is not None
    lie_interval, twin_interval = lie.interval, twin.interval
    return lie_interval is not None and twin_interval is not None and lie_interval[1] < twin_interval[0]


@attrs.frozen
class AttackResult:
    """An attack, and the measurements of the lie and of its twin by measure."""

    attack: Attack
    lie: dict[str, Measurement]
    twin: dict[str, Measurement]

    @property
    def caught_by(self) -> list[str]:
        """The names of the measures that expose the lie."""
        return [name for name in MEASURES if exposes_lie(self.lie[name], self.twin[name])]


def measure_attack(attack: Attack, scenario: Scenario, seed: int = 0) -> AttackResult:
    """Measure a lie and its twin on the same rows."""
    return AttackResult(
        attack, *(measure_side(side, attack, scenario, seed) for side in (attack.lie, attack.twin))
    )


def measure_side(
    side: ModelAndExplainer, attack: Attack, scenario: Scenario, seed: int = 0
) -> dict[str, Measurement]:
    """Explain the rows once, and apply every measure to the explanations.

    Examples
    --------
    >>> from faithkit_attacks.attack_catalogue import select_attacks
    >>> from faithkit_attacks.scenarios import applicants_scenario
    >>> (parrot,) = select_attacks(("parrot",))
    >>> str(measure_side(parrot.lie, parrot, applicants_scenario(400))["consistency"])
    '1.00 [0.98, 1.00]'
    """
    result = evaluate_side(side, attack, scenario, seed)
    explanations = attrs.evolve(result.rows.explanations, identity=None)  # not discretized
    undiscretized = faithkit.score(result.rows.row_predictions, explanations, discretizer="original")
    merged = undiscretized.consistency
    is_vector, sufficiency = explanations.kind == "vector", _to_measurement(result.sufficiency)
    reader_accuracy = undiscretized.diagnose("reader").accuracy
    return {
        "consistency": _to_measurement(result.consistency),
        "merged bound": Measurement(merged.estimate, merged.low, merged.high),
        "sufficiency": Measurement() if is_vector else sufficiency,
        "same-top-features": sufficiency if is_vector else Measurement(),
        "control": Measurement(None if result.control is None else result.control.estimate),
        "reader": Measurement()
        if reader_accuracy is None
        else Measurement(reader_accuracy.value, reader_accuracy.low, reader_accuracy.high),
        "uniqueness": Measurement(result.uniqueness),
    }


def evaluate_side(
    side: ModelAndExplainer, attack: Attack, scenario: Scenario, seed: int = 0
) -> faithkit.Evaluation:
    """Evaluate one side of an attack.

    Importances are compared by their top column, and examples by the columns that they change.
    """
    (kind,) = faithkit.plugin.registry().find("explainer", side.explainer.partition(":")[0]).component.kinds
    options = OPTIONS_BY_KIND.get(kind, {})
    X, model = faithkit.plugin.take_rows(scenario.X, slice(0, attack.rows)), scenario.model(side.model)
    return faithkit.evaluate(
        model, X, side.create_explainer(), background=scenario.background, seed=seed, **options
    )


def _to_measurement(estimate: faithkit.results.Estimate | None) -> Measurement:
    if estimate is None:
        return Measurement()
    is_unchecked = estimate.checkability == "unverifiable"
    return Measurement(estimate.estimate, estimate.low, estimate.high, unchecked=is_unchecked)


def _format(value: float, digits: int = 2) -> str:
    step = Decimal(1).scaleb(-digits)
    return f"{Decimal(repr(round(value, STABLE_DIGITS))).quantize(step, ROUND_HALF_UP) + 0}".replace("-", "−")


def _format_rounded_down(low: float) -> str:
    return _format(math.floor(round(low * 100, STABLE_DIGITS)) / 100)


def _format_rounded_up(high: float) -> str:
    return _format(math.ceil(round(high * 100, STABLE_DIGITS)) / 100)
