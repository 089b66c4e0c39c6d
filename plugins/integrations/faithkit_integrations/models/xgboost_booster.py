"""A Booster of XGBoost, as the estimator that would have trained it."""

import json
from typing import Any

import faithkit
from faithkit_integrations.models.objectives import few_rows, gives_classes

OF_CLASSES = frozenset({"binary:logistic", "binary:hinge", "multi:softprob", "multi:softmax"})


class XGBoostBooster:
    """Take an `xgboost.Booster` as a model: all of its trees, as its own `predict` does.

    Examples
    --------
    >>> booster, about = XGBoostBooster().example()
    >>> XGBoostBooster().model(booster, about).classes_.tolist()
    [0, 1]
    """

    def model(self, given: Any, about: faithkit.plugin.RowContext) -> Any:
        """Return an XGBClassifier or XGBRegressor that holds a copy of the Booster."""
        import xgboost

        objective = json.loads(given.save_config())["learner"]["objective"]["name"]
        if objective == "binary:logitraw" and about.outcome != "numbers":
            raise faithkit.errors.InputError(
                "the Booster's objective is binary:logitraw, which gives log-odds: write faithkit.Predictor("
                "scores=lambda X: scipy.special.expit(booster.predict(xgboost.DMatrix(X))), classes=[0, 1])."
            )
        is_classifier = gives_classes(objective, OF_CLASSES, about)
        made = (xgboost.XGBClassifier if is_classifier else xgboost.XGBRegressor)(enable_categorical=True)
        made.load_model(_with_all_rounds(given).save_raw("ubj"))
        return made

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return a Booster of one tree."""
        import xgboost

        X, y = few_rows()
        params = {"objective": "binary:logistic", "nthread": 1}
        return xgboost.train(params, xgboost.DMatrix(X, y), 1), faithkit.plugin.RowContext(n=len(X))


def _with_all_rounds(booster: Any) -> Any:
    """Return a copy that forgot that it was stopped early: estimators leave rounds out then, it does not."""
    whole = booster.copy()
    whole.set_attr(best_iteration=None, best_score=None)
    return whole
