"""A Booster of LightGBM, with the face of the estimator that would have trained it."""

from typing import Any

import faithkit
from faithkit_integrations.models.objectives import few_rows, gives_classes

OF_CLASSES = frozenset({"binary", "multiclass", "multiclassova"})


class LightGBMBooster:
    """Take a `lightgbm.Booster` as a model.

    Examples
    --------
    >>> booster, about = LightGBMBooster().example()
    >>> LightGBMBooster().model(booster, about).classes_.tolist()
    [0, 1]
    """

    def model(self, given: Any, about: faithkit.plugin.RowContext) -> Any:
        """Return a classifier or a regressor that asks the Booster."""
        from faithkit_integrations.models.lightgbm_estimators import BoosterClassifier, BoosterRegressor

        told = given.dump_model(num_iteration=1)
        # a function as objective leaves nothing behind
        objective = told.get("objective", "").partition(" ")[0]
        if gives_classes(objective, OF_CLASSES, about):
            return BoosterClassifier.of(given, max(2, told["num_class"]))
        return BoosterRegressor.of(given)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return a Booster of one tree."""
        import lightgbm

        X, y = few_rows()
        params = {"objective": "binary", "min_data_in_leaf": 1, "num_threads": 1, "verbose": -1}
        return lightgbm.train(params, lightgbm.Dataset(X, y), 1), faithkit.plugin.RowContext(n=len(X))
