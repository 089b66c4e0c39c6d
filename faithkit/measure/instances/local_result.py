"""Both measures of one instance, with its prediction, its explanation and the rows that contradict it."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from numpy.typing import NDArray

from faithkit.jsonable import SCHEMA, to_json_value
from faithkit.measure.instances.explanation_view import ExplanationView
from faithkit.measure.instances.local_estimate import LocalEstimate
from faithkit.measure.instances.parts import TEXT
from faithkit.measure.instances.rows import RowId, SampleRow, id_value, list_values
from faithkit.measure.instances.shown_explanations import (
    MAX_NAMED,
    describe_weights,
    mark_rows,
    show_explanation,
)
from faithkit.report.base import Report
from faithkit.report.formats import (
    format_interval,
    format_number,
    format_percent,
    format_predictions,
    pluralize,
    shorten,
)
from faithkit.report.sheet import Bullets, Sheet, Table
from faithkit.wording import join_few

LETTERS = 60  # of an explanation in a line
COLUMNS = ("value", "interval", "holds for", "agree", "others get", "±")


@attrs.frozen(repr=False, kw_only=True)
class LocalResult(Report):
    """Both measures of one instance, with its prediction and explanation.

    Attributes
    ----------
    prediction : label
    explanation : str
        The explanation in readable form.
    consistency, sufficiency : LocalEstimate
        `sufficiency` is None where the evaluation has none.
    shared_by : tuple of int
        The *other* rows of the sample that have this explanation.
    values : dict or None
        The values of the instance in the columns that the model sees.
    contradicted_by : tuple of SampleRow
        At most three rows to which the explanation applies and that have another prediction, the nearest
        first. For numbers and scores, those that agree least.
    id : RowId or None
        The identifier of the instance, if there is one.
    shared_ids : tuple of RowId or None
        The identifiers of the other rows, in the order of `shared_by`.
    view : ExplanationView or None
        The explanation taken apart, for reports.
    image : array or None
        The instance itself, if it has several axes.
    row : int or None
        The number of the instance in the sample; None for a new one.
    """

    prediction: Any
    explanation: str
    consistency: LocalEstimate
    sufficiency: LocalEstimate | None
    shared_by: tuple[int, ...]
    values: dict[str, Any] | None
    contradicted_by: tuple[SampleRow, ...] = ()
    id: RowId | None = None
    shared_ids: tuple[RowId | None, ...] = ()
    view: ExplanationView | None = None
    image: NDArray[Any] | None = attrs.field(default=None, eq=False)
    row: int | None = None

    @property
    def shown(self) -> ExplanationView:
        """The explanation taken apart, or all of it as a text."""
        return self.view or ExplanationView(self.explanation)

    @property
    def measures(self) -> dict[str, LocalEstimate]:
        """The estimates by measure; sufficiency is absent where it was not measured."""
        both = {"consistency": self.consistency, "sufficiency": self.sufficiency}
        return {name: estimate for name, estimate in both.items() if estimate is not None}

    def line(self) -> str:
        """Return the prediction, the explanation and both values."""
        values = (f"{name} {format_number(estimate.value)}" for name, estimate in self.measures.items())
        return f"{self._label}, explained by {shorten(self.explanation, LETTERS)}: {', '.join(values)}"

    def sheet(self) -> Sheet:
        """Return the row, its explanation, both measures, and the rows that share or contradict it."""
        table = Sheet(None, [self._table(), self._sharers()])
        rows = [sample_row.line(view=self.view) for sample_row in self.contradicted_by]
        contradictions = Sheet("Rows that contradict it:", [Bullets(rows)]) if rows else None
        return Sheet.of(None, *self._description(), table, contradictions)

    def page(self) -> Sheet:
        """Return a page about one decision: the explanation, its measures, and what contradicts it."""
        scope = "with this explanation" if self.sufficiency is None else "to which this explanation applies"
        sharers = self._sharers() if self.shared_by or self.sufficiency is not None else None
        name = "Row" if self.row is None else f"Row {self.row}"
        return Sheet.of(
            name if self.id is None else str(self.id),
            f"Prediction: {self._label}",
            Sheet.of("Explanation", *self._explanation()),
            Sheet.of("How far it can be trusted", _trust_sentence(self._decisive, scope), sharers),
            Sheet.of("What contradicts it", *self._contradictions()),
            Sheet.of("The numbers", self._table()),
        )

    @property
    def _label(self) -> str:
        return format_predictions(self.prediction)[0]

    @property
    def _decisive(self) -> LocalEstimate:
        """Sufficiency if it was measured, else consistency."""
        return self.consistency if self.sufficiency is None else self.sufficiency

    @property
    def _is_swapped(self) -> bool:
        """Whether the explanation supports another class than the predicted one."""
        return any(
            self.shown.speaks_for == format_predictions(row.prediction)[0] for row in self.contradicted_by
        )

    def _description(self) -> list[str]:
        """Return the row, its prediction and its explanation."""
        row = "" if self.row is None else f"row {self.row}"
        name = row if self.id is None else f"{row} ({self.id})" if row else str(self.id)
        instance = f"{name}{list_values(self.values, self.view)}".removeprefix(": ")
        lines = [f"prediction: {self._label}", f"explanation: {describe_weights(self.shown)}"]
        return [instance, *lines] if instance else lines

    def _table(self) -> Table:
        """Return both measures: how many rows agree, and for numbers the predictions of the others."""
        rows = {name: estimate.texts() for name, estimate in self.measures.items()}
        columns = [name for name in COLUMNS if any(texts[name] is not None for texts in rows.values())]
        lines = [(measure, *(texts[name] or "–" for name in columns)) for measure, texts in rows.items()]
        return Table(("measure", *columns), lines)

    def _sharers(self) -> str:
        """Return the rows that have the same explanation."""
        if not self.shared_by:
            return "No other row of the sample has this explanation."
        ids = self.shared_ids or (None,) * len(self.shared_by)
        rows = join_few(
            f"{row}" if id is None else f"{row} ({id})" for row, id in zip(self.shared_by, ids, strict=True)
        )
        verb = "shares" if len(self.shared_by) == 1 else "share"
        return f"{pluralize(len(self.shared_by), 'other row')} of the sample {verb} it: {rows}."

    def _explanation(self) -> list[Any]:
        """Return the explanation, and below it the row with marks on what it names."""
        view = self.shown
        named_columns = (
            set(view.named_columns)
            if view.conditions
            else {weight.name for weight in view.weights[:MAX_NAMED]}
        )
        values = {
            name: value
            for name, value in (self.values or {}).items()
            if name in named_columns or name == TEXT
        }
        row = mark_rows(view, [f"this one → {self._label}"], [values], [self.image], self._is_swapped)
        shown = show_explanation(view, is_swapped=self._is_swapped)
        return [shown, row] if row.values or row.images else [shown]

    def _contradictions(self) -> list[Any]:
        """Return the rows that contradict the explanation beside this one, or why there are none."""
        if self._decisive.value is None:
            return ["It was compared with no other row, so nothing could contradict it."]
        if not self.contradicted_by:
            return ["No other row of the sample that it was compared with gets another prediction."]
        view, pair = self.shown, self.contradicted_by
        heads = [sample_row.head() for sample_row in pair]
        all_values = [values or {} for values in (self.values, *(row.values for row in pair))]
        named_columns = set(view.named_columns if view.conditions else ())
        names = sorted(
            all_values[0], key=lambda name: name not in named_columns and _is_same(name, all_values)
        )
        values = [{name: row.get(name) for name in names} for row in all_values]
        images = [self.image, *(row.image for row in pair)]
        table = mark_rows(view, [f"this one → {self._label}", *heads], values, images, self._is_swapped)
        return [table] if table.values or table.images else [", ".join(heads)]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        fields = attrs.asdict(self, filter=lambda field, _: field.name not in ("view", "image", "row"))
        return (
            {"schema": SCHEMA}
            | fields
            | {
                "prediction": to_json_value(self.prediction),
                "shared_by": list(self.shared_by),
                "contradicted_by": [sample_row.to_dict() for sample_row in self.contradicted_by],
                "id": id_value(self.id),
                "shared_ids": [id_value(row_id) for row_id in self.shared_ids],
            }
        )


def _trust_sentence(estimate: LocalEstimate, scope: str) -> str:
    """Return how many other rows agree, and how sure that is."""
    if estimate.value is None:
        return f"There is no other row {scope}, so nothing is known of its truth."
    if estimate.agree is None or estimate.low is None:
        return f"Predictions of other rows {scope} agree with this one to {format_number(estimate.value)}."
    interval = format_interval(estimate.low, estimate.high)
    return (
        f"Of the other rows {scope}, {format_percent(estimate.value)} get the same prediction (interval "
        f"{interval})."
    )


def _is_same(name: str, all_values: Sequence[Mapping[str, Any]]) -> bool:
    return all(values.get(name) == all_values[0][name] for values in all_values)
