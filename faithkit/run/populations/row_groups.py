"""Divide the rows of a population into groups."""

from collections.abc import Callable, Mapping, Set
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import as_objects, strip_mask
from faithkit.errors import InputError, warn
from faithkit.inputs.rows import Rows
from faithkit.measure.counting.owners import Counts
from faithkit.run.populations.population import Parts, Population
from faithkit.run.populations.sample_design import find_column
from faithkit.third_party import guard
from faithkit.wording import join_few

MAX_GROUPS = 50
MISSING = "missing"


def split_population(
    groups: Any, X: Rows | None, labels: Counts, take: Callable[[Counts], Population]
) -> Parts:
    """Divide a population by the groups of its rows; `take` returns the population of selected rows."""
    name, rows_by_group, follow_predictions = _rows_of_groups(groups, X, labels)
    all_rows = np.arange(len(labels))

    def take_rows(rows: Counts, description: str) -> Population:
        try:
            return take(rows)
        except InputError as error:
            raise InputError(f"{description}: {error}") from None

    other_rows = {group: np.setdiff1d(all_rows, rows) for group, rows in rows_by_group.items()}
    members = {
        group: take_rows(rows, f"the rows of {name} = {group}") for group, rows in rows_by_group.items()
    }
    complements = {
        group: take_rows(rows, f"all but {name} = {group}") for group, rows in other_rows.items() if len(rows)
    }
    return (
        name,
        _drop_constant_groups(name, members),
        {group: rest for group, rest in complements.items() if not rest.has_no_variance},
        follow_predictions,
    )


def _drop_constant_groups(name: str, members: dict[Any, Population]) -> dict[Any, Population]:
    """Leave out groups in which all predictions are the same number, with a warning."""
    constant = [group for group, population in members.items() if population.has_no_variance]
    if len(constant) == len(members):
        raise InputError(f"in no group of {name} is there anything to explain: each has one prediction.")
    if constant:
        warn(
            f"{name} = {join_few(map(str, constant))}: left out, since all predictions of the group are the "
            "same number, and there is no variance to account for.",
        )
    return {group: population for group, population in members.items() if group not in constant}


def _rows_of_groups(
    groups: Any, X: Rows | None, labels: NDArray[np.int64]
) -> tuple[str, dict[Any, NDArray[np.int64]], bool]:
    """Return the name of the grouping, the rows of each group, and whether groups follow the predictions.

    Parameters
    ----------
    groups : sequence of n values, or the name of a column of X
    X : the sample's rows
    labels : (n,) int
        The codes of the predictions. Groups that follow them cause a warning.
    """
    column = find_column(groups, X, "to group by") if pd.api.types.is_scalar(groups) else groups
    column_name = getattr(column, "name", None)
    name = "group" if column_name is None or column_name == "" else str(column_name)
    n = len(labels)
    if not hasattr(column, "__len__") or isinstance(column, Set | Mapping):
        raise InputError(f"the groups are a {type(column).__name__}: give a list of one value per row.")
    if len(column) != n:
        raise InputError(f"{len(column)} groups for {n} rows: give one value per row.")
    group_values = as_objects(strip_mask(column, "the groups"))
    with guard("comparing the groups", "Give one value per row: numbers, truths or texts."):
        codes, values = pd.factorize(group_values, use_na_sentinel=False)
    if len(values) > MAX_GROUPS:
        raise InputError(
            f"{name!r} has {len(values):,} values; expected at most {MAX_GROUPS} groups. "
            "Group by a column of few values, or put its values into bins first."
        )
    follow_predictions = _follow_predictions(codes, labels)
    if follow_predictions:
        _warn_of_predictions(name)
    names = [_group_name(value, values) for value in values]
    rows = {group: np.flatnonzero(codes == code) for code, group in enumerate(names)}
    return name, {group: rows[group] for group in sorted(rows, key=_sort_key)}, follow_predictions


def _follow_predictions(codes: NDArray[Any], labels: NDArray[np.int64]) -> bool:
    """Whether groups determine predictions or the reverse, so that the rows of a group always agree."""
    n_pairs = len(pd.unique(codes * (labels.max() + 1) + labels))
    n_groups, n_labels = len(pd.unique(codes)), len(pd.unique(labels))
    if n_labels == 1 or n_groups in (1, len(labels)) or n_labels == len(labels):
        return False
    return n_pairs in (n_groups, n_labels)


def _warn_of_predictions(name: str) -> None:
    warn(
        f"the groups of {name!r} follow from the prediction, or the prediction from them, so rows of one "
        "group agree whatever was explained: compare each predicted label with all rows (by_label(), CLI: "
        "--by-label), or group by a column that was known before the prediction, such as a branch.",
    )


def _group_name(value: Any, values: Any) -> Any:
    """Return the name of a group: its value, or for missing values a text that no other group has."""
    if not pd.isna(value):
        return 0.0 if isinstance(value, float) and value == 0 else value  # not -0.0 if that comes first
    return MISSING if MISSING not in list(values) else f"({MISSING})"


def _sort_key(group: Any) -> tuple[int, Any]:
    """Sort numbers by size, then other values by their text, and missing values last."""
    if isinstance(group, int | float | np.number):
        return (0, group)
    return (2 if group in (MISSING, f"({MISSING})") else 1, str(group))
