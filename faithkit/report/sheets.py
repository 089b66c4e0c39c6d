"""What a notebook shows of a value: a title, tables and sentences, in the words of the terminal's text."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from faithkit.report.formats import Payload, cell, plural
from faithkit.report.told import group_estimates, note, printed_groups
from faithkit.report.views import (
    View,
    alone,
    columns,
    compared_view,
    fragment_view,
    starred,
    subgroup_rows,
)

NAME = 24  # letters that fit into a line beside numbers
MOST_ROWS = 50  # of a table; longer ones are for `to_frame`


@attrs.frozen
class Table:
    """Cells under the names of their columns, which may be none.

    The first column is text, and so is what was found; all others are numbers if the table `is_numeric`.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    is_numeric: bool = True
    name: str | None = None

    @classmethod
    def of(cls, heads: Sequence[str], rows: Iterable[Sequence[Any]], name: str | None = None) -> "Table":
        """Make a table of values, written as every report writes them, under the names of their columns.

        A value is a text; a whole number; a float; the two ends of an interval; a `Difference`; or None.

        Examples
        --------
        >>> Table.of(["measure", "mean", "95 % interval"], [["overlap", 0.61249, (0.5813, 0.6431)]]).rows
        [['overlap', '0.612', '0.581 – 0.644']]
        """
        return cls(heads, [[cell(value) for value in row] for row in rows], name=name)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        rows = [list(row) for row in self.rows]
        return {"name": self.name, "heads": list(self.heads), "rows": rows, "is_numeric": self.is_numeric}

    def is_text(self, place: int) -> bool:
        """Whether a column has words, which are aligned at the left."""
        return not self.is_numeric or place == 0 or self.heads[place] in ("", "finding")

    def style(self, place: int, cell: str | None = None) -> str:
        """Return how a column is aligned, and whether a cell of it must not be broken: a number, a name."""
        is_text = self.is_text(place)
        is_name = place == 0 and cell is not None and len(cell) <= NAME
        is_whole = self.is_numeric and cell is not None and (is_name or not is_text)
        return f"text-align: {'left' if is_text else 'right'}" + ("; white-space: nowrap" if is_whole else "")


@attrs.frozen
class Sheet:
    """A title, if there is one, then tables and sentences in the order in which they are read."""

    title: str | None
    parts: Sequence[Table | str]

    @classmethod
    def of(cls, title: str | None, *parts: Table | str | None) -> "Sheet":
        """Make a sheet of those parts that there are."""
        return cls(title, [part for part in parts if part])

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values.

        Examples
        --------
        >>> sheet = Sheet.of("shap", Table.of(["measure", "mean"], [["overlap", 0.5]]), "Enough.")
        >>> Sheet.from_dict(sheet.to_dict()) == sheet
        True
        """
        parts = [part.to_dict() if isinstance(part, Table) else part for part in self.parts]
        return {"title": self.title, "parts": parts}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Sheet":
        """Rebuild from the output of `to_dict`."""
        parts = [part if isinstance(part, str) else Table(**part) for part in values["parts"]]
        return cls(values["title"], parts)


def diagnostic_sheets(told: Payload) -> list[Sheet]:
    """Return what diagnostics said about a result."""
    return [Sheet.from_dict(diagnosis["sheet"]) for diagnosis in told.get("diagnostics") or ()]


def result_sheet(told: Payload) -> Sheet:
    """Return the measures of a result, and what they mean.

    Examples
    --------
    >>> import faithkit
    >>> sheet = result_sheet(faithkit.score(["yes", "no"], ["a", "a"]).to_dict())
    >>> sheet.title, sheet.parts[0]
    ('logged explanations', '2 instances, 1 distinct explanation')
    """
    shown = fragment_view(told)
    named = shown["columns"]
    table = Table(
        ("measure", *named.values(), "finding"),
        [(one["name"], *_numbers(named, one)) for one in shown["measures"]],
    )
    steps = [f"Next step: {step}" for step in shown["next_steps"]]
    found = [part for sheet in diagnostic_sheets(told) for part in (sheet.title, *sheet.parts)]
    said = [shown["permuted"], *shown["sentences"], *found, *steps]
    title = shown["headline"] + (f" of {shown['model']}" if shown["model"] else "")
    return Sheet.of(title, *shown["facts"], table, *said)


def _numbers(named: Mapping[str, str], row: View) -> list[str]:
    return [*(row[key] for key in named), row["finding"]]


def subgroup_sheet(told: Payload, subgroups: Payload) -> Sheet:
    """Return a line for every group and measure: its numbers, and the difference to everybody else.

    Parameters are those of `subgroup_table`.
    """
    is_any = False
    parts: list[Table | str | None] = []
    for measure, every in subgroups["groups"].items():
        groups = printed_groups(every)
        found = group_estimates(told, groups)
        views = subgroup_rows(groups, found, told)
        is_any |= any(view["sure"] for view in views)
        rows = [_group(columns(told), view) for view in views]
        heads = (subgroups["by"], "n", *columns(told).values(), "minus the rest", "p")
        parts += [Table(heads, rows, name=f"{measure} by {subgroups['by']}"), alone(found)]
    star = starred(is_any, "p is corrected for the number of groups (Holm)")
    return Sheet.of(None, *parts, star, note(told))


def _group(named: Mapping[str, str], row: View) -> list[str]:
    minus = row["difference"] + (f" ({row['between']})" if row["between"] != "–" else "")
    numbers = (row[key] for key in named)
    return [row["name"], row["n"], *numbers, minus, row["p"] + ("*" if row["sure"] else "")]


def comparison_sheet(told: Payload) -> Sheet:
    """Return the systems of a comparison by each measure; those that may be the best are marked."""
    shown = compared_view(told)
    named, parts = shown["columns"], []
    for one in shown["measures"]:
        heads = ("system", *named.values(), "finding", "")
        rows = [(row["name"], *_numbers(named, row), row["mark"]) for row in one["rows"]]
        if rows:
            parts += [*cut(Table(heads, rows, name=one["name"])), one["sentence"], one["permuted"]]
    return Sheet.of(None, *parts, *shown["remarks"])


def cut(table: Table, where: str = "to_frame()") -> list[Table | str]:
    """Return a table as it is, or its first rows and how many more there are.

    Examples
    --------
    >>> short, more = cut(Table(["x"], [["1"]] * 60))
    >>> len(short.rows), more
    (50, '10 more rows: to_frame() has all.')
    """
    more = len(table.rows) - MOST_ROWS
    if more <= 0:
        return [table]
    short = attrs.evolve(table, rows=table.rows[:MOST_ROWS])
    return [short, f"{plural(more, 'more row')}: {where} has all."]


def pairs(named: Mapping[str, Any], name: str | None = None) -> Table:
    """Return a table of names and what belongs to them, without what is None."""
    rows = [(key, str(text)) for key, text in named.items() if text is not None]
    return Table(("", ""), rows, is_numeric=False, name=name)
