"""The paper's printed numbers, kept in a file of this package, and put beside ours."""

import csv
from functools import cache
from importlib.resources import files

import attrs

from faithkit_paper.findings import Cell

Key = tuple[str, str, str, str, str]

EVERYWHERE = "*"
"""Stands for the experiment where a number, such as a model's accuracy, belongs to all of them."""


@cache
def printed() -> dict[Key, float]:
    """Return every printed number by experiment, dataset, explainer, setting and measure.

    Examples
    --------
    >>> printed()["table-shap", "adult", "shap", "1fp", "consistency"]
    0.95
    """
    text = files("faithkit_paper").joinpath("printed.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    keys = ("experiment", "dataset", "explainer", "setting", "measure")
    return {tuple(row[key] for key in keys): float(row["value"]) for row in rows}  # type: ignore[misc]


def beside_printed(experiment: str, cell: Cell) -> Cell:
    """Return the cell with the number that the paper prints for it, where it prints one.

    A cell that brings its own, such as a bound that the paper proves, keeps it.

    Examples
    --------
    >>> beside_printed("table-shap", Cell("adult", "shap", "1fp", "consistency", ours=0.93)).paper
    0.95
    """
    if cell.paper is not None:
        return cell
    key = cell.dataset, cell.explainer, cell.setting, cell.measure
    found = printed().get((experiment, *key), printed().get((EVERYWHERE, *key)))
    return attrs.evolve(cell, paper=found)
