"""Drift: the same system on an earlier sample, and whether it has got worse."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import attrs

import faithkit
from faithkit_integrations.gate.gates import (
    IF_WORSE,
    MEASURES,
    NO_INTERVAL,
    UNLESS_AS_GOOD,
    GateResult,
    why_unknown,
)
from faithkit_integrations.gate.numbers import DIGITS, count_digits, format_exactly, round_down, round_noise
from faithkit_integrations.gate.reference import check_comparable, is_fitted_separately


@attrs.frozen(eq=False)
class Drift:
    """A result beside an earlier one of the same system.

    Attributes
    ----------
    result, reference : Evaluation
    differences : dict of str to Difference
        Each measure minus that of the reference, by leave-one-out whatever the estimator.
    not_compared : dict of str to str
        Why a measure that one of both has is not compared.

    Examples
    --------
    >>> import faithkit
    >>> labels = ["yes", "no"] * 50
    >>> drift = Drift.of(faithkit.score(labels, labels), faithkit.score(labels * 2, ["same"] * 200))
    >>> drift.differences["consistency"].low > 0
    True
    """

    result: faithkit.Evaluation
    reference: faithkit.Evaluation
    differences: dict[str, faithkit.results.Difference]
    not_compared: dict[str, str]

    @classmethod
    def of(cls, result: faithkit.Evaluation, reference: faithkit.Evaluation) -> "Drift":
        """Compare two results; refuse a reference that is none."""
        check_comparable(result, reference)
        measures = [name for name in MEASURES if name in {**result.measures, **reference.measures}]
        reasons = {measure: _why_not_compared(result, reference, measure) for measure in measures}
        differences = {
            measure: result.difference(reference, measure, paired=False)
            for measure, reason in reasons.items()
            if reason is None
        }
        not_compared = {measure: reason for measure, reason in reasons.items() if reason is not None}
        return cls(result, reference, differences, not_compared)

    @property
    def sides(self) -> dict[str, faithkit.Evaluation]:
        """Both results, by where they are."""
        return {"here": self.result, "in the reference": self.reference}

    def judge_as_good(self, margins: Mapping[str, float]) -> list[GateResult]:
        """Check which measures are shown to be at most a margin worse than in the reference.

        A gate is kept if the lower end of the difference's interval is at least −margin.
        """
        return self._judge(UNLESS_AS_GOOD, margins, lambda difference: difference.low)

    def judge_worse(self, margins: Mapping[str, float]) -> list[GateResult]:
        """Check which measures are shown to be more than a margin worse than in the reference.

        A gate is missed if the upper end of the difference's interval is below −margin. For this, rows of the
        result without an explanation count as not agreeing.
        """
        gates = self._judge(IF_WORSE, margins, lambda difference: difference.high)
        return [self._judge_with_unexplained(gate) if gate.is_kept else gate for gate in gates]

    def _judge_with_unexplained(self, gate: GateResult) -> GateResult:
        """Judge a kept gate again, where rows without an explanation count as not agreeing."""
        margin = gate.limit
        assert margin is not None
        if not self.result.unexplained:
            return gate
        difference = subtract_with_unexplained(self.result, self.reference, gate.measure)
        if round_noise(difference.high) >= round_noise(-margin):
            return gate
        sentence = self.sentence(gate.measure, difference, margin)
        words = f"{sentence}, if rows without an explanation count as not agreeing"
        return attrs.evolve(gate, is_kept=False, words=words)

    def _judge(
        self,
        gate: str,
        margins: Mapping[str, float],
        decisive_end: Callable[[faithkit.results.Difference], float],
    ) -> list[GateResult]:
        """Compare one end of each difference's interval with its margin."""
        gates = []
        for measure, margin in margins.items():
            difference = self.differences.get(measure)
            reason = self._why_undecided(measure, margins)
            if difference is None or reason is not None:
                gates.append(GateResult(gate, measure, margin, None, str(reason)))
                continue
            is_kept = bool(round_noise(decisive_end(difference)) >= round_noise(-margin))
            words = self.sentence(measure, difference, margin)
            gates.append(GateResult(gate, measure, margin, is_kept, words))
        return gates

    def _why_undecided(self, measure: str, gated: Collection[str]) -> str | None:
        difference = self.differences.get(measure)
        if difference is None:
            return self.not_compared.get(measure) or str(self.result.why_no_sufficiency)
        for side, result in self.sides.items():
            if reason := why_unknown(result, measure, gated):
                return f"{side} {reason}"
        return NO_INTERVAL if math.isnan(difference.low) or math.isnan(difference.high) else None

    def sentence(
        self, measure: str, difference: faithkit.results.Difference, margin: float | None = None
    ) -> str:
        """Say whether a measure is worse than in the reference, by more than a margin if there is one."""
        unchecked = [side for side, result in self.sides.items() if result.measures[measure].verified == 0]
        return describe_change(measure, difference, margin, unchecked)

    def to_dict(self, margins: Mapping[str, float]) -> dict[str, Any]:
        """Return JSON values; `margins` says by measure how much worse it may be."""
        difference = {
            measure: attrs.asdict(change)
            | {
                "allowed": margins.get(measure),
                "finding": self.sentence(measure, change, margins.get(measure)),
            }
            for measure, change in self.differences.items()
        }
        return {"n": self.reference.n, "difference": difference, "not_compared": self.not_compared}

    def sheet(self, margins: Mapping[str, float]) -> faithkit.plugin.Sheet:
        """Return a table of both results, with a sentence for each measure; gates say those with a margin."""
        rows = [
            (
                measure,
                *(side.measures[measure].estimate for side in self.sides.values()),
                change,
                "< 0.001" if change.p_value < 0.001 else f"{change.p_value:.3f}",
            )
            for measure, change in self.differences.items()
        ]
        sentences = [
            self.sentence(measure, change)
            for measure, change in self.differences.items()
            if measure not in margins
        ]
        sentences += [f"{measure} was not compared: {why}" for measure, why in self.not_compared.items()]
        n = self.reference.n
        heads = ("measure", "estimate", "reference", "difference", "p")
        return faithkit.plugin.Sheet.of(
            f"compared with the reference, {n:,} instance{'' if n == 1 else 's'}",
            faithkit.plugin.Table.of(heads, rows) if rows else None,
            *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences),
        )


