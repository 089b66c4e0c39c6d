"""Readers of tree models, one module for each library. None of them imports the library.

The explainer detects a misread model when it is fitted: it compares sums of leaves with the model's own
scores, for the rows of the background and for mixtures of them.
"""

from collections.abc import Callable
from typing import Any

from faithkit_feature_importance.shap_values.errors import NotTreesError, UnreadableError, raise_as_unreadable
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Ensemble
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.catboost_trees import read_catboost
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.lightgbm_trees import read_lightgbm
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.scikit_trees import (
    read_forest,
    read_gradient_boosting,
    read_histogram_boosting,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers.xgboost_trees import read_xgboost

READERS: dict[str, Callable[[Any], Ensemble]] = {  # by library and class, or base class
    "sklearn.DecisionTreeClassifier": read_forest,
    "sklearn.DecisionTreeRegressor": read_forest,
    "sklearn.RandomForestClassifier": read_forest,
    "sklearn.RandomForestRegressor": read_forest,
    "sklearn.ExtraTreesClassifier": read_forest,
    "sklearn.ExtraTreesRegressor": read_forest,
    "sklearn.GradientBoostingClassifier": read_gradient_boosting,
    "sklearn.GradientBoostingRegressor": read_gradient_boosting,
    "sklearn.HistGradientBoostingClassifier": read_histogram_boosting,
    "sklearn.HistGradientBoostingRegressor": read_histogram_boosting,
    "xgboost.XGBClassifier": read_xgboost,
    "xgboost.XGBRegressor": read_xgboost,
    "lightgbm.LGBMClassifier": read_lightgbm,
    "lightgbm.LGBMRegressor": read_lightgbm,
    "catboost.CatBoostClassifier": read_catboost,
    "catboost.CatBoostRegressor": read_catboost,
}


def read_ensemble(model: Any) -> Ensemble:
    """Return the trees of a model.

    Raises
    ------
    NotTreesError
        If the model is not made of trees.
    UnreadableError
        If it is, but the sum of its trees does not determine its scores.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> stump = DecisionTreeClassifier().fit([[0.0, 5.0], [1.0, 5.0]], [0, 1])
    >>> tree = read_ensemble(stump).trees[0]
    >>> tree.threshold[0], tree.values[tree.leaves].tolist()
    (np.float64(0.5), [[0.0], [1.0]])
    """
    reader = _find_reader(model)
    if reader is not None:
        with raise_as_unreadable(f"reading the trees of {type(model).__name__}"):
            return reader(model)
    if inner_names := [
        type(inner_model).__name__ for inner_model in _inner_models(model) if _find_reader(inner_model)
    ]:
        raise UnreadableError(f"{type(model).__name__} changes the scores of {inner_names[0]}")
    raise NotTreesError(f"{type(model).__name__} is not made of trees")


def is_made_of_trees(model: Any) -> bool:
    """Return whether a model is of a class whose trees can be read."""
    return _find_reader(model) is not None


def _find_reader(model: Any) -> Callable[[Any], Ensemble] | None:
    names = (f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(model).__mro__)
    return next((READERS[name] for name in names if name in READERS), None)


def _inner_models(model: Any) -> list[Any]:
    """Return the models within a model that calibrates, stacks or votes."""
    from sklearn.base import MetaEstimatorMixin

    return list(model.get_params().values()) if isinstance(model, MetaEstimatorMixin) else []
