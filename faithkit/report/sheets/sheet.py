"""The view model of every report: a sheet of sentences, tables, drawings and further sheets.

The same sheet is printed in a terminal (`faithkit.report.text`), and shown in a notebook and on a page
(faithkit-html).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import attrs

from faithkit.report.formats import format_value, pluralize

NAME_WIDTH = 24  # letters of a name that fit into a line beside numbers
SHORT = 8  # letters that are never broken into two lines
TEXT = "text"  # the only value of a row that is a text
MAX_ROWS = 50  # of a table; longer ones are for `to_frame`


@attrs.frozen
class Table:
    """Rows of texts under column headings, which may be empty.

    The column of names and the finding are texts; all others are numbers if the table `is_numeric`. A
    terminal leaves out the columns in `wide`.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    is_numeric: bool = True
    name: str | None = None
    wide: Sequence[str] = ()

    @classmethod
    def of(cls, heads: Sequence[str], rows: Iterable[Sequence[Any]], name: str | None = None) -> "Table":
        """Format values as every report does, and put them under the names of their columns.

        A value is a text; a whole number; a float; the two ends of an interval; a `Difference`; or None.

        Examples
        --------
        >>> Table.of(["measure", "mean", "95 % interval"], [["overlap", 0.61249, (0.5813, 0.6431)]]).rows
        [['overlap', '0.612', '0.581 – 0.644']]
        """
        return cls(heads, [[format_value(value) for value in row] for row in rows], name=name)

    @classmethod
    def of_pairs(cls, pairs: Mapping[str, Any]) -> "Table":
        """Return a table of names and values without headings; None values are left out."""
        rows = [(key, str(value)) for key, value in pairs.items() if value is not None]
        return cls(("", ""), rows, is_numeric=False)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        rows = [list(row) for row in self.rows]
        return {"name": self.name, "heads": list(self.heads), "rows": rows, "is_numeric": self.is_numeric}

    @property
    def name_column(self) -> int:
        """Return the position of the column of names: the first with a heading."""
        return next((position for position, head in enumerate(self.heads) if head), 0)

    def is_text(self, column: int) -> bool:
        """Return whether a column holds words, which are aligned at the left."""
        return not self.is_numeric or column <= self.name_column or self.heads[column] in ("", "finding")

    def style(self, column: int, text: str | None = None) -> str:
        """Return the CSS of a value: how it is aligned, and whether its line may break."""
        is_text = self.is_text(column)
        is_name = column == self.name_column and text is not None and len(text) <= NAME_WIDTH
        is_short = text is not None and len(text) <= SHORT
        is_unbroken = is_short or (self.is_numeric and text is not None and (is_name or not is_text))
        alignment = f"text-align: {'left' if is_text else 'right'}"
        return f"{alignment}; white-space: nowrap" if is_unbroken else alignment

    def without(self, columns: Sequence[str]) -> "Table":
        """Return the table without some columns."""
        positions = [position for position, head in enumerate(self.heads) if head not in columns]
        rows = [[row[position] for position in positions] for row in self.rows]
        return attrs.evolve(self, heads=[self.heads[position] for position in positions], rows=rows, wide=())

    def cut(self, source: str = "to_frame()") -> "list[Table | str]":
        """Return the table, or its first rows and a sentence that counts the others.

        Examples
        --------
        >>> short, sentence = Table(["x"], [["1"]] * 60).cut()
        >>> len(short.rows), sentence
        (50, '10 more rows: to_frame() has all.')
        """
        n_cut = len(self.rows) - MAX_ROWS
        if n_cut <= 0:
            return [self]
        short = attrs.evolve(self, rows=self.rows[:MAX_ROWS])
        return [short, f"{pluralize(n_cut, 'more row')}: {source} has all."]


@attrs.frozen
class Exploration:
    """A long table that readers of a page sort, filter and search; only a page shows it.

    A row has a name, numbers with their texts (None with a dash where there is none), and lines of text.
    """

    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[float | None, str]], Sequence[str]]]


@attrs.frozen(eq=False)
class Drawing:
    """The name of a figure and what it is drawn from, for a page; a terminal leaves it out."""

    figure: str
    values: Sequence[Any]


