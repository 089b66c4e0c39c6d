"""The paper's printed numbers, from a file of this package."""

import csv
from functools import cache
from importlib.resources import files

import attrs

from faithkit_paper.findings import Cell

Key = tuple[str, str, str, str, str]

ALL_EXPERIMENTS = "*"
"""The experiment of numbers that belong to all experiments, such as the accuracy of a model."""


@cache
def printed_numbers() -> dict[Key, float]:
    """Return all printed numbers by experiment, dataset, explainer, setting and measure.

    Examples
    --------
    >>> printed_numbers()["table-shap", "adult", "shap", "1fp", "consistency"]
    0.95
    """
    text = files("faithkit_paper").joinpath("printed.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    keys = ("experiment", "dataset", "explainer", "setting", "measure")
    return {tuple(row[key] for key in keys): float(row["value"]) for row in rows}  # type: ignore[misc]


def with_printed_number(experiment: str, cell: Cell) -> Cell:
    """Return the cell with the number that the paper prints for it, if any.

    A cell that already has a number, such as a bound that the paper proves, keeps it.

    Examples
    --------
    >>> with_printed_number("table-shap", Cell("adult", "shap", "1fp", "consistency", ours=0.93)).paper
    0.95
    """
    if cell.paper is not None:
        return cell
    key = cell.dataset, cell.explainer, cell.setting, cell.measure
    number = printed_numbers().get((experiment, *key), printed_numbers().get((ALL_EXPERIMENTS, *key)))
    return attrs.evolve(cell, paper=number)
