"""Trace preprocessed columns to raw columns, if each comes from a single raw column.

Then mixtures of rows can be built after preprocessing: a preprocessed column is taken from the same row as
its raw column. Transformers reveal what they do with columns by the names of their output columns: these are
requested for input names that stand for the raw columns.
"""

import copy
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from faithkit_feature_importance.shap_values.errors import UnreadableError, raise_as_unreadable

Origins = list[int]

# Transformers of scikit-learn that compute each output column from a single input column.
COLUMN_WISE = {
    "OneHotEncoder", "OrdinalEncoder", "TargetEncoder",
    "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer",
    "PowerTransformer", "Binarizer", "KBinsDiscretizer", "SplineTransformer", "SimpleImputer",
    "MissingIndicator", "VarianceThreshold", "SelectKBest", "SelectPercentile", "SelectFpr",
    "SelectFdr", "SelectFwe", "GenericUnivariateSelect", "SelectFromModel", "RFE", "RFECV",
    "SequentialFeatureSelector",
}  # fmt: skip


def split_pipeline(model: Any) -> tuple[list[Any], Any]:
    """Return the preprocessing steps in order, and the model after them.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> split_pipeline(make_pipeline(StandardScaler(), "passthrough", DecisionTreeClassifier()))
    ([StandardScaler()], DecisionTreeClassifier())
    """
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.pipeline import Pipeline

    if isinstance(model, BaseSearchCV) and hasattr(model, "best_estimator_"):
        return split_pipeline(model.best_estimator_)
    if not isinstance(model, Pipeline):
        return [], model
    *steps, last = (step for _, step in model.steps)
    steps = [step for step in steps if step is not None and step != "passthrough"]
    inner, estimator = split_pipeline(last)
    return [*steps, *inner], estimator


def input_columns(step: Any, names: Sequence[str]) -> Origins:
    """Return the columns of a table with these names that the first step or the model reads, in its order.

    They are found by name if the step was fitted with names, else by position. Columns that the table does
    not have are −1, since columns that a step drops may be absent.
    """
    fitted_names = getattr(step, "feature_names_in_", None)
    read_names = [str(name) for name in (names if fitted_names is None else fitted_names)]
    positions = {name: j for j, name in enumerate(names)}
    if len(read_names) == len(names) and not set(read_names) <= set(names):
        return list(range(len(names)))
    return [positions.get(name, -1) for name in read_names]


def trace_columns(steps: Sequence[Any], origins: Origins, width: int | None = None) -> Origins:
    """Return the raw column of every output column of a chain of steps.

    Parameters
    ----------
    steps : fitted transformers
    origins : list of int
        The raw column of each input column of the first step.
    width : int, optional
        The number of output columns of the last step.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> trace_columns([OneHotEncoder().fit([["a", "x"], ["b", "x"]])], [0, 1])
    [0, 0, 1]
    """
    for position, step in enumerate(steps):
        next_step = steps[position + 1] if position + 1 < len(steps) else None
        n_outputs = width if next_step is None else getattr(next_step, "n_features_in_", None)
        origins = _check_width(type(step).__name__, _trace_step(step, origins, n_outputs), n_outputs)
    return origins


def _trace_step(step: Any, origins: Origins, width: int | None) -> Origins:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    if step is None or step == "passthrough":
        return origins
    if isinstance(step, Pipeline):
        return trace_columns([transformer for _, transformer in step.steps], origins, width)
    if type(step) is ColumnTransformer:
        return _trace_column_transformer(step, origins)
    if type(step) is FeatureUnion:
        return [
            origin
            for _, transformer in step.transformer_list
            if transformer != "drop"
            for origin in _trace_step(transformer, origins, None)
        ]
    if len(set(origins)) == 1:  # all inputs come from one raw column, so all outputs do
        return origins[:1] * (len(_output_names(step, origins)) if width is None else width)
    if _is_elementwise(step):
        return origins
    _check_column_wise(step)
    return [_origin_of(step, name, origins) for name in _output_names(step, origins)]


def _trace_column_transformer(step: Any, origins: Origins) -> Origins:
    """Return the raw columns of the outputs of a ColumnTransformer."""
    traced = [-1] * max((indices.stop for indices in step.output_indices_.values()), default=0)
    for name, transformer, columns in step.transformers_:
        position = step.output_indices_.get(name, slice(0, 0))
        width = position.stop - position.start
        if width:
            traced[position] = _check_width(
                name,
                _trace_step(transformer, [origins[j] for j in _resolve_columns(step, columns)], width),
                width,
            )
    return traced


def _check_width(name: str, origins: Origins, width: int | None) -> Origins:
    if width is not None and len(origins) != width:
        raise UnreadableError(f"{name} does not say from which column each of its {width} columns comes")
    return origins


def _resolve_columns(step: Any, columns: Any) -> list[int]:
    """Return the positions of columns that are given by name, position, slice or mask."""
    positions = np.arange(step.n_features_in_)
    position_by_name = {name: j for j, name in enumerate(getattr(step, "feature_names_in_", ()))}
    if isinstance(columns, slice):
        # slices of names include the last
        last = position_by_name[columns.stop] + 1 if isinstance(columns.stop, str) else columns.stop
        return positions[position_by_name.get(columns.start, columns.start) : last : columns.step].tolist()
    columns_array = np.atleast_1d(np.asarray(columns))
    if not len(columns_array) or columns_array.dtype.kind in "biu":
        return positions[columns_array].tolist() if len(columns_array) else []
    return [position_by_name[name] for name in columns_array.tolist()]


def _is_elementwise(step: Any) -> bool:
    """Return whether a step computes each value from the same value: a ufunc, or a step that declares it.

    A step that declares it and mixes columns is detected later, on mixtures of rows.
    """
    from sklearn.preprocessing import FunctionTransformer

    if type(step) is not FunctionTransformer:
        return False
    if isinstance(step.func, np.ufunc):
        return bool(step.func.nin == step.func.nout == 1)
    return step.func is None or step.feature_names_out == "one-to-one"


def _check_column_wise(step: Any) -> None:
    """Reject steps of scikit-learn that mix columns. Other steps are judged by their output names."""
    from sklearn.base import BaseEstimator

    bases = (base for base in type(step).__mro__ if base.__module__.startswith("sklearn."))
    name = next((base.__name__ for base in bases if issubclass(base, BaseEstimator)), "BaseEstimator")
    if name not in COLUMN_WISE | {"BaseEstimator"}:
        hint = ', or does not say feature_names_out="one-to-one"' if name == "FunctionTransformer" else ""
        raise UnreadableError(f"{name} computes columns from several columns{hint}")


def _output_names(step: Any, origins: Origins) -> list[str]:
    """Return the output names of a step for input columns named «0», «1» and so on."""
    nameless = copy.copy(step)  # accepts other names than those it was fitted with
    vars(nameless).pop("feature_names_in_", None)
    input_names = np.array([f"«{j}»" for j in range(len(origins))], dtype=object)
    with raise_as_unreadable(f"{type(step).__name__}.get_feature_names_out"):
        return [str(name) for name in nameless.get_feature_names_out(input_names)]


def _origin_of(step: Any, name: str, origins: Origins) -> int:
    positions = re.findall(r"«(\d+)»", name)
    if len(positions) != 1:
        raise UnreadableError(f"{type(step).__name__} does not say from which column {name!r} comes")
    return origins[int(positions[0])]
