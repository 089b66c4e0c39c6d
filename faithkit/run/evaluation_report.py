"""The report of the command line: a result with its violations, subgroups, diagnoses and reference."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import attrs
import pandas as pd

from faithkit.measure import MEASURES
from faithkit.measure.difference import Difference
from faithkit.measure.witnesses import Violation
from faithkit.report.base import Report
from faithkit.report.formats import round_noise
from faithkit.report.sentences import describe_change
from faithkit.report.sheets.sheet import Sheet
from faithkit.run.comparisons.differences import subtract_results, subtract_with_unexplained
from faithkit.run.comparisons.reference import is_fitted_separately
from faithkit.run.comparisons.subgroups import Subgroups
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.diagnostics import Diagnosis, automatic_diagnostics
from faithkit.run.evaluation import Evaluation, compose_page
from faithkit.run.gates import NO_INTERVAL, GateResult, why_unknown
from faithkit.run.result import split_brackets

FOLLOWING_GROUPS = (
    "The groups of {!r} follow the predictions, so rows of one group agree whatever was explained: the "
    "table by predicted label is shown instead."
)


@attrs.frozen(eq=False, repr=False)
class EvaluationReport(Report):
    """An evaluation with its violations, subgroups and diagnoses, and the same system on a reference.

    `allowed` says by measure how much worse than in the reference it may be. `by_label` says whether texts
    show each predicted label, even if none has most of the rows. Texts show diagnoses that were requested;
    others are for --verbose, pages and JSON.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "a"])
    >>> report = EvaluationReport.of(result, violations=1, by=["f", "m", "m"])
    >>> sorted(set(report.to_dict()) - set(result.to_dict()))
    ['diagnostics', 'subgroups', 'violations']
    """

    result: Evaluation
    violations: list[Violation] | None = None
    subgroups: Subgroups[Evaluation] | None = None
    reference: Evaluation | None = None
    allowed: Mapping[str, float] = attrs.field(factory=dict)
    diagnoses: tuple[Diagnosis, ...] = ()
    by_label: bool = False
    has_requested_diagnoses: bool = False

    @classmethod
    def of(
        cls,
        result: Evaluation,
        violations: int | None = None,
        by: Any = None,
        reference: Evaluation | None = None,
        allowed: Mapping[str, float] | None = None,
        diagnostics: Sequence[ResolvedComponent] | None = (),
        by_label: bool = False,
    ) -> "EvaluationReport":
        """Build the report of a result.

        Parts that are None are left out. If `diagnostics` is None, the quick ones run. Groups that follow
        the predictions are replaced by the predicted labels.
        """
        if by_label:
            result.by_label()  # refuses predictions that are no labels
        subgroups = None if by is None else result.by(by)
        if subgroups is not None and subgroups.follow_predictions and result.setup.outcome.has_labels:
            note = FOLLOWING_GROUPS.format(subgroups.name)
            result, subgroups, by_label = attrs.evolve(result, notes=(*result.notes, note)), None, True
        names = automatic_diagnostics(result) if diagnostics is None else diagnostics
        return cls(
            result,
            None if violations is None else result.violations(violations),
            subgroups,
            reference,
            allowed or {},
            tuple(Diagnosis.of(diagnostic.text, result.diagnose(diagnostic)) for diagnostic in names),
            by_label,
            has_requested_diagnoses=diagnostics is not None,
        )

    def drift(self) -> dict[str, Difference]:
        """Return each measure minus that of the reference, by leave-one-out whatever the estimator."""
        if self.reference is None:
            return {}
        return {
            measure: subtract_results(self.result, self.reference, measure, paired=False)
            for measure in MEASURES
            if self.why_not_compared(measure) is None
        }

    def why_not_compared(self, measure: str) -> str | None:
        """Return why a measure cannot be compared with that of the reference; None if it can."""
        assert self.reference is not None
        relation, reference = self.result.relation, self.reference
        if measure not in self.result.measures:
            return self.result.why_no_sufficiency
        if measure not in reference.measures:
            return f"the reference has none ({reference.why_no_sufficiency})"
        if measure == "sufficiency" and relation != reference.relation:
            return f"its relation is {relation} here and {reference.relation} in the reference"
        if measure == "sufficiency" and is_fitted_separately(self.result, reference):
            return f"{relation} learns from the rows it is judged on, which for the reference were others"
        return None

    def judge_as_good(self, margins: Mapping[str, float]) -> list[GateResult]:
        """Check which measures are shown to be at most a margin worse than in the reference.

        A gate is kept if the lower end of the difference's interval is at least −margin.
        """
        return self._judge_changes(margins, lambda difference: difference.low)

    def judge_worse(self, margins: Mapping[str, float]) -> list[GateResult]:
        """Check which measures are shown to be more than a margin worse than in the reference.

        A gate is missed if the upper end of the difference's interval is below −margin. For this, rows of the
        result without an explanation count as not agreeing.
        """
        gates = self._judge_changes(margins, lambda difference: difference.high)
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

    def _judge_changes(
        self, margins: Mapping[str, float], decisive_end: Callable[[Difference], float]
    ) -> list[GateResult]:
        """Compare one end of each difference's interval with its margin."""
        differences, gates = self.drift(), []
        for measure, margin in margins.items():
            difference = differences.get(measure)
            reason = self._why_undecided(measure, difference, margins)
            if difference is None or reason is not None:
                gates.append(GateResult(measure, margin, None, str(reason)))
                continue
            is_kept = bool(round_noise(decisive_end(difference)) >= round_noise(-margin))
            gates.append(GateResult(measure, margin, is_kept, self.sentence(measure, difference, margin)))
        return gates

    def _why_undecided(
        self, measure: str, difference: Difference | None, gated: Collection[str]
    ) -> str | None:
        if difference is None:
            return self.why_not_compared(measure)
        for side, result in self.sides.items():
            if reason := why_unknown(result, measure, gated):
                return f"{side} {reason}"
        return NO_INTERVAL if math.isnan(difference.low) or math.isnan(difference.high) else None

    def to_dict(self, *, include_data: bool = True, by_label: bool = True) -> dict[str, Any]:
        """Return JSON values of the result and of all parts; parameters are as in `Evaluation.to_dict`."""
        payload = self.result.to_dict(include_data=include_data, by_label=by_label)
        payload["diagnostics"] = [diagnosis.saved() for diagnosis in self.diagnoses]
        if self.violations is not None:
            payload["violations"] = [violation.to_dict() for violation in self.violations]
        if self.subgroups is not None:
            payload["subgroups"] = self.subgroups.to_dict()
        if self.reference is not None:
            reference = self.reference.to_dict(include_data=include_data, include_steps=False, by_label=False)
            payload["reference"] = reference | self._differences(self.reference)
        return payload

    def _differences(self, reference: Evaluation) -> dict[str, Any]:
        """Return JSON values: all differences, and why a measure of either sample is not compared."""
        measures = [name for name in MEASURES if name in {**self.result.measures, **reference.measures}]
        reasons = {measure: self.why_not_compared(measure) for measure in measures}
        drift = self.drift().items()
        return {
            "difference": {measure: self.change(measure, difference) for measure, difference in drift},
            "not_compared": {measure: reason for measure, reason in reasons.items() if reason is not None},
        }

    def change(self, measure: str, difference: Difference) -> dict[str, Any]:
        """Return JSON values of a difference: its numbers, how much worse it may be, and a sentence."""
        allowed = self.allowed.get(measure)
        sentence = self.sentence(measure, difference, allowed)
        return attrs.asdict(difference) | {"allowed": allowed, "finding": sentence}

    def sentence(self, measure: str, difference: Difference, margin: float | None) -> str:
        """Say whether a measure is worse than in the reference, by more than a margin if there is one."""
        unchecked = [side for side, result in self.sides.items() if result.measures[measure].verified == 0]
        return describe_change(measure, attrs.asdict(difference), margin, unchecked)

    @property
    def sides(self) -> dict[str, Evaluation]:
        """Both sides of a comparison with a reference."""
        assert self.reference is not None
        return {"here": self.result, "in the reference": self.reference}

    def page(self) -> Sheet:
        """Return the sheet of a page, with all parts."""
        return compose_page(self.result, self.to_dict(), self.violations)

    def with_origin(self, **fields: Any) -> "EvaluationReport":
        """Return the report with a title, a note, …, as `Evaluation.with_origin` does."""
        return attrs.evolve(self, result=self.result.with_origin(**fields))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per sample, subgroup and measure, and one per difference.

        Differences are those of each subgroup to all other rows, and to the reference.
        """
        results: list[tuple[str, Evaluation]] = [("all", self.result)]
        if self.reference is not None:
            results.append(("reference", self.reference))
        if self.subgroups is not None:
            name = self.subgroups.name
            results += [(f"{name} = {group}", result) for group, result in self.subgroups.items()]
        rows: list[dict[str, Any]] = [
            {"rows": name, "measure": measure, "n": result.n, **row}
            for name, result in results
            for measure, row in result.to_frame().to_dict("index").items()
        ]
        rows += self._group_differences()
        rows += self._label_rows() if self.by_label else []
        rows += [
            {"rows": "minus the reference", "bracket": (None, None), "measure": measure}
            | self.change(measure, difference)
            for measure, difference in self.drift().items()
        ]
        return split_brackets(pd.DataFrame(rows).astype({"n": "Int64"}))

    def _group_differences(self) -> list[dict[str, Any]]:
        """Return a row per measure and subgroup that can be compared with the other rows."""
        if self.subgroups is None:
            return []
        numbers = {"difference": "value", "from": "low", "to": "high", "p_value": "p_value"}
        return [
            {
                "rows": f"{self.subgroups.name} = {group} minus the rest",
                "bracket": (None, None),
                "measure": measure,
                **{name: row[column] for column, name in numbers.items()},
            }
            for measure in self.result.measures
            for group, row in self.subgroups.to_frame(measure).to_dict("index").items()
            if pd.notna(row.get("difference"))
        ]

    def _label_rows(self) -> list[dict[str, Any]]:
        """Return a row per measure and predicted label."""
        return [
            {"rows": f"prediction = {label}", "bracket": (None, None), "measure": measure, **part.to_dict()}
            for measure, parts in self.result.by_label().items()
            for label, part in parts.items()
        ]
