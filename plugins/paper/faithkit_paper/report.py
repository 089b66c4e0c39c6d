"""Run an experiment and write its findings: all cells as CSV, and a Markdown page with the comparison.

Tables for readers have paper, ours and difference side by side, with numbers as the paper prints them.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from faithkit_paper.context import Context, end_workers_and_read_cpu_time, write_atomically
from faithkit_paper.experiment_catalogue import Experiment
from faithkit_paper.figures import render_svg
from faithkit_paper.findings import MEASURES, Cell, Findings
from faithkit_paper.printed_numbers import with_printed_number

COLUMNS = (
    "experiment",
    "dataset",
    "explainer",
    "setting",
    "measure",
    "paper",
    "ours",
    "std",
    "low",
    "high",
    "difference",
    "n",
    "runs",
)
ACCURACY = "accuracy"
LIMITS = (0.05, 0.10)
NAMES = ("dataset", "explainer", "setting", "n")
MAX_NUMBER_COLUMNS = 9  # that fit on a page


def run_experiment(experiment: Experiment, context: Context, folder: Path) -> Findings:
    """Run an experiment. Write its CSV, its page and, if the paper has one, its figure."""
    module, started = experiment.module, end_workers_and_read_cpu_time()
    findings = module.run(context)
    if context.store is None:  # a store keeps the time of each dataset
        findings = attrs.evolve(findings, cpu_seconds=end_workers_and_read_cpu_time() - started)
    findings = attrs.evolve(
        findings, cells=tuple(with_printed_number(experiment.name, cell) for cell in findings.cells)
    )
    figure = ""
    if hasattr(module, "draw"):
        figure = f"{experiment.name}.svg"
        write_atomically(folder / figure, render_svg(module.draw(findings)))
    shown = module.select_shown(findings.cells) if hasattr(module, "select_shown") else findings.cells
    models = [cell for cell in findings.cells if cell.measure == ACCURACY]
    measures = [cell for cell in shown if cell.measure != ACCURACY]
    setting = f"{experiment.summary}\n\nProfile {context.profile}, seed {context.seed}."
    write_atomically(folder / f"{experiment.name}.csv", format_csv(experiment.name, findings.cells))
    for suffix, cells in (("accuracy", models), ("shown", measures)):
        if cells:
            write_atomically(folder / f"{experiment.name}-{suffix}.csv", Grid.of(cells).csv())
    write_atomically(
        folder / f"{experiment.name}.md",
        format_markdown(experiment.name, setting, findings, measures, figure),
    )
    return findings


@attrs.frozen
class Summary:
    """The distance of the cells of consistency, sufficiency and uniqueness from the printed ones."""

    cells: int
    mean: float
    near: tuple[float, ...]

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> "Summary | None":
        """Summarise the cells for which the paper prints a number; None if there are none.

        Examples
        --------
        >>> cell = Cell("adult", "shap", "1fp", "consistency", ours=0.93, paper=0.85)
        >>> print(Summary.of([cell]))
        1 cell beside the paper's: mean absolute difference 0.080, 0 % within 0.05, 100 % within 0.10
        """
        differences = [cell.difference for cell in cells if cell.measure in MEASURES]
        distances = [abs(difference) for difference in differences if difference is not None]
        if not distances:
            return None
        # the paper prints two digits: a difference of 0.05 between rounded numbers is within 0.05
        near = tuple(
            sum(distance <= limit + 1e-9 for distance in distances) / len(distances) for limit in LIMITS
        )
        return cls(len(distances), sum(distances) / len(distances), near)

    def __str__(self) -> str:
        shares = ", ".join(
            f"{share:.0%} within {limit:.2f}".replace("%", " %")
            for share, limit in zip(self.near, LIMITS, strict=True)
        )
        cells = f"{self.cells} cell{'s' if self.cells > 1 else ''}"
        return f"{cells} beside the paper's: mean absolute difference {self.mean:.3f}, {shares}"


def format_summaries(cells: Mapping[str, Sequence[Cell]]) -> str:
    """Return the summaries of each experiment, and of all together, as CSV.

    Examples
    --------
    >>> cell = Cell("adult", "shap", "1fp", "consistency", 0.93, paper=0.95)
    >>> print(format_summaries({"table-shap": [cell]}))
    experiment,cells,mean absolute difference,within 0.05,within 0.10
    table-shap,1,0.020,100 %,100 %
    all,1,0.020,100 %,100 %
    <BLANKLINE>
    """
    groups = {**cells, "all": [cell for group in cells.values() for cell in group]}
    summaries = {name: Summary.of(group) for name, group in groups.items()}
    head = ["experiment", "cells", "mean absolute difference", *(f"within {limit:.2f}" for limit in LIMITS)]
    rows = [
        [name, summary.cells, f"{summary.mean:.3f}", *(f"{100 * share:.0f} %" for share in summary.near)]
        for name, summary in summaries.items()
        if summary is not None
    ]
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()


def accuracies(cells: Iterable[Cell]) -> list[str]:
    """Return a line for each dataset with the accuracies of its models, and the printed ones if any.

    Examples
    --------
    >>> models = [Cell("adult", "tree", f"{k} leaves", "accuracy", 0.8 + k / 100) for k in (2, 4)]
    >>> accuracies([*models, Cell("heart", "gradient-boosting", "", "accuracy", 0.83, paper=0.8)])
    ['adult: accuracy 0.82 (2 leaves), 0.84 (4 leaves)', 'heart: accuracy 0.83 (paper: 0.80)']
    """
    numbers_of: dict[str, list[str]] = {}
    for cell in cells:
        if cell.measure == ACCURACY:
            paper = "" if cell.paper is None else f"paper: {format_number(cell.paper)}"
            details = ", ".join(filter(None, (cell.setting, paper)))
            numbers_of.setdefault(cell.dataset, []).append(
                format_number(cell.ours) + (f" ({details})" if details else "")
            )
    return [f"{dataset}: accuracy {', '.join(numbers)}" for dataset, numbers in numbers_of.items()]


def format_csv(experiment: str, cells: Sequence[Cell]) -> str:
    """Return all cells as CSV, with empty fields for missing numbers."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for cell in cells:
        writer.writerow({"experiment": experiment, **attrs.asdict(cell), "difference": cell.difference})
    return out.getvalue()


