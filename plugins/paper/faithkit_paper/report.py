"""An experiment's findings as files: every cell as CSV, and a Markdown page with paper, ours, difference."""

import csv
import io
from collections.abc import Iterable, Sequence

import attrs

from faithkit_paper.findings import MEASURES, Cell, Findings

COLUMNS = (
    "experiment",
    "dataset",
    "explainer",
    "setting",
    "measure",
    "paper",
    "ours",
    "std",
    "difference",
    "n",
    "runs",
)
ACCURACY = "accuracy"
NEAR = (0.05, 0.10)
WIDEST = 9  # columns of numbers on a page


@attrs.frozen
class Summary:
    """How near the cells of consistency, sufficiency and uniqueness are to the printed ones."""

    cells: int
    mean: float
    near: tuple[float, ...]

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> "Summary | None":
        """Summarise the cells for which the paper prints a number; None where there is no such cell.

        Examples
        --------
        >>> cell = Cell("adult", "shap", "1fp", "consistency", ours=0.93, paper=0.85)
        >>> print(Summary.of([cell]))
        1 cell beside the paper's: mean absolute difference 0.080, 0 % within 0.05, 100 % within 0.10
        """
        known = [cell.difference for cell in cells if cell.measure in MEASURES]
        apart = [abs(difference) for difference in known if difference is not None]
        if not apart:
            return None
        # the paper prints two digits: a difference of 0.05 between rounded numbers is within 0.05
        near = tuple(sum(d <= limit + 1e-9 for d in apart) / len(apart) for limit in NEAR)
        return cls(len(apart), sum(apart) / len(apart), near)

    def __str__(self) -> str:
        shares = ", ".join(
            f"{share:.0%} within {limit:.2f}".replace("%", " %")
            for share, limit in zip(self.near, NEAR, strict=True)
        )
        cells = f"{self.cells} cell{'s' if self.cells > 1 else ''}"
        return f"{cells} beside the paper's: mean absolute difference {self.mean:.3f}, {shares}"


def accuracies(cells: Iterable[Cell]) -> list[str]:
    """Say the accuracies of each dataset's models on one line, beside the paper's where it prints one.

    Examples
    --------
    >>> models = [Cell("adult", "tree", f"{k} leaves", "accuracy", 0.8 + k / 100) for k in (2, 4)]
    >>> accuracies([*models, Cell("heart", "gradient-boosting", "", "accuracy", 0.83, paper=0.8)])
    ['adult: accuracy 0.82 (2 leaves), 0.84 (4 leaves)', 'heart: accuracy 0.83 (paper: 0.80)']
    """
    said: dict[str, list[str]] = {}
    for cell in cells:
        if cell.measure == ACCURACY:
            paper = "" if cell.paper is None else f"paper: {number(cell.paper)}"
            beside = ", ".join(filter(None, (cell.setting, paper)))
            said.setdefault(cell.dataset, []).append(number(cell.ours) + (f" ({beside})" if beside else ""))
    return [f"{dataset}: accuracy {', '.join(numbers)}" for dataset, numbers in said.items()]


def as_csv(experiment: str, cells: Sequence[Cell]) -> str:
    """Return every cell as a line of CSV; an empty field where there is no number."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for cell in cells:
        writer.writerow({"experiment": experiment, **attrs.asdict(cell), "difference": cell.difference})
    return out.getvalue()


def as_markdown(title: str, setting: str, findings: Findings, shown: Sequence[Cell], figure: str = "") -> str:
    """Return the page: the models' accuracies, the cells that are shown, a summary and the remarks."""
    models = [cell for cell in findings.cells if cell.measure == ACCURACY]
    cells = [cell for cell in shown if cell.measure != ACCURACY]
    summary = Summary.of(findings.cells)
    parts = [
        f"# {title}",
        setting,
        f"![{title}]({figure})" if figure else "",
        "## Models\n\n" + table(models) if models else "",
        "## Measures\n\n" + table(cells) if cells else "",
        f"{summary}." if summary else "",
        "## Remarks\n\n" + "\n".join(f"- {remark}" for remark in findings.remarks)
        if findings.remarks
        else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(cells: Sequence[Cell]) -> str:
    """Return a Markdown table: a line for each dataset, explainer, setting and n, columns for each measure.

    Where that would be too wide, every cell has a line of its own.

    Examples
    --------
    >>> print(table([Cell("adult", "shap", "1fp", "consistency", ours=0.93, paper=0.95)]))
    | dataset | explainer | setting | consistency: paper | ours | difference |
    | --- | --- | --- | ---: | ---: | ---: |
    | adult | shap | 1fp | 0.95 | 0.93 | -0.02 |
    """
    printed = {cell.measure: False for cell in cells}
    printed |= {cell.measure: True for cell in cells if cell.paper is not None}
    names = [name for name in ("dataset", "explainer", "setting", "n") if any(_name(c, name) for c in cells)]
    if sum(3 if has else 1 for has in printed.values()) > WIDEST:
        head = [*names, "measure", "paper", "ours", "difference"]
        rows = [[*(_name(c, name) for name in names), c.measure, *_numbers(c, True)] for c in cells]
        return _lines(head, rows, len(names) + 1)
    lines: dict[tuple[str, ...], dict[str, Cell]] = {}
    for cell in cells:
        lines.setdefault(tuple(_name(cell, name) for name in names), {})[cell.measure] = cell
    head = names + [word for measure, has in printed.items() for word in _head(measure, has)]
    rows = [
        [*key, *(word for measure, has in printed.items() for word in _numbers(found.get(measure), has))]
        for key, found in lines.items()
    ]
    return _lines(head, rows, len(names))


def _lines(head: list[str], rows: list[list[str]], names: int) -> str:
    rule = ["---"] * names + ["---:"] * (len(head) - names)
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *rows])


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
