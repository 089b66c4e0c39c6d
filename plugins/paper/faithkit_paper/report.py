"""An experiment's findings as files: every cell as CSV, and a Markdown page with paper, ours, difference."""

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
    "difference",
    "n",
    "runs",
)
ACCURACY = "accuracy"
NEAR = (0.05, 0.10)


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


def as_summaries(cells: Mapping[str, Sequence[Cell]]) -> str:
    """Return as CSV how near each experiment came, and all together.

    Examples
    --------
    >>> print(as_summaries({"table-shap": [Cell("adult", "shap", "1fp", "consistency", 0.93, paper=0.95)]}))
    experiment,cells,mean absolute difference,within 0.05,within 0.10
    table-shap,1,0.020,100 %,100 %
    all,1,0.020,100 %,100 %
    <BLANKLINE>
    """
    every = {**cells, "all": [cell for mine in cells.values() for cell in mine]}
    found = {name: Summary.of(mine) for name, mine in every.items()}
    head = ["experiment", "cells", "mean absolute difference", *(f"within {limit:.2f}" for limit in NEAR)]
    rows = [
        [name, one.cells, f"{one.mean:.3f}", *(f"{100 * share:.0f} %" for share in one.near)]
        for name, one in found.items()
        if one is not None
    ]
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()


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
    """Return the page: the models' accuracies, the measures that are shown, a summary and the remarks."""
    models = [cell for cell in findings.cells if cell.measure == ACCURACY]
    summary = Summary.of(findings.cells)
    parts = [
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
    return "\n\n".join(part for part in parts if part) + "\n"
