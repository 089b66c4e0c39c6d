"""The report of the command line: a result with its contradictions, subgroups and diagnoses."""

from typing import Any

import attrs
import pandas as pd

from faithkit.measure.instances.contradictions import Contradictions
from faithkit.report.base import Report
from faithkit.report.sheet import Sheet
from faithkit.run.comparisons.subgroups import Subgroups
from faithkit.run.evaluation import Evaluation
from faithkit.run.result import split_brackets
from faithkit.run.sheets.results import Answers, result_sheet

FOLLOWING_GROUPS = (
    "The groups of {!r} follow the predictions, so rows of one group agree whatever was explained: the "
    "table by predicted label is shown instead."
)


@attrs.frozen(eq=False, repr=False)
class EvaluationReport(Report):
    """An evaluation with its contradictions and subgroups.

    `by_label` says whether texts show each predicted label, even if none has most of the rows.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "a"])
    >>> report = EvaluationReport.of(result, contradictions=1, by=["f", "m", "m"])
    >>> sorted(set(report.to_dict()) - set(result.to_dict()))
    ['contradictions', 'subgroups']
    """

    result: Evaluation
    contradictions: Contradictions | None = None
    subgroups: Subgroups[Evaluation] | None = None
    by_label: bool = False

    @classmethod
    def of(
        cls,
        result: Evaluation,
        contradictions: int | None = None,
        by: Any = None,
        by_label: bool = False,
    ) -> "EvaluationReport":
        """Build the report of a result.

        Parts that are None are left out. Groups that follow the predictions are replaced by
        the predicted labels.
        """
        if by_label:
            result.by_label()  # refuses predictions that are no labels
        subgroups = None if by is None else result.by(by)
        if subgroups is not None and subgroups.follow_predictions and result.setup.outcome.has_labels:
            note = FOLLOWING_GROUPS.format(subgroups.name)
            result, subgroups, by_label = attrs.evolve(result, notes=(*result.notes, note)), None, True
        return cls(
            result,
            None if contradictions is None else result.contradictions(contradictions),
            subgroups,
            by_label,
        )

    def to_dict(self, *, include_data: bool = True, by_label: bool = True) -> dict[str, Any]:
        """Return JSON values of the result and of all parts; parameters are as in `Evaluation.to_dict`."""
        payload = self.result.to_dict(include_data=include_data, by_label=by_label)
        if self.contradictions is not None:
            payload["contradictions"] = [contradiction.to_dict() for contradiction in self.contradictions]
        if self.subgroups is not None:
            payload["subgroups"] = self.subgroups.to_dict()
        return payload

    @property
    def answers(self) -> Answers:
        """What was asked beside the measures, with the answers."""
        return Answers(
            by_label=self.by_label,
            subgroups=self.subgroups,
            contradictions=self.contradictions,
        )

    def line(self) -> str:
        """Return the system, its size and its measures."""
        return self.result.line()

    def sheet(self) -> Sheet:
        """Return the first screen, or with --verbose all numbers and sentences, and the answers."""
        return result_sheet(self.result, self.answers)

    def page(self) -> Sheet:
        """Return the full report with the answers."""
        return self.result.page_with(self.answers)

    def with_needed(self, needs: tuple[str, ...]) -> "EvaluationReport":
        """Return the report with what a reporter needs."""
        return attrs.evolve(self, result=self.result.with_needed(needs))

    def with_origin(self, **fields: Any) -> "EvaluationReport":
        """Return the report with a title, a note, …, as `Evaluation.with_origin` does."""
        return attrs.evolve(self, result=self.result.with_origin(**fields))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per sample, subgroup and measure, and one per difference.

        Differences are those of each subgroup to all other rows.
        """
        results: list[tuple[str, Evaluation]] = [("all", self.result)]
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
