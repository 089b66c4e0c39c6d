"""An adapter for bare CatBoost models, whose predictions are raw scores."""

from typing import Any

import faithkit
from faithkit_integrations.models.objectives import make_rows


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
