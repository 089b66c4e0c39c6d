"""The view model of every report: a sheet of sentences, tables, lists and further sheets.

Every part says how it is printed in a terminal. Reporters for other media walk the same sheet; who draws
pictures finds in `Sheet.shows` what there is to draw.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, Union

import attrs

from faithkit.report.formats import format_value, pluralize
from faithkit.report.text import format_columns, format_pairs, wrap

NAME_WIDTH = 24  # letters of a name that fit into a line beside numbers
SHORT = 8  # letters that are never broken into two lines
MAX_ROWS = 50  # of a table; longer ones are for `to_frame`


class Part(Protocol):
    """A part of a sheet that is no sentence."""

    def text(self) -> str:
        """Return the lines that a terminal shows; empty for what only a page shows."""


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

    def text(self) -> str:
        """Return the lines of the table, without the columns in `wide`.

        Examples
        --------
        >>> print(Table(("", ""), [("rows", "500")], is_numeric=False).text(), end="")
        rows  500
        """
        if self.wide:
            return self.without(self.wide).text()
        name = f"{wrap(self.name)}\n" if self.name else ""
        if not any(self.heads):
            return name + format_pairs(self.rows)
        return name + format_columns(self.heads, self.rows, self.name_column, self.is_text)

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

    def text(self) -> str:
        """Return nothing: a terminal cannot sort."""
        return ""


@attrs.frozen(eq=False)
class Levels:
    """Estimates with their intervals by name, which a page draws below each other.

    Attributes
    ----------
    estimates : mapping of str to estimate or None
    best : collection of str, optional
        Those that are highlighted.
    sizes : sequence of int, optional
        The number of rows of each, if they are groups: a page draws the largest.
    """

    estimates: Mapping[str, Any]
    best: Collection[str] | None = None
    sizes: Sequence[int] | None = None


@attrs.frozen
class Bullets:
    """A list of sentences."""

    sentences: Sequence[str]

    def text(self) -> str:
        """Return one sentence after the other, each after a dash."""
        return "".join(f"{wrap(f'  - {sentence}', '    ')}\n" for sentence in self.sentences)


@attrs.frozen
class Lead:
    """A sentence that readers look for, after a word in bold: the verdict, or the next step."""

    word: str
    sentence: str

    def text(self) -> str:
        """Return the sentence after its word."""
        return f"{wrap(f'{self.word}: {self.sentence}')}\n"


@attrs.frozen
class Sheet:
    """A title, if there is one, and parts in the order in which they are read.

    A part is a sentence, a table or, in reports of the kernel, a list or a further sheet, which is a
    section. A page folds a sheet that `is_folded`. `shows` is the object that the sheet is about,
    if a page can draw more of it: a result, `Levels`, the overview of explanations.
    """

    title: str | None
    parts: Sequence[Union[str, Part, "Sheet"]]
    is_folded: bool = False
    shows: Any = attrs.field(default=None, eq=False, repr=False, kw_only=True)

    @classmethod
    def of(cls, title: str | None, *parts: "str | Part | Sheet | None", shows: Any = None) -> "Sheet":
        """Build a sheet from the parts that are not empty."""
        return cls(title, [part for part in parts if part], shows=shows)

    def text(self) -> str:
        """Return the lines of the sheet; a blank line comes before every section.

        Examples
        --------
        >>> table = Table(("", ""), [("rows", "500")], is_numeric=False)
        >>> print(Sheet("Monday", [table, Sheet("Tuesday", ["Enough."])]).text(), end="")
        Monday
        rows  500
        <BLANKLINE>
        Tuesday
        Enough.
        """
        lines = "".join(map(_part_text, self.parts))
        return f"{wrap(self.title)}\n{lines}" if self.title else lines.removeprefix("\n")

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


def _part_text(part: str | Part | Sheet) -> str:
    if isinstance(part, str):
        return f"{wrap(part)}\n"
    text = part.text()
    return f"\n{text}" if text and isinstance(part, Sheet) else text


def provenance_sheet(facts: Mapping[str, str | None], versions: Mapping[str, str]) -> Sheet:
    """Return everything that the numbers depend on; unknown facts are left out."""
    sentence = "The same question, asked with these, gives the same page."
    libraries = Table.of_pairs(versions) if versions else None
    return Sheet.of("Provenance", sentence, Table.of_pairs(facts), libraries)
