"""Rows of the sample as reports name and show them."""

from typing import Any

import attrs
from numpy.typing import NDArray

from faithkit.jsonable import to_json_value
from faithkit.measure.instances.explanation_view import ExplanationView
from faithkit.measure.instances.parts import TEXT
from faithkit.measure.instances.shown_explanations import mark_in_line, mark_words
from faithkit.report.base import Displayable
from faithkit.report.formats import format_predictions
from faithkit.report.sheet import Sheet, Table
from faithkit.wording import value_text

MAX_VALUES = 8  # of a row in a line


@attrs.frozen
class RowId:
    """The identifier of a row: the column that names it and its value there, such as customer 4711."""

    column: str
    value: Any

    def __str__(self) -> str:
        return f"{self.column} {self.value}"


def id_value(row_id: RowId | None) -> Any:
    """Return the JSON value of a row's identifier; None where it has none."""
    return None if row_id is None else to_json_value(row_id.value)


@attrs.frozen(repr=False)
class SampleRow(Displayable):
    """One row of the sample: its position, its prediction, and its values (None if X is unknown).

    A row that is `in_pool` was not explained, and `row` is its position in the pool. `id` is its identifier,
    if there is one. `image` is the row itself, if it has several axes.
    """

    row: int
    prediction: Any
    values: dict[str, Any] | None
    in_pool: bool = False
    id: RowId | None = None
    image: NDArray[Any] | None = attrs.field(default=None, eq=False)

    @property
    def place(self) -> str:
        """The position of the row, and its identifier."""
        row_name = f"row {self.row} of the pool" if self.in_pool else f"row {self.row}"
        return row_name if self.id is None else f"{row_name} ({self.id})"

    def line(self, prediction: str | None = None, view: ExplanationView | None = None) -> str:
        """Return the row, its prediction, and its first values if known.

        `prediction` is its text, if another one than usual is needed to tell two apart. What an explanation
        names is marked.

        Examples
        --------
        >>> SampleRow(3, "yes", {"age": 31, "job": None}).line()
        'row 3 → yes: age = 31, job = missing'
        """
        return self.head(prediction) + list_values(self.values, view)

    def head(self, prediction: str | None = None) -> str:
        """Return the row and its prediction."""
        return f"{self.place} → {prediction or format_predictions(self.prediction)[0]}"

    def sheet(self) -> Sheet:
        """Return the row, its prediction and all its values."""
        table = Table.of_pairs({name: value_text(value) for name, value in (self.values or {}).items()})
        return Sheet.of(self.head(), *(table.cut("values") if table.rows else ()))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "row": self.row,
            "id": id_value(self.id),
            "in_pool": self.in_pool,
            "prediction": to_json_value(self.prediction),
            "values": self.values,
        }


def list_values(values: dict[str, Any] | None, view: ExplanationView | None = None) -> str:
    """Return the first values of a row after a colon; empty if unknown.

    The words of a text that an explanation names are marked. The values that a rule names end with "; also".
    """
    if not values:
        return ""
    if list(values) == [TEXT] and view is not None:
        return f": {mark_in_line(mark_words(value_text(values[TEXT]), view))}"
    shown = list(values.items())[:MAX_VALUES]
    named_columns = set(view.named_columns) if view is not None and view.conditions else set()
    parts = [
        ", ".join(
            f"{name} = {value_text(value)}" for name, value in shown if (name in named_columns) == is_named
        )
        for is_named in (True, False)
    ]
    return f": {'; also '.join(filter(None, parts))}" + (", …" if len(values) > MAX_VALUES else "")
