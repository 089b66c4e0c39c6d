"""Which rows belong to which group."""

import warnings
from collections.abc import Mapping, Set
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import as_objects, unmasked
from faithkit.errors import FaithkitWarning, InputError
from faithkit.foreign import foreign
from faithkit.wording import suggest

MOST_GROUPS = 50
MISSING = "missing"


def members(groups: Any, X: Any, labels: NDArray[np.int64]) -> tuple[str, dict[Any, NDArray[np.int64]]]:
    """Return the grouping's name and the rows of every group.

    Parameters
    ----------
    groups : sequence of n values, or the name of a column of X
    X : the sample's rows
    labels : (n,) int
        The predictions, to warn of groups that are made of them.
    """
    given = column(groups, X, "to group by") if pd.api.types.is_scalar(groups) else groups
    found = getattr(given, "name", None)
    name = "group" if found is None or found == "" else str(found)
    n = len(labels)
    if not hasattr(given, "__len__") or isinstance(given, Set | Mapping):
        raise InputError(f"the groups are a {type(given).__name__}: give a list of one value per row.")
    if len(given) != n:
        raise InputError(f"{len(given)} groups for {n} rows: give one value per row.")
    cells = as_objects(unmasked(given, "the groups"))
    with foreign("comparing the groups", "Give one value per row: numbers, truths or texts."):
        codes, values = pd.factorize(cells, use_na_sentinel=False)
    if len(values) > MOST_GROUPS:
        raise InputError(
            f"{name!r} has {len(values):,} values; expected at most {MOST_GROUPS} groups. "
            "Group by a column of few values, or put its values into bins first."
        )
    _warn_of_predictions(name, codes, labels)
    labels_of_codes = enumerate(_label(value, values) for value in values)
    rows = {label: np.flatnonzero(codes == code) for code, label in labels_of_codes}
    return name, {label: rows[label] for label in sorted(rows, key=_order)}


def column(name: Any, X: Any, what: str) -> Any:
    """Return a column by its name: mostly a text, but a frame's columns can be numbers, too."""
    if not isinstance(X, pd.DataFrame):
        raise InputError(
            f"there is no column {name!r} {what}, for X is no table with named columns: "
            "give one value per row."
        )
    if name not in X.columns:
        raise InputError(
            f"there is no column {name!r} {what} in X. {suggest(str(name), map(str, X.columns))} "
            "Give such a name, or one value per row."
        )
    return X[name]


def _warn_of_predictions(name: str, codes: NDArray[Any], labels: NDArray[np.int64]) -> None:
    """Say it where groups determine predictions, or these the groups: rows then agree by that alone."""
    pairs = len(pd.unique(codes * (labels.max() + 1) + labels))
    n_groups, n_labels = len(pd.unique(codes)), len(pd.unique(labels))
    if n_labels == 1 or n_groups in (1, len(labels)) or n_labels == len(labels):
        return
    if pairs in (n_groups, n_labels):
        warnings.warn(
            f"the groups of {name!r} are a function of the prediction, or it is one of them, so rows of one "
            "group agree whatever was explained: group by a column that was known before the prediction, "
            "such as a branch (by=, CLI: --by), or leave it out.",
            FaithkitWarning,
            stacklevel=5,
        )


def _label(value: Any, values: Any) -> Any:
    """Name a group by its value; the one of missing values so that no text in the column can be its name."""
    if not pd.isna(value):
        return value
    return MISSING if MISSING not in list(values) else f"({MISSING})"


def _order(value: Any) -> tuple[int, Any]:
    """Sort numbers by size, then everything else by its text; what is missing comes last."""
    if isinstance(value, int | float | np.number):
        return (0, value)
    return (2 if value in (MISSING, f"({MISSING})") else 1, str(value))
