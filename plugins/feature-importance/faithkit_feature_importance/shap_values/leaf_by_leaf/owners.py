"""Which raw column each prepared column comes from, where every one comes from a single raw column.

Then a mixture of two rows can be prepared without asking the preparation again: a prepared column follows its
raw column. What each transformer does with its columns it says itself, by the names that it gives them: they
are asked for with names that stand for the raw columns.
"""

import copy
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import UnreadableError, read

Owners = list[int]

# of scikit-learn; those that make each of their columns from a single one
COLUMN_WISE = {
    "OneHotEncoder", "OrdinalEncoder", "TargetEncoder",
    "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer",
    "PowerTransformer", "Binarizer", "KBinsDiscretizer", "SplineTransformer", "SimpleImputer",
    "MissingIndicator", "VarianceThreshold", "SelectKBest", "SelectPercentile", "SelectFpr",
    "SelectFdr", "SelectFwe", "GenericUnivariateSelect", "SelectFromModel", "RFE", "RFECV",
    "SequentialFeatureSelector",
}  # fmt: skip


def split(model: Any) -> tuple[list[Any], Any]:
    """Return the steps that prepare the rows, in order, and the model that sees them prepared.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> split(make_pipeline(StandardScaler(), "passthrough", DecisionTreeClassifier()))
    ([StandardScaler()], DecisionTreeClassifier())
    """
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.pipeline import Pipeline

    if isinstance(model, BaseSearchCV) and hasattr(model, "best_estimator_"):
        return split(model.best_estimator_)
    if not isinstance(model, Pipeline):
        return [], model
    *steps, last = (step for _, step in model.steps)
    steps = [step for step in steps if step is not None and step != "passthrough"]
    inner, final = split(last)
    return [*steps, *inner], final


def columns_seen(step: Any, names: Sequence[str]) -> Owners:
    """Return which columns of a table with these names the first step or the model looks at, in its order.

    It finds them by name where it knows names; else they are the table's own, by place. Those that the table
    does not have are −1: columns that are dropped need not be there.
    """
    fitted = getattr(step, "feature_names_in_", None)
    known = [str(name) for name in (names if fitted is None else fitted)]
    place = {name: j for j, name in enumerate(names)}
    if len(known) == len(names) and not set(known) <= set(names):
        return list(range(len(names)))
    return [place.get(name, -1) for name in known]


def follow(steps: Sequence[Any], owners: Owners, width: int | None = None) -> Owners:
    """Return the owner of every column that a chain of steps makes out of columns with these owners.

    Parameters
    ----------
    steps : fitted transformers
    owners : list of int
        The raw column of each column that the first step is given.
    width : int, optional
        How many columns the last step makes.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> follow([OneHotEncoder().fit([["a", "x"], ["b", "x"]])], [0, 1])
    [0, 0, 1]
    """
    for place, step in enumerate(steps):
        after = steps[place + 1] if place + 1 < len(steps) else None
        made = width if after is None else getattr(after, "n_features_in_", None)
        owners = _fitting(type(step).__name__, _made_by(step, owners, made), made)
    return owners


def _made_by(step: Any, owners: Owners, width: int | None) -> Owners:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    if step is None or step == "passthrough":
        return owners
    if isinstance(step, Pipeline):
        return follow([one for _, one in step.steps], owners, width)
    if type(step) is ColumnTransformer:
        return _side_by_side(step, owners)
    if type(step) is FeatureUnion:
        return [
            owner
            for _, one in step.transformer_list
            if one != "drop"
            for owner in _made_by(one, owners, None)
        ]
    if len(set(owners)) == 1:  # whatever it does, it has one raw column to do it with
        return owners[:1] * (len(_names(step, owners)) if width is None else width)
    if _is_elementwise(step):
        return owners
    _check_column_wise(step)
    return [_owner(step, name, owners) for name in _names(step, owners)]


def _side_by_side(step: Any, owners: Owners) -> Owners:
    """Follow the columns of a ColumnTransformer to where each of its parts puts what it makes."""
    found = [-1] * max((part.stop for part in step.output_indices_.values()), default=0)
    for name, part, columns in step.transformers_:
        place = step.output_indices_.get(name, slice(0, 0))
        width = place.stop - place.start
        if width:
            found[place] = _fitting(
                name, _made_by(part, [owners[j] for j in _chosen(step, columns)], width), width
            )
    return found


def _fitting(name: str, owners: Owners, width: int | None) -> Owners:
    if width is not None and len(owners) != width:
        raise UnreadableError(f"{name} does not say from which column each of its {width} columns comes")
    return owners


def _chosen(step: Any, columns: Any) -> list[int]:
    """Return the positions of columns that are told by name, position, slice or mask."""
    places = np.arange(step.n_features_in_)
    place = {name: j for j, name in enumerate(getattr(step, "feature_names_in_", ()))}
    if isinstance(columns, slice):
        last = place[columns.stop] + 1 if isinstance(columns.stop, str) else columns.stop  # names include it
        return places[place.get(columns.start, columns.start) : last : columns.step].tolist()
    told = np.atleast_1d(np.asarray(columns))
    if not len(told) or told.dtype.kind in "biu":
        return places[told].tolist() if len(told) else []
    return [place[name] for name in told.tolist()]


def _is_elementwise(step: Any) -> bool:
    """Whether it makes each cell from the cell at its place: a function of NumPy's, or one that says so.

    A function that says so and mixes columns all the same is found out by mixtures of rows.
    """
    from sklearn.preprocessing import FunctionTransformer

    if type(step) is not FunctionTransformer:
        return False
    if isinstance(step.func, np.ufunc):
        return bool(step.func.nin == step.func.nout == 1)
    return step.func is None or step.feature_names_out == "one-to-one"


def _check_column_wise(step: Any) -> None:
    """Refuse what mixes columns; steps of others are taken at the names that they give to their columns."""
    from sklearn.base import BaseEstimator

    kinds = (kind for kind in type(step).__mro__ if kind.__module__.startswith("sklearn."))
    name = next((kind.__name__ for kind in kinds if issubclass(kind, BaseEstimator)), "BaseEstimator")
    if name not in COLUMN_WISE | {"BaseEstimator"}:
        unless = ', or does not say feature_names_out="one-to-one"' if name == "FunctionTransformer" else ""
        raise UnreadableError(f"{name} makes columns from several{unless}")


def _names(step: Any, owners: Owners) -> list[str]:
    """Return the names of what a step makes out of columns called «0», «1» and so on."""
    nameless = copy.copy(step)  # which does not insist on the names that it was fitted with
    vars(nameless).pop("feature_names_in_", None)
    given = np.array([f"«{j}»" for j in range(len(owners))], dtype=object)
    with read(f"{type(step).__name__}.get_feature_names_out"):
        return [str(name) for name in nameless.get_feature_names_out(given)]


def _owner(step: Any, name: str, owners: Owners) -> int:
    told = re.findall(r"«(\d+)»", name)
    if len(told) != 1:
        raise UnreadableError(f"{type(step).__name__} does not say from which column {name!r} comes")
    return owners[int(told[0])]
