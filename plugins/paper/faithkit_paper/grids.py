"""Tables for readers: paper, ours and difference side by side, with numbers as the paper prints them."""

import csv
import io
from collections.abc import Sequence

import attrs

from faithkit_paper.findings import Cell

NAMES = ("dataset", "explainer", "setting", "n")
MAX_NUMBER_COLUMNS = 9  # that fit on a page


@attrs.frozen
class Grid:
    """A table for readers, with numbers as the paper prints them.

    Attributes
    ----------
    head : list of str
    rows : list of list of str
    names : int
        The number of leading columns that name what was measured.
    """

    head: list[str]
    rows: list[list[str]]
    names: int

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> "Grid":
        """Build a row for each dataset, explainer, setting and n, with columns for each measure.

        If this is too wide, each cell gets its own row.
        """
        printed = {cell.measure: False for cell in cells}
        printed |= {cell.measure: True for cell in cells if cell.paper is not None}
        names = [name for name in NAMES if any(_name(cell, name) for cell in cells)]
        too_wide = sum(3 if is_printed else 1 for is_printed in printed.values()) > MAX_NUMBER_COLUMNS
        return cls._long(cells, names) if too_wide else cls._wide(cells, names, printed)

    @classmethod
    def _long(cls, cells: Sequence[Cell], names: list[str]) -> "Grid":
        rows = [
            [*(_name(cell, name) for name in names), cell.measure, *_numbers(cell, True)] for cell in cells
        ]
        return cls([*names, "measure", "paper", "ours", "difference"], rows, len(names) + 1)

    @classmethod
    def _wide(cls, cells: Sequence[Cell], names: list[str], printed: dict[str, bool]) -> "Grid":
        cells_by_row: dict[tuple[str, ...], dict[str, Cell]] = {}
        for cell in cells:
            cells_by_row.setdefault(tuple(_name(cell, name) for name in names), {})[cell.measure] = cell
        head = names + [
            title for measure, is_printed in printed.items() for title in _head(measure, is_printed)
        ]
        rows = [
            [
                *key,
                *(
                    text
                    for measure, is_printed in printed.items()
                    for text in _numbers(by_measure.get(measure), is_printed)
                ),
            ]
            for key, by_measure in cells_by_row.items()
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
        separator = ["---"] * self.names + ["---:"] * (len(self.head) - self.names)
        return "\n".join(f"| {' | '.join(row)} |" for row in [self.head, separator, *self.rows])

    def csv(self) -> str:
        """Return the table as CSV, for pages that include it."""
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n").writerows([self.head, *self.rows])
        return out.getvalue()


def _name(cell: Cell, name: str) -> str:
    value = getattr(cell, name)
    return "" if value is None else f"{value:,}" if name == "n" else str(value).replace("|", "\\|")


def _head(measure: str, printed: bool) -> list[str]:
    return [f"{measure}: paper", "ours", "difference"] if printed else [measure]


def _numbers(cell: Cell | None, printed: bool) -> list[str]:
    ours = "" if cell is None else number(cell.ours) + _spread(cell)
    if not printed:
        return [ours]
    if cell is None:
        return ["", "", ""]
    return [number(cell.paper), ours, number(cell.difference, sign=True)]


def _spread(cell: Cell) -> str:
    if cell.low is not None:
        return f" [{number(cell.low)}, {number(cell.high)}]"
    return "" if cell.std is None else f" ± {number(cell.std)}"


def number(value: float | None, sign: bool = False) -> str:
    """Format a number as the paper does: two decimals, three if it is small, none for a count.

    Examples
    --------
    >>> number(0.694), number(7438.0), number(-0.0004, sign=True), number(0.0625), number(None)
    ('0.69', '7,438', '0.00', '0.06', '')
    """
    if value is None:
        return ""
    plus, magnitude = "+" if sign else "", abs(value)
    if magnitude >= 10 or (magnitude >= 2 and value == round(value)):
        return f"{value:{plus},.0f}"
    if magnitude < 0.0005:
        return "0.00"
    return f"{value:{plus}.{3 if magnitude < 0.01 else 2}f}"
