"""Format the findings of an experiment: all cells as CSV, and a Markdown page with the comparison."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

import attrs

from faithkit_paper.findings import MEASURES, Cell, Findings
from faithkit_paper.grids import Grid, number

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
            paper = "" if cell.paper is None else f"paper: {number(cell.paper)}"
            details = ", ".join(filter(None, (cell.setting, paper)))
            numbers_of.setdefault(cell.dataset, []).append(
                number(cell.ours) + (f" ({details})" if details else "")
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
