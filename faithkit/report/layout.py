"""Tables and sentences laid out for a terminal of 80 columns, without colours."""

import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from faithkit.report.formats import unbroken
from faithkit.report.sheets import Sheet, Table
from faithkit.report.views import View
from faithkit.wording import visible

WIDTH = 80
# letters in a line of a column's name, of some columns, of others, and of one word; of a sheet's columns
NARROW, USUAL, LONGEST, HEAD = {"interval": 8, "agree": 13}, 7, 12, 16
LEAST = 12  # letters of a name in a line
GAP = 2  # between columns


def printed(*parts: Any) -> str:
    """Lay out tables and text without colours or trailing blanks."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, width=WIDTH, color_system=None, highlight=False)
    for part in parts:
        console.print(_plain(part) if isinstance(part, str) else part)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().replace("\u00a0", " ").splitlines())


def new_table(*names: str, left: tuple[str, ...], folding: tuple[str, ...] = ()) -> Any:
    """Return a table; the first of the columns at the left, and those that fold, are wrapped if need be."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        justify: Any = "left" if name in left else "right"
        whole = name not in (*left[:1], *folding)
        table.add_column(_plain(name, keep="\n"), justify=justify, no_wrap=whole, overflow="fold")
    return table


def measured_table(
    first: tuple[str, ...], named: dict[str, str], rows: list[tuple[list[str], View]], place: int = 0
) -> Any:
    """Return a table of estimates, one in a row: cells that say which, under `first`, and its numbers.

    At a place among the former are names, which have the room that all others leave.
    """
    folded = {key: _folded(text, NARROW.get(key, USUAL)) for key, text in named.items()}
    heads = [*first, *folded.values()]
    cells = [[*which, *(shown[key].replace(" %", "\u00a0%") for key in named)] for which, shown in rows]
    table = new_table(*heads, left=(first[place], ""), folding=(folded["agree"],))
    others = [column for i, column in enumerate(zip(heads, *cells, strict=True)) if i != place]
    room = max(LEAST, WIDTH - sum(map(_width, others)) - GAP * len(others))
    for row in cells:
        row[place] = _broken(visible(row[place]), room)
        table.add_row(*(_plain(cell, keep="\n") for cell in row))
    return table


def _folded(name: str, width: int) -> str:
    lines = textwrap.wrap(visible(name), width, break_long_words=False)
    return "\n".join(part for line in lines for part in textwrap.wrap(line, max(width, LONGEST)))


def _width(column: Iterable[str]) -> int:
    return max(len(line) for text in column for line in text.split("\n"))


def _broken(name: str, room: int) -> str:
    """Break a name that is too long where a person would: after a blank or a sign."""
    lines = [""]
    for piece in re.findall(r".+?(?:[-:,=/ ]+|$)", name):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def add_row(table: Any, *cells: str) -> None:
    """Add a row of texts."""
    table.add_row(*map(_plain, cells))


def _plain(text: str, keep: str = "") -> Any:
    """Return text as it stands: what looks like markup in data is none, and no terminal obeys it."""
    from rich.text import Text

    return Text(visible(text, keep))


def wrapped(sentence: str) -> str:
    """Break at 80 columns, but never between a number and its sign."""
    return textwrap.fill(unbroken(visible(sentence)), WIDTH).replace("\u00a0", " ")


def paragraphs(told: Sequence[str | None]) -> str:
    """Return sentences, each on lines of its own; None is left out."""
    return "".join(f"{wrapped(line)}\n" for line in told if line)


def indented(line: str, more: str) -> str:
    """Break a line at 80 columns, and begin the next ones with blanks."""
    return textwrap.fill(visible(line), WIDTH, subsequent_indent=more)


def sheet_text(sheet: Sheet) -> str:
    """Return a sheet without a text of its own.

    Examples
    --------
    >>> print(sheet_text(Sheet("Monday", [Table(("", ""), [("rows", "500")], is_numeric=False), "Enough."])))
    Monday
    rows  500
    Enough.
    <BLANKLINE>
    """
    parts = [_laid_out(part) if isinstance(part, Table) else paragraphs([part]) for part in sheet.parts]
    return paragraphs([sheet.title]) + "".join(parts)


def _laid_out(table: Table) -> str:
    if not any(table.heads):
        return _aligned(table)
    first, *others = table.heads
    shown = new_table(first, *(_folded(head, HEAD) for head in others), left=(first, "finding"))
    for row in table.rows:
        add_row(shown, *row)
    return paragraphs([table.name]) + printed(shown)


def _aligned(table: Table) -> str:
    """Return names and what belongs to them, one pair in a line."""
    room = max((len(visible(row[0])) for row in table.rows), default=0)
    rows = (f"{visible(row[0]):<{room}}  {'  '.join(row[1:])}" for row in table.rows)
    return "".join(f"{indented(row, ' ' * (room + GAP))}\n" for row in rows)
