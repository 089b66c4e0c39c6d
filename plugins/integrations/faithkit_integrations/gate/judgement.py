"""Judge a result: all gates at once, and what has changed since a reference."""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pandas as pd

import faithkit
from faithkit_integrations.gate.drift import Drift
from faithkit_integrations.gate.gates import (
    GateResult,
    check_limits,
    judge_against_chance,
    judge_against_control,
    judge_limits,
)

OUTCOMES = {True: "passes", False: "fails", None: "cannot be checked"}


@attrs.frozen(eq=False, repr=False)
class Judgement(faithkit.plugin.Report):
    """The gates of a result; `judge` returns it. It is a sequence of them, and true if all are kept.

    Attributes
    ----------
    gates : tuple of GateResult
    drift : Drift or None
        What has changed since the reference, if there is one.
    margins : dict of str to float
        By measure how much worse than in the reference it may be.

    Examples
    --------
    >>> import faithkit
    >>> from faithkit_integrations import judge
    >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
    >>> print(judge(result, consistency=0.9, above_chance=True))
    gates passed: 2 of 2
    gate                                  outcome
    ─────────────────────────────────────────────
    fail-under consistency=0.9            passes
    fail-unless above-chance consistency  passes
    Consistency may be as low as 0.952, not below 0.9.
    Consistency may be as low as 0.952, above chance (0.553).
    """

    gates: tuple[GateResult, ...]
    drift: Drift | None = None
    margins: Mapping[str, float] = attrs.field(factory=dict)

    @property
    def is_kept(self) -> bool | None:
        """True if every gate is kept, False if one is missed; None if one cannot be checked."""
        outcomes = {gate.is_kept for gate in self.gates}
        return None if None in outcomes or not outcomes else False not in outcomes

    def __bool__(self) -> bool:
        return self.is_kept is True

    def __len__(self) -> int:
        return len(self.gates)

    def __iter__(self) -> Iterator[GateResult]:
        return iter(self.gates)

    def __getitem__(self, position: int) -> GateResult:
        return self.gates[position]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: every gate, and each measure minus that of the reference."""
        return {
            "is_kept": self.is_kept,
            "gates": [attrs.asdict(gate) for gate in self.gates],
            "reference": None if self.drift is None else self.drift.to_dict(self.margins),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per gate, and one per difference to the reference."""
        rows = [attrs.asdict(gate) for gate in self.gates]
        differences = {} if self.drift is None else self.drift.to_dict(self.margins)["difference"]
        for measure, change in differences.items():
            words = {"gate": "minus the reference", "measure": measure, "limit": change["allowed"]}
            numbers = {name: change[name] for name in ("value", "low", "high", "p_value")}
            rows.append(words | {"words": change["finding"]} | numbers)
        return pd.DataFrame(rows)

    def line(self) -> str:
        """Return how many gates pass."""
        return f"gates passed: {sum(gate.is_kept is True for gate in self.gates)} of {len(self.gates)}"

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return a table of the gates, a sentence for each, and what has changed since the reference."""
        drift = () if self.drift is None else (self.drift.sheet(self.margins),)
        if not self.gates:
            return faithkit.plugin.Sheet.of(None, *drift)
        rows = [(gate.name, OUTCOMES[gate.is_kept]) for gate in self.gates]
        table = faithkit.plugin.Table(("gate", "outcome"), rows, is_numeric=False)
        return faithkit.plugin.Sheet.of(self.line(), table, *map(_sentence, self.gates), *drift)


def _sentence(gate: GateResult) -> str:
    words = gate.unchecked if gate.is_kept is None else f"{gate.words}."
    return f"{words[0].upper()}{words[1:]}"


def judge(
    result: faithkit.Evaluation,
    *,
    consistency: float | None = None,
    sufficiency: float | None = None,
    above_chance: bool = False,
    above_control: bool = False,
    reference: faithkit.Evaluation | None = None,
    as_good: Mapping[str, float] | None = None,
    worse: Mapping[str, float] | None = None,
) -> Judgement:
    """Compare the lower ends of the measures' intervals with limits, chance, the control and a reference.

    A gate cannot be checked, and is neither kept nor missed, if the measure was not taken, if nothing could
    be checked, or if all predictions are the same. The gate of consistency also cannot be checked if each
    prediction has one explanation, unless sufficiency has a limit as well.

    Parameters
    ----------
    result : Evaluation
        What `evaluate`, `score` or `load` returned.
    consistency, sufficiency : float, optional
        The limit that the lower end must reach.
    above_chance : bool
        Whether the lower end must also be above chance. This applies to the measures that have a limit,
        or to all measures if none has.
    above_control : bool
        Whether sufficiency must also be above its control.
    reference : Evaluation, optional
        An earlier result of the same system, on other rows.
    as_good : mapping of str to float, optional
        By measure how much worse than in the reference it may be. A gate is kept if the interval of the
        difference shows that it is not worse by more.
    worse : mapping of str to float, optional
        The same for an alarm: a gate is missed if the interval shows that the measure is worse by more.

    Returns
    -------
    Judgement
        A sequence of `GateResult`, with `to_dict`; it is true if every gate is kept.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
    >>> [gate.is_kept for gate in judge(result, consistency=0.9, above_chance=True)]
    [True, True]
    >>> bool(judge(result, consistency=0.99))
    False
    """
    check_is_result(result, "judge takes")
    limits = check_limits({"consistency": consistency, "sufficiency": sufficiency})
    as_good, worse = (check_limits(margins or {}, "margin") for margins in (as_good, worse))
    if reference is None and (as_good or worse):
        raise faithkit.errors.InputError("a margin needs something to compare with: give a reference.")
    if reference is None and not limits and not above_chance and not above_control:
        raise faithkit.errors.InputError("nothing is judged: give a limit, such as consistency=0.8.")
    gates = judge_limits(result, limits)
    gates += judge_against_chance(result, limits) if above_chance else []
    gates += judge_against_control(result) if above_control else []
    if reference is None:
        return Judgement(tuple(gates))
    check_is_result(reference, "the reference is")
    drift = Drift.of(result, reference)
    gates += [*drift.judge_as_good(as_good), *drift.judge_worse(worse)]
    return Judgement(tuple(gates), drift, {**worse, **as_good})


def check_is_result(value: Any, subject: str) -> None:
    """Refuse what is no result of one system."""
    if not isinstance(value, faithkit.Evaluation):
        raise faithkit.errors.InputError(
            f"{subject} what evaluate, score or load returned, got a {type(value).__name__}: of a "
            "comparison, give one of its `results`."
        )
