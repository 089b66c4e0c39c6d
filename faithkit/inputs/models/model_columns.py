"""Which columns a model sees: those that it was fitted with, in that order, whatever else a table holds.

The others are still there to group rows by, to weigh them and to name them.
"""

import contextlib
from collections.abc import Iterable
from typing import Any

import attrs
import pandas as pd

from faithkit.errors import InputError
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.pools import PoolRows
from faithkit.inputs.rows import Rows
from faithkit.wording import few, listing

_NAMES = ("feature_names_in_", "feature_names_")  # scikit-learn's and whoever follows it, CatBoost's


def seen_by(model: Any, X: Rows, who: str = "X") -> Rows:
    """Return what a model sees of a table: X itself, where that is all of it or the model knows no names.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"branch": ["A", "B"], "debt": [0.1, 0.9], "age": [31, 45]})
    >>> model = DecisionTreeClassifier().fit(X[["age", "debt"]], ["yes", "no"])
    >>> list(seen_by(model, X)), seen_by(len, X) is X
    (['age', 'debt'], True)
    >>> seen_by(model, X[["branch"]])
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: X lacks 'age', 'debt'; expected the columns that the model was fitted with...
    """
    names = names_of(model)
    if names is None or not isinstance(X, pd.DataFrame):
        return X
    place = {str(column).replace(" ", "_"): column for column in X.columns}  # as LightGBM writes them
    place |= {str(column): column for column in X.columns}
    lacking = [name for name in names if name not in place]
    if len(lacking) == len(names) == X.shape[1]:  # made up by a library that was given none, such as 0, 1, …
        return X
    if lacking:
        raise InputError(
            f"{who} lacks {few(map(repr, lacking))}; expected the columns that the model was fitted with "
            f"({few(map(repr, names))}). Give them under these names."
        )
    columns = [place[name] for name in names]
    return X if columns == list(X.columns) else X[columns]


def pool_seen_by(model: Any, pool: PoolRows) -> PoolRows:
    """Return what a model sees of the rows of a pool."""
    return attrs.evolve(pool, pieces=lambda: (seen_by(model, rows, "the pool") for rows in pool.pieces()))


def unused(X: Rows, seen: Rows) -> tuple[str, ...]:
    """Say, in one sentence or none, which columns of a table the model does not see.

    Examples
    --------
    >>> X = pd.DataFrame({"branch": ["A", "B"], "age": [31, 45]})
    >>> unused(X, X[["age"]]), unused(X, X)
    (("The model does not use the column 'branch'.",), ())
    """
    others = [] if seen is X else [repr(str(name)) for name in X.columns if name not in seen.columns]
    if not others:
        return ()
    named = listing(others) if len(others) <= 3 else few(others)
    return (f"The model does not use the column{'s' if len(others) > 1 else ''} {named}.",)


def names_of(model: Any) -> list[str] | None:
    """Return the columns that a model was fitted with, but for those that it drops at once.

    None where it does not say.
    """
    model = model.model if isinstance(model, Predictor) else model
    for attribute in _NAMES:
        with contextlib.suppress(Exception):  # a property of others: one that is not fitted may still predict
            names = [name for name in getattr(model, attribute) if isinstance(name, str)]
            if names and len(names) == len(getattr(model, attribute)) == len(set(names)):
                dropped = _dropped(_first(model), names)
                return [name for name in names if name not in dropped]
    return None


def _first(model: Any) -> Any:
    """Return who looks at the table first: a pipeline's first step, or the model itself."""
    best = getattr(model, "best_estimator_", None)
    if best is not None:
        return _first(best)
    steps = getattr(model, "steps", None)
    return _first(steps[0][1]) if isinstance(steps, list) and steps else model


def _dropped(step: Any, names: list[str]) -> set[str]:
    """Return the columns that a ColumnTransformer drops, and no part of it takes."""
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for _, part, columns in getattr(step, "transformers_", ()):
        found[isinstance(part, str) and part == "drop"].update(_named(columns, names))
    return found[True] - found[False]


def _named(columns: Any, names: list[str]) -> Iterable[str]:
    """Return the names of columns that are told by name, position, slice or mask."""
    known = pd.Series(names, index=names)
    if isinstance(columns, str):
        return [columns]
    if isinstance(columns, slice):
        by_name = isinstance(columns.start, str) or isinstance(columns.stop, str)
        return list(known.loc[columns] if by_name else known.iloc[columns])
    told: list[Any] = [columns] if isinstance(columns, int) else list(columns)
    return told if told and isinstance(told[0], str) else list(known.iloc[told])
