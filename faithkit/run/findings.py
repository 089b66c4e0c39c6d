"""A result and what else was asked about it: what the command line prints, writes and shows in a browser."""

from pathlib import Path
from typing import Any

import attrs
import pandas as pd

from faithkit.files import written
from faithkit.jsonable import json_text
from faithkit.measure import MEASURES
from faithkit.measure.difference import Difference
from faithkit.measure.witnesses import Violation
from faithkit.run.evaluation import Evaluation, with_ends
from faithkit.run.subgroups import Subgroups


@attrs.frozen(eq=False)
class Findings:
    """An evaluation with its witnesses, its subgroups, and the same system on a reference sample.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "a"])
    >>> found = Findings.of(result, violations=1, by=["f", "f", "m"])
    >>> sorted(set(found.to_dict()) - set(result.to_dict()))
    ['subgroups', 'violations']
    """

    result: Evaluation
    violations: list[Violation] | None = None
    subgroups: Subgroups | None = None
    reference: Evaluation | None = None

    @classmethod
    def of(
        cls,
        result: Evaluation,
        violations: int | None = None,
        by: Any = None,
        reference: Evaluation | None = None,
        adjust: str = "holm",
    ) -> "Findings":
        """Ask a result for more; what is None is not asked for."""
        return cls(
            result,
            None if violations is None else result.violations(violations),
            None if by is None else result.by(by, adjust),
            reference,
        )

    def drift(self) -> dict[str, Difference]:
        """Return each measure minus that of the reference sample, by leave-one-out whatever the estimator."""
        if self.reference is None:
            return {}
        both = [name for name in MEASURES if getattr(self.result, name) and getattr(self.reference, name)]
        return {name: self.result.difference(self.reference, name, paired=False) for name in both}

    def to_dict(self, data: bool = True) -> dict[str, Any]:
        """Return the result's JSON values, and what else was asked for; `data` as there."""
        found = self.result.to_dict(data)
        if self.violations is not None:
            found["violations"] = [violation.to_dict() for violation in self.violations]
        if self.subgroups is not None:
            found["subgroups"] = self.subgroups.to_dict()
        if self.reference is not None:
            drift = {name: attrs.asdict(difference) for name, difference in self.drift().items()}
            found["reference"] = {**self.reference.to_dict(data), "difference": drift}
        return found

    def to_json(self) -> str:
        """Return JSON text; the same question gives the same bytes."""
        return json_text(self.to_dict())

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it to `path` where one is given."""
        from faithkit.report.html import WITNESSES, page

        shown = self.violations
        if shown is None and self.result.counts:  # one that was loaded has no rows to show
            shown = self.result.violations(WITNESSES)
        return written(page(self.to_dict(), shown, self.result.slots), path)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per sample, subgroup and measure."""
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
        return with_ends(pd.DataFrame(rows))

    def __repr__(self) -> str:
        from faithkit.report.text import summary

        return summary(self.to_dict(data=False), self.violations)
