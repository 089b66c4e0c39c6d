"""Print a sheet in a terminal of 80 columns, without colours."""

import io
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from faithkit.report.formats import keep_together
from faithkit.report.sheets.sheet import (
    Bullets,
    Contradiction,
    Drawing,
    Exploration,
    Lead,
    RowTable,
    Sheet,
    ShownExplanation,
    Table,
)
from faithkit.wording import to_printable

WIDTH = 80
MIN_NAME = 12  # letters of a name in a line
MAX_HEAD_LINES = 4
LONGEST = 14  # letters of a word in a folded head
GAP = 2  # between columns; 1 in a table that is too wide


def sheet_text(sheet: Sheet) -> str:
    """Return the lines of a sheet; a blank line comes before every section.

    Examples
    --------
    >>> table = Table(("", ""), [("rows", "500")], is_numeric=False)
    >>> print(sheet_text(Sheet("Monday", [table, Sheet("Tuesday", ["Enough."])])), end="")
    Monday
    rows  500
    <BLANKLINE>
    Tuesday
    Enough.
    """
    lines = "".join(_format_part(part) for part in sheet.parts)
    return f"{_wrap(sheet.title)}\n{lines}" if sheet.title else lines.removeprefix("\n")


def _format_part(part: Any) -> str:
    if isinstance(part, str):
        return f"{_wrap(part)}\n"
    if isinstance(part, Table):
        return _format_table(part.without(part.wide) if part.wide else part)
    if isinstance(part, Lead):
        return f"{_wrap(f'{part.word}: {part.sentence}')}\n"
    if isinstance(part, Bullets):
        return "".join(f"{_wrap(f'  - {sentence}', '    ')}\n" for sentence in part.sentences)
    if isinstance(part, Contradiction):
        return _format_contradiction(part)
    if isinstance(part, ShownExplanation):
        return f"{_wrap(part.sentence)}\n"
    if isinstance(part, Drawing | RowTable | Exploration):
        return ""
    text = sheet_text(part)
    return f"\n{text}" if text else ""


def _format_contradiction(part: Contradiction) -> str:
    lines = [_wrap(part.explanation.sentence, "   ")]
    lines += [_wrap(f"   {line}", "     ") for line in (part.scope, *part.lines)]
    return "\n".join(["", *lines, ""])


def _format_table(table: Table) -> str:
    name = f"{_wrap(table.name)}\n" if table.name else ""
    return name + (_format_columns(table) if any(table.heads) else _format_pairs(table))


def _format_pairs(table: Table) -> str:
    """Return names and their values, one pair per line."""
    room = max((len(to_printable(row[0])) for row in table.rows), default=0)
    lines = (f"{to_printable(row[0]):<{room}}  {'  '.join(row[1:])}" for row in table.rows)
    return "".join(f"{_wrap(line, ' ' * (room + GAP))}\n" for line in lines)


def _format_columns(table: Table) -> str:
    r"""Return a table under its headings.

    The column of names gets the room that the others leave. In a table that is too wide, headings are
    folded, then gaps shrink, and then the longest of the other columns wraps.

    >>> heads = ("sufficiency", "estimate", "95 % interval", "checked", "leave-one-out", "control", "worth")
    >>> row = ("shap · 1fp", "0.921", "0.861 – 0.979", "97 %", "0.921", "0.799", "61 %", "193", "none")
    >>> print("\n" + _format_columns(Table((*heads, "distinct explanations", "remarks"), [row])), end="")
    <BLANKLINE>
                                           leave-
                              95 %           one-                   distinct
    sufficiency estimate  interval checked    out control worth explanations remarks
    ────────────────────────────────────────────────────────────────────────────────
    shap · 1fp     0.921   0.861 –    97 %  0.921   0.799  61 %          193    none
                             0.979
    """
    from rich import box
    from rich.table import Table as Rich

    values = [[to_printable(text).replace(" %", "\u00a0%") for text in row] for row in table.rows]
    heads, room, gap = _fit_headings([to_printable(head) for head in table.heads], values, table.name_column)
    laid_out = Rich(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap - 1, 0, 0))
    for row in values:
        row[table.name_column] = _break_name(row[table.name_column], room)
    names = _column_width([heads[table.name_column], *(row[table.name_column] for row in values)])
    for position, head in enumerate(heads):
        justify: Any = "left" if table.is_text(position) else "right"
        is_name = position == table.name_column
        is_long = is_name or position == _find_longest_column(values, table.name_column)
        width = min(names, room) if is_name else None  # a fixed width: rich would break short names first
        laid_out.add_column(
            _disable_markup(head), justify=justify, no_wrap=not is_long, overflow="fold", width=width
        )
    for row in values:
        laid_out.add_row(*map(_disable_markup, row))
    return _render(laid_out)