def subtract_with_unexplained(
    result: faithkit.Evaluation, reference: faithkit.Evaluation, measure: str
) -> faithkit.results.Difference:
    """Return the measure of a result minus that of a reference, of other rows.

    Other differences leave open whether rows without an explanation agree. Here those of the result do not,
    so they cannot raise the upper end.

    Examples
    --------
    >>> import faithkit
    >>> labels = ["yes", "no"] * 50
    >>> reference = faithkit.score(labels, labels)
    >>> result = faithkit.score(labels, [*labels[:20], *[None] * 80])
    >>> result.difference(reference, paired=False).high > 0
    True
    >>> subtract_with_unexplained(result, reference, "consistency").high < -0.6
    True
    """
    statistics, earlier = (side.measures[measure].statistics for side in (result, reference))
    assert statistics is not None  # there is a difference, which needs both
    assert earlier is not None
    share = result.unexplained_share
    # without the covariance, which is negative: a row without an explanation disagrees with none
    variance = (statistics.se_disagreement or 0.0) ** 2 + share * (1.0 - share) / statistics.units.effective
    lowered = attrs.evolve(
        statistics, disagreement=statistics.disagreement + share, se_disagreement=math.sqrt(variance)
    )
    return faithkit.plugin.compute_difference(lowered, earlier, result.confidence)


def describe_change(
    measure: str,
    change: faithkit.results.Difference,
    allowed: float | None = None,
    unchecked: Sequence[str] = (),
) -> str:
    """Return a sentence that says whether a measure is worse than in the reference, or by more than a margin.

    Parameters
    ----------
    measure : str
    change : Difference
    allowed : float, optional
    unchecked : sequence of str
        Where nothing could be checked, so that the difference is one of bounds: "here", "in the reference".

    Examples
    --------
    >>> change = faithkit.results.Difference(0.003, -0.0111, 0.0171, confidence=0.95, p_value=0.7)
    >>> describe_change("consistency", change, allowed=0.02)
    'consistency is not worse than in the reference by more than 0.02
    (difference +0.003, 95 % interval −0.012 to +0.018)'
    >>> describe_change("consistency", change, allowed=0.01)
    'consistency may be worse than in the reference by more than 0.01 (difference +0.003, ...)'
    >>> describe_change("consistency", change)
    'consistency is not worse than in the reference by more than 0.012 (difference +0.003, ...)'
    >>> describe_change("consistency", change, unchecked=["here"])
    'consistency is not worse ... −0.012 to +0.018); nothing could be checked here'
    """
    low, high = round_noise(change.low), round_noise(change.high)
    most = _find_excluded_loss(low, high) if allowed is None else round_noise(allowed)
    digits = DIGITS if allowed is None else count_digits(low, -allowed, high)
    difference, interval = faithkit.plugin.format_difference(change.value, low, high, digits)
    numbers = f"(difference {difference}, {100 * change.confidence:g} % interval {interval})"
    if unchecked:
        numbers += f"; nothing could be checked {' and '.join(unchecked)}"
    if allowed is None and low > 0:
        return f"{measure} is better than in the reference {numbers}"
    claim = "is not worse" if low >= -most else "is worse" if high < -most else "may be worse"
    more = f" by more than {format_exactly(most)}" if most else ""
    return f"{measure} {claim} than in the reference{more} {numbers}"


def _find_excluded_loss(low: float, high: float) -> float:
    """Return the loss that the interval rules out; 0 if the measure is worse."""
    return 0.0 if low > 0 or high < 0 else float(-round_down(low))


def _why_not_compared(
    result: faithkit.Evaluation, reference: faithkit.Evaluation, measure: str
) -> str | None:
    """Return why a measure cannot be compared with that of the reference; None if it can."""
    if measure not in result.measures:
        return str(result.why_no_sufficiency)
    if measure not in reference.measures:
        return f"the reference has none ({reference.why_no_sufficiency})"
    if measure == "sufficiency" and result.relation != reference.relation:
        return f"its relation is {result.relation} here and {reference.relation} in the reference"
    if measure == "sufficiency" and is_fitted_separately(result, reference):
        return f"{result.relation} learns from the rows it is judged on, which for the reference were others"
    return None
