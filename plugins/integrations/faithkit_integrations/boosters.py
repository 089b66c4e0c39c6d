"""Adapters for models that are not estimators: each becomes the estimator of its own library.

So they have labels, scores and classes, and explainers that inspect trees can find them.
"""

import json
from typing import Any

import numpy as np

import faithkit

XGBOOST_CLASS_OBJECTIVES = frozenset({"binary:logistic", "binary:hinge", "multi:softprob", "multi:softmax"})
LIGHTGBM_CLASS_OBJECTIVES = frozenset({"binary", "multiclass", "multiclassova"})


class XGBoostBooster:
    """Adapter of `xgboost.Booster`; it uses all trees, as the Booster's own `predict` does.

    Examples
    --------
    >>> booster, context = XGBoostBooster().example()
    >>> XGBoostBooster().model(booster, context).classes_.tolist()
    [0, 1]
    """

    def model(self, value: Any, context: faithkit.plugin.RowContext) -> Any:
        """Return an XGBClassifier or XGBRegressor that holds a copy of the Booster."""
        import xgboost

        objective = json.loads(value.save_config())["learner"]["objective"]["name"]
        if objective == "binary:logitraw" and context.outcome != "numbers":
            raise faithkit.errors.InputError(
                "the Booster's objective is binary:logitraw, which gives log-odds: write faithkit.Predictor("
                "scores=lambda X: scipy.special.expit(booster.predict(xgboost.DMatrix(X))), classes=[0, 1])."
            )
        has_classes = is_classifier(objective, XGBOOST_CLASS_OBJECTIVES, context)
        estimator = (xgboost.XGBClassifier if has_classes else xgboost.XGBRegressor)(enable_categorical=True)
        estimator.load_model(_with_all_rounds(value).save_raw("ubj"))
        return estimator

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return a Booster of one tree."""
        import xgboost

        X, y = make_rows()
        params = {"objective": "binary:logistic", "nthread": 1}
        return xgboost.train(params, xgboost.DMatrix(X, y), 1), faithkit.plugin.RowContext(n=len(X))


def _with_all_rounds(booster: Any) -> Any:
    """Return a copy without the early-stopping attributes, because estimators would skip later rounds."""
    copy = booster.copy()
    copy.set_attr(best_iteration=None, best_score=None)
    return copy


class LightGBMBooster:
    """Adapter of `lightgbm.Booster`.

    Examples
    --------
    >>> booster, context = LightGBMBooster().example()
    >>> LightGBMBooster().model(booster, context).classes_.tolist()
    [0, 1]
    """

    def model(self, value: Any, context: faithkit.plugin.RowContext) -> Any:
        """Return a classifier or a regressor that predicts with the Booster."""
        from faithkit_integrations.lightgbm_estimators import BoosterClassifier, BoosterRegressor

        dump = value.dump_model(num_iteration=1)
        # a custom objective function is not stored
        objective = dump.get("objective", "").partition(" ")[0]
        if is_classifier(objective, LIGHTGBM_CLASS_OBJECTIVES, context):
            return BoosterClassifier.of(value, max(2, dump["num_class"]))
        return BoosterRegressor.of(value)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return a Booster of one tree."""
        import lightgbm

        X, y = make_rows()
        params = {"objective": "binary", "min_data_in_leaf": 1, "num_threads": 1, "verbose": -1}
        return lightgbm.train(params, lightgbm.Dataset(X, y), 1), faithkit.plugin.RowContext(n=len(X))


class CatBoostModel:
    """Adapter of `catboost.CatBoost`; CatBoost's classifiers and regressors stay unchanged.

    If the user says that the model predicts numbers, these are its raw scores.

    Examples
    --------
    >>> model, context = CatBoostModel().example()  # doctest: +SKIP
    >>> CatBoostModel().model(model, context).classes_.tolist()  # doctest: +SKIP
    [0, 1]
    """

    def model(self, value: Any, context: faithkit.plugin.RowContext) -> Any:
        """Return a CatBoostClassifier if the model has classes, else a CatBoostRegressor."""
        import catboost

        if type(value) is not catboost.CatBoost:
            return value
        if context.outcome == "numbers" and len(value.classes_):
            return value.copy()  # a regressor does not accept the loss of a classifier
        return catboost.to_classifier(value) if len(value.classes_) else catboost.to_regressor(value)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return a model of one tree."""
        import catboost

        X, y = make_rows()
        params = {"loss_function": "Logloss", "iterations": 1, "thread_count": 1, "verbose": 0}
        model = catboost.CatBoost({**params, "allow_writing_files": False})
        return model.fit(X, y), faithkit.plugin.RowContext(n=len(X))


def is_classifier(
    objective: str, class_objectives: frozenset[str], context: faithkit.plugin.RowContext
) -> bool:
    """Return whether a Booster is a classifier; raise InputError if the user names classes for a regressor.

    Parameters
    ----------
    objective : str
        The objective of the Booster.
    class_objectives : frozenset of str
        The objectives of classifiers.
    context : RowContext
        The user's statements about the model.

    Examples
    --------
    >>> is_classifier("binary", frozenset({"binary"}), faithkit.plugin.RowContext())
    True
    >>> is_classifier("binary", frozenset({"binary"}), faithkit.plugin.RowContext(outcome="numbers"))
    False
    """
    if context.outcome == "numbers":
        return False
    if objective not in class_objectives and context.classes is not None:
        raise faithkit.errors.InputError(
            f"the Booster's objective is {objective or 'a function'}, which gives numbers: leave the classes "
            "out, or give a function that returns their scores: faithkit.Predictor(scores=f, classes=[…])."
        )
    return objective in class_objectives


def make_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return a small table with two classes, to train an example on."""
    X = np.arange(40.0).reshape(20, 2) % 7
    return X, (X[:, 0] > 3).astype(int)