def _fit_headings(heads: list[str], values: list[list[str]], names: int) -> tuple[list[str], int, int]:
    """Fold headings into as few lines as the width allows; also return the width of names, and the gap."""
    length = max((len(row[names]) for row in values), default=0)
    for n_lines, gap in (*((n_lines, GAP) for n_lines in range(1, MAX_HEAD_LINES + 1)), (MAX_HEAD_LINES, 1)):
        folded = [_fold_heading(head, n_lines) for head in heads]
        columns = zip(folded, *values, strict=True)
        widths = [_column_width(column) for position, column in enumerate(columns) if position != names]
        room = WIDTH - sum(widths) - gap * len(widths)
        if room >= max(length, len(heads[names])) or (n_lines > 1 and room >= MIN_NAME):
            break
    folded[names] = _break_name(heads[names], max(MIN_NAME, room))
    return folded, max(MIN_NAME, room), gap


def _find_longest_column(values: list[list[str]], names: int) -> int:
    """Return the column with the longest values, which may wrap in a table that is too wide."""
    widths = [max(map(len, column)) for column in zip(*values, strict=True)]
    return max(
        (position for position in range(len(widths)) if position != names), key=widths.__getitem__, default=0
    )


def _column_width(texts: Iterable[str]) -> int:
    return max(len(line) for text in texts for line in text.split("\n"))


def _fold_heading(head: str, n_lines: int) -> str:
    r"""Break a heading into at most `n_lines` lines, as narrow as possible; long words are broken.

    >>> [_fold_heading(head, 2) for head in ("95 % interval", "agree among those checked", "leave-one-out")]
    ['95 %\ninterval', 'agree among\nthose checked', 'leave-\none-out']
    """
    if n_lines > 1:
        head = re.sub(rf"\S{{{LONGEST + 1},}}", lambda word: " ".join(textwrap.wrap(word[0], LONGEST)), head)
    for width in range(1, len(head)):
        lines = textwrap.wrap(head.replace(" %", "\u00a0%"), width, break_long_words=False)
        if len(lines) <= n_lines and max(map(len, lines)) <= width:
            return "\n".join(lines).replace("\u00a0", " ")
    return head


def _break_name(name: str, room: int) -> str:
    """Break a long name after blanks and punctuation."""
    lines = [""]
    for piece in re.findall(r".+?(?:[-:,=/ ]+|$)", name):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _disable_markup(text: str) -> Any:
    """Return text in which rich does not interpret markup."""
    from rich.text import Text

    return Text(text)


def _render(table: Any) -> str:
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=WIDTH, color_system=None, highlight=False).print(table)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().replace("\u00a0", " ").splitlines())


def _wrap(text: str, indent: str = "") -> str:
    """Break a text at 80 columns, at blanks only, and indent the lines that follow.

    Options and names with hyphens stay whole, so that they can be copied, and numbers keep their signs.
    """
    words = keep_together(to_printable(text))
    filled = textwrap.fill(words, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return filled.replace("\u00a0", " ")