def format_markdown(
    title: str, setting: str, findings: Findings, shown: Sequence[Cell], figure: str = ""
) -> str:
    """Return the page: accuracies of the models, selected measures, a summary and the remarks."""
    models = [cell for cell in findings.cells if cell.measure == ACCURACY]
    summary = Summary.of(findings.cells)
    sections = [
        f"# {title}",
        setting,
        f"![{title}]({figure})" if figure else "",
        "## Models\n\n" + Grid.of(models).markdown() if models else "",
        "## Measures\n\n" + Grid.of(shown).markdown() if shown else "",
        f"{summary}." if summary else "",
        "## Remarks\n\n" + "\n".join(f"- {remark}" for remark in findings.remarks)
        if findings.remarks
        else "",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


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
    ours = "" if cell is None else format_number(cell.ours) + _spread(cell)
    if not printed:
        return [ours]
    if cell is None:
        return ["", "", ""]
    return [format_number(cell.paper), ours, format_number(cell.difference, sign=True)]


def _spread(cell: Cell) -> str:
    if cell.low is not None:
        return f" [{format_number(cell.low)}, {format_number(cell.high)}]"
    return "" if cell.std is None else f" ± {format_number(cell.std)}"


def format_number(value: float | None, sign: bool = False) -> str:
    """Format a number as the paper does: two decimals, three if it is small, none for a count.

    Examples
    --------
    >>> [format_number(value) for value in (0.694, 7438.0, 0.0625, None)]
    ['0.69', '7,438', '0.06', '']
    >>> format_number(-0.0004, sign=True)
    '0.00'
    """
    if value is None:
        return ""
    plus, magnitude = "+" if sign else "", abs(value)
    if magnitude >= 10 or (magnitude >= 2 and value == round(value)):
        return f"{value:{plus},.0f}"
    if magnitude < 0.0005:
        return "0.00"
    return f"{value:{plus}.{3 if magnitude < 0.01 else 2}f}"
