"""Cells as a table for readers: paper, ours and difference side by side, numbers as the paper prints them."""

import csv
import io
from collections.abc import Sequence

import attrs

from faithkit_paper.findings import Cell

NAMES = ("dataset", "explainer", "setting", "n")
WIDEST = 9  # columns of numbers on a page


@attrs.frozen
class Grid:
    """A table for readers: numbers as the paper prints them.

    Attributes
    ----------
    head : list of str
    rows : list of list of str
    names : int
        How many columns, the first ones, name what was measured.
    """

    head: list[str]
    rows: list[list[str]]
    names: int

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> "Grid":
        """Make a line for each dataset, explainer, setting and n, with columns for each measure.

        Where that would be too wide, every cell has a line of its own.
        """
        printed = {cell.measure: False for cell in cells}
        printed |= {cell.measure: True for cell in cells if cell.paper is not None}
        names = [name for name in NAMES if any(_name(cell, name) for cell in cells)]
        too_wide = sum(3 if has else 1 for has in printed.values()) > WIDEST
        return cls._long(cells, names) if too_wide else cls._wide(cells, names, printed)

    @classmethod
    def _long(cls, cells: Sequence[Cell], names: list[str]) -> "Grid":
        rows = [[*(_name(c, name) for name in names), c.measure, *_numbers(c, True)] for c in cells]
        return cls([*names, "measure", "paper", "ours", "difference"], rows, len(names) + 1)

    @classmethod
    def _wide(cls, cells: Sequence[Cell], names: list[str], printed: dict[str, bool]) -> "Grid":
        lines: dict[tuple[str, ...], dict[str, Cell]] = {}
        for cell in cells:
            lines.setdefault(tuple(_name(cell, name) for name in names), {})[cell.measure] = cell
        head = names + [word for measure, has in printed.items() for word in _head(measure, has)]
        rows = [
            [*key, *(word for measure, has in printed.items() for word in _numbers(found.get(measure), has))]
            for key, found in lines.items()
        ]
        return cls(head, rows, len(names))

    def markdown(self) -> str:
        """Return the table in Markdown.

        Examples
        --------
        >>> print(Grid.of([Cell("adult", "shap", "1fp", "consistency", ours=0.93, paper=0.95)]).markdown())
        | dataset | explainer | setting | consistency: paper | ours | difference |
        | --- | --- | --- | ---: | ---: | ---: |
        | adult | shap | 1fp | 0.95 | 0.93 | -0.02 |
        """
        rule = ["---"] * self.names + ["---:"] * (len(self.head) - self.names)
        return "\n".join(f"| {' | '.join(line)} |" for line in [self.head, rule, *self.rows])

    def csv(self) -> str:
        """Return the table as CSV, for pages that include it."""
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n").writerows([self.head, *self.rows])
        return out.getvalue()


def _name(cell: Cell, name: str) -> str:
    found = getattr(cell, name)
    return "" if found is None else f"{found:,}" if name == "n" else str(found).replace("|", "\\|")


def _head(measure: str, printed: bool) -> list[str]:
    return [f"{measure}: paper", "ours", "difference"] if printed else [measure]


def _numbers(cell: Cell | None, printed: bool) -> list[str]:
    ours = (
        "" if cell is None else number(cell.ours) + (f" ± {number(cell.std)}" if cell.std is not None else "")
    )
    if not printed:
        return [ours]
    if cell is None:
        return ["", "", ""]
    return [number(cell.paper), ours, number(cell.difference, sign=True)]


def number(value: float | None, sign: bool = False) -> str:
    """Return a number as the paper prints it: two digits, one more where it is small, none where it counts.

    Examples
    --------
    >>> number(0.694), number(7438.0), number(-0.0004, sign=True), number(0.0625), number(None)
    ('0.69', '7,438', '0.00', '0.06', '')
    """
    if value is None:
        return ""
    plus, size = "+" if sign else "", abs(value)
    if size >= 10 or (size >= 2 and value == round(value)):
        return f"{value:{plus},.0f}"
    if size < 0.0005:
        return "0.00"
    return f"{value:{plus}.{3 if size < 0.01 else 2}f}"