@attrs.frozen
class Bullets:
    """A list of sentences."""

    sentences: Sequence[str]


@attrs.frozen
class Lead:
    """A sentence that readers look for, after a word in bold: the verdict, or the next step."""

    word: str
    sentence: str


@attrs.frozen
class WeightBar:
    """A weight: its name and number, and where its bar starts and how long it is, as shares."""

    name: str
    number: str
    start: float
    length: float
    is_for: bool


@attrs.frozen
class ShownExplanation:
    """An explanation as reports show it.

    Parameters
    ----------
    sentence : str
        In words, for a terminal and a notebook.
    title : str
        What stands over the bars on a page.
    bars : sequence of WeightBar
        The largest weights.
    ends : tuple of str
        What bars to the left and to the right mean.
    scope : str or None
        Where it applies, if it is not a rule itself.
    full : str or None
        All of it, if the rest does not say all.
    is_swapped : bool
        Whether it speaks for the prediction of the second row, whose colour it then has.
    """

    sentence: str
    title: str
    bars: Sequence[WeightBar] = ()
    ends: tuple[str, str] = ("", "")
    scope: str | None = None
    full: str | None = None
    is_swapped: bool = False


Pieces = Sequence[tuple[str, str]]
"""A text in pieces, each with its marks: "named", "differs", "for" and "against", or none."""


@attrs.frozen
class RowTable:
    """Rows side by side, with marks on what an explanation names and on what differs.

    Parameters
    ----------
    heads : sequence of str
        Each row and its prediction.
    values : sequence of (str, bool, sequence of Pieces)
        The name of each column, or its condition; whether the explanation names it; and its values.
    images : sequence of arrays
        The rows themselves, if they have several axes: a page draws those that are images.
    outlines : sequence of (Box, bool)
        The patches that an explanation names, and whether they speak for the class.
    caption : str
        What the marks mean.
    is_swapped : bool
        As for `ShownExplanation`.
    """

    heads: Sequence[str]
    values: Sequence[tuple[str, bool, Sequence[Pieces]]] = ()
    images: Sequence[Any] = ()
    outlines: Sequence[tuple[Any, bool]] = ()
    caption: str = ""
    is_swapped: bool = False

    @property
    def has_names(self) -> bool:
        """Whether values have meaningful names; a row that is a text or an image has none."""
        return bool(self.values) and [name for name, *_ in self.values] != [TEXT]


@attrs.frozen
class Contradiction:
    """An explanation that misleads, and two rows side by side that show it.

    Parameters
    ----------
    explanation : ShownExplanation
    scope : str
        How many instances the explanation holds for, and their predictions.
    lines : sequence of str
        Both rows, one in a line, for a terminal.
    rows : RowTable
    bar : tuple of float or None
        Where the bar of the first prediction starts and how long it is, as shares.
    """

    explanation: ShownExplanation
    scope: str
    lines: Sequence[str]
    rows: RowTable
    bar: tuple[float, float] | None = None


Part = Union[
    str, Table, Exploration, Drawing, Bullets, Lead, ShownExplanation, RowTable, Contradiction, "Sheet"
]


@attrs.frozen
class Sheet:
    """A title, if there is one, and parts in the order in which they are read.

    A part is a sentence, a table or, in reports of the kernel, a figure, a list, a contradiction or a further
    sheet, which is a section. A page folds a sheet that `is_folded`.
    """

    title: str | None
    parts: Sequence[Part]
    is_folded: bool = False

    @classmethod
    def of(cls, title: str | None, *parts: Part | None) -> "Sheet":
        """Build a sheet from the parts that are not empty."""
        return cls(title, [part for part in parts if part])

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values of a sheet of sentences and tables.

        Examples
        --------
        >>> sheet = Sheet.of("shap", Table.of(["measure", "mean"], [["overlap", 0.5]]), "Enough.")
        >>> Sheet.from_dict(sheet.to_dict()) == sheet
        True
        """
        parts = [part.to_dict() if isinstance(part, Table) else part for part in self.parts]
        return {"title": self.title, "parts": parts}

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "Sheet":
        """Rebuild from the output of `to_dict`."""
        parts = [part if isinstance(part, str) else Table(**part) for part in payload["parts"]]
        return cls(payload["title"], parts)
