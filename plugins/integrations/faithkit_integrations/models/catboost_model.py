"""A bare model of CatBoost, whose predictions are raw scores: as a classifier or a regressor."""

from typing import Any

import faithkit
from faithkit_integrations.models.objectives import few_rows


class CatBoostModel:
    """Take a `catboost.CatBoost` as a model; its classifiers and regressors stay what they are.

    Where somebody says that it predicts numbers, these are its raw scores, which it gives itself.

    Examples
    --------
    >>> model, about = CatBoostModel().example()  # doctest: +SKIP
    >>> CatBoostModel().model(model, about).classes_.tolist()  # doctest: +SKIP
    [0, 1]
    """

    def model(self, given: Any, about: faithkit.plugin.RowContext) -> Any:
        """Return a CatBoostClassifier where the model has classes, else a CatBoostRegressor."""
        import catboost

        if type(given) is not catboost.CatBoost:
            return given
        if about.outcome == "numbers" and len(given.classes_):
            return given.copy()  # no regressor takes the loss of a classifier
        return catboost.to_classifier(given) if len(given.classes_) else catboost.to_regressor(given)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return a model of one tree."""
        import catboost

        X, y = few_rows()
        params = {"loss_function": "Logloss", "iterations": 1, "thread_count": 1, "verbose": 0}
        made = catboost.CatBoost({**params, "allow_writing_files": False})
        return made.fit(X, y), faithkit.plugin.RowContext(n=len(X))
