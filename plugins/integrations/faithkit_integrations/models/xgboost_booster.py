"""Adapt an XGBoost Booster: load it into an XGBClassifier or XGBRegressor."""

import json
from typing import Any

import faithkit
from faithkit_integrations.models.objectives import is_classifier, make_rows

CLASS_OBJECTIVES = frozenset({"binary:logistic", "binary:hinge", "multi:softprob", "multi:softmax"})


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
        has_classes = is_classifier(objective, CLASS_OBJECTIVES, context)
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
