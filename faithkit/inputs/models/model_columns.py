"""Select the columns that a model was fitted with, in that order.

The other columns of a table can still group, weight and name rows.
"""

import contextlib
from collections.abc import Iterable
from typing import Any

import pandas as pd

from faithkit.errors import InputError
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.rows import Rows
from faithkit.wording import join_few, join_words

_NAMES = ("feature_names_in_", "feature_names_")  # scikit-learn and compatible libraries; CatBoost


def select_model_columns(model: Any, X: Rows, sample_name: str = "X") -> Rows:
    """Return the columns of X that the model uses; X itself if it uses all, or does not name its columns.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"branch": ["A", "B"], "debt": [0.1, 0.9], "age": [31, 45]})
    >>> model = DecisionTreeClassifier().fit(X[["age", "debt"]], ["yes", "no"])
    >>> list(select_model_columns(model, X)), select_model_columns(len, X) is X
    (['age', 'debt'], True)
    >>> select_model_columns(model, X[["branch"]])
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: X lacks 'age', 'debt'; expected the columns that the model was fitted with...
    """
    names = fitted_columns(model)
    if names is None or not isinstance(X, pd.DataFrame):
        return X
    column_by_name = {
        str(column).replace(" ", "_"): column for column in X.columns
    }  # as LightGBM writes them
    column_by_name |= {str(column): column for column in X.columns}
    lacking = [name for name in names if name not in column_by_name]
    if len(lacking) == len(names) == X.shape[1]:  # names that a library invented, such as 0, 1, …
        return X
    if lacking:
        raise InputError(
            f"{sample_name} lacks {join_few(map(repr, lacking))}; expected the columns that the model was "
            f"fitted with ({join_few(map(repr, names))}). Give them under these names."
        )
    columns = [column_by_name[name] for name in names]
    return X if columns == list(X.columns) else X[columns]


def describe_unused_columns(X: Rows, model_X: Rows) -> tuple[str, ...]:
    """Return a note about the columns that the model does not use, or no note if it uses all.

    Examples
    --------
    >>> X = pd.DataFrame({"branch": ["A", "B"], "age": [31, 45]})
    >>> describe_unused_columns(X, X[["age"]]), describe_unused_columns(X, X)
    (("The model does not use the column 'branch'.",), ())
    """
    if model_X is X:
        return ()
    names = [repr(str(name)) for name in X.columns if name not in model_X.columns]
    if not names:
        return ()
    text = join_words(names) if len(names) <= 3 else join_few(names)
    return (f"The model does not use the column{'s' if len(names) > 1 else ''} {text}.",)


def fitted_columns(model: Any) -> list[str] | None:
    """Return the columns that a model was fitted with, without those that its first step drops.

    Return None if the model does not name its columns.
    """
    model = model.model if isinstance(model, Predictor) else model
    for attribute in _NAMES:
        with contextlib.suppress(
            Exception
        ):  # the property may fail: a model that is not fitted may still predict
            names = [name for name in getattr(model, attribute) if isinstance(name, str)]
            if names and len(names) == len(getattr(model, attribute)) == len(set(names)):
                dropped = _dropped_columns(_first_step(model), names)
                return [name for name in names if name not in dropped]
    return None


def _first_step(model: Any) -> Any:
    """Return a pipeline's first step, or the model itself."""
    best = getattr(model, "best_estimator_", None)
    if best is not None:
        return _first_step(best)
    steps = getattr(model, "steps", None)
    return _first_step(steps[0][1]) if isinstance(steps, list) and steps else model


def _dropped_columns(step: Any, names: list[str]) -> set[str]:
    """Return the columns that a ColumnTransformer drops and that none of its transformers uses."""
    dropped: set[str] = set()
    used: set[str] = set()
    for _, transformer, columns in getattr(step, "transformers_", ()):
        is_drop = isinstance(transformer, str) and transformer == "drop"
        (dropped if is_drop else used).update(_column_names(columns, names))
    return dropped - used


def _column_names(columns: Any, names: list[str]) -> Iterable[str]:
    """Return the names of columns that are given by name, position, slice or mask."""
    series = pd.Series(names, index=names)
    if isinstance(columns, str):
        return [columns]
    if isinstance(columns, slice):
        by_name = isinstance(columns.start, str) or isinstance(columns.stop, str)
        return list(series.loc[columns] if by_name else series.iloc[columns])
    selection: list[Any] = [columns] if isinstance(columns, int) else list(columns)
    return selection if selection and isinstance(selection[0], str) else list(series.iloc[selection])
