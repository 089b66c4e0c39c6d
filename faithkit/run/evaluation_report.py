"""A result and what else was asked about it: what the command line prints, writes and shows in a browser."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pandas as pd

from faithkit.files import written
from faithkit.measure import MEASURES
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.witnesses import Violation
from faithkit.report.changes import finding
from faithkit.report.report import Report
from faithkit.run.comparisons.reference import learnt_apart
from faithkit.run.comparisons.subgroups import Subgroups
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.diagnostics import Diagnosis, automatic
from faithkit.run.evaluation import Evaluation
from faithkit.run.result import with_ends


@attrs.frozen(eq=False, repr=False)
class EvaluationReport(Report):
    """An evaluation with its witnesses, its subgroups, its diagnoses, and the system on a reference.

    `allowed` says for measures how much worse than in the reference they may be.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "a"])
    >>> found = EvaluationReport.of(result, violations=1, by=["f", "f", "m"])
    >>> sorted(set(found.to_dict()) - set(result.to_dict()))
    ['diagnostics', 'subgroups', 'violations']
    """

    result: Evaluation
    violations: list[Violation] | None = None
    subgroups: Subgroups | None = None
    reference: Evaluation | None = None
    allowed: Mapping[str, float] = attrs.field(factory=dict)
    diagnoses: tuple[Diagnosis, ...] = ()

    @classmethod
    def of(
        cls,
        result: Evaluation,
        violations: int | None = None,
        by: Any = None,
        reference: Evaluation | None = None,
        allowed: Mapping[str, float] | None = None,
        diagnostics: Sequence[ResolvedComponent] | None = (),
    ) -> "EvaluationReport":
        """Ask a result for more; what is None is not asked for, except diagnostics: what is quick runs."""
        chosen = automatic(result) if diagnostics is None else diagnostics
        return cls(
            result,
            None if violations is None else result.violations(violations),
            None if by is None else result.by(by),
            reference,
            allowed or {},
            tuple(Diagnosis.of(each.text, result.diagnose(each)) for each in chosen),
        )

    def drift(self) -> dict[str, Difference]:
        """Return each measure minus that of the reference sample, by leave-one-out whatever the estimator."""
        if self.reference is None:
            return {}
        both = [name for name in MEASURES if self.why_not_compared(name) is None]
        return {name: self.result.difference(self.reference, name, paired=False) for name in both}

    def why_not_compared(self, measure: str) -> str | None:
        """Return why a measure cannot be compared with that of the reference; None where it can."""
        assert self.reference is not None
        now, before = self.result, self.reference
        if measure not in now.measures:
            return now.why_no_sufficiency
        if measure not in before.measures:
            return f"the reference has none ({before.why_no_sufficiency})"
        if measure == "sufficiency" and now.relation != before.relation:
            return f"its relation is {now.relation} here and {before.relation} in the reference"
        if measure == "sufficiency" and learnt_apart(now, before):
            return f"{now.relation} learns from the rows it is judged on, which for the reference were others"
        return None

    def to_dict(self, data: bool = True) -> dict[str, Any]:
        """Return the result's JSON values, and what else was asked for; `data` as there."""
        found = self.result.to_dict(data)
        found["diagnostics"] = [diagnosis.saved() for diagnosis in self.diagnoses]
        if self.violations is not None:
            found["violations"] = [violation.to_dict() for violation in self.violations]
        if self.subgroups is not None:
            found["subgroups"] = self.subgroups.to_dict()
        if self.reference is not None:
            found["reference"] = self.reference.to_dict(data, steps=False) | self._compared(self.reference)
        return found

    def _compared(self, reference: Evaluation) -> dict[str, Any]:
        """Return JSON values: all differences, and why a measure that either sample has is not compared."""
        either = [name for name in MEASURES if name in {**self.result.measures, **reference.measures}]
        reasons = {name: self.why_not_compared(name) for name in either}
        return {
            "difference": {name: self.change(name, found) for name, found in self.drift().items()},
            "not_compared": {name: why for name, why in reasons.items() if why is not None},
        }

    def change(self, measure: str, found: Difference) -> dict[str, Any]:
        """Return JSON values of a difference: its numbers, how much worse it may be, and a sentence."""
        allowed = self.allowed.get(measure)
        return attrs.asdict(found) | {"allowed": allowed, "finding": self.sentence(measure, found, allowed)}

    def sentence(self, measure: str, change: Difference, margin: float | None) -> str:
        """Say whether a measure is worse than in the reference, by more than a margin where there is one."""
        unchecked = [where for where, estimate in self.sides(measure).items() if estimate.verified == 0]
        return finding(measure, attrs.asdict(change), margin, unchecked)

    def sides(self, measure: str) -> dict[str, Estimate]:
        """Return both estimates of a measure that is compared, by where they are from."""
        assert self.reference is not None
        return {
            "here": self.result.measures[measure],
            "in the reference": self.reference.measures[measure],
        }

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it to `path` where one is given."""
        from faithkit.report.html import WITNESSES, page

        shown = self.violations
        if shown is None and self.result.counts:  # one that was loaded has no rows to show
            shown = self.result.violations(WITNESSES)
        return written(page(self.to_dict(), shown, self.result.owners), path)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per sample, subgroup and measure; and, of a reference, per difference to it."""
        parts: list[tuple[str, Evaluation]] = [("all", self.result)]
        if self.reference is not None:
            parts.append(("reference", self.reference))
        if self.subgroups is not None:
            parts += [(f"{self.subgroups.name} = {group}", part) for group, part in self.subgroups.items()]
        rows = [
            {"rows": name, "measure": measure, "n": part.n, **row}
            for name, part in parts
            for measure, row in part.to_frame().to_dict("index").items()
        ]
        minus, drift = {"rows": "minus the reference", "bracket": (None, None)}, self.drift()
        rows += [minus | {"measure": name} | self.change(name, found) for name, found in drift.items()]
        return with_ends(pd.DataFrame(rows).astype({"n": "Int64"}))
