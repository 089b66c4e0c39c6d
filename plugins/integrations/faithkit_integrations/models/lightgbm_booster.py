"""Adapt a LightGBM Booster: wrap it in LightGBM's classifier or regressor."""

from typing import Any

import faithkit
from faithkit_integrations.models.objectives import is_classifier, make_rows

CLASS_OBJECTIVES = frozenset({"binary", "multiclass", "multiclassova"})


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
        from faithkit_integrations.models.lightgbm_estimators import BoosterClassifier, BoosterRegressor

        dump = value.dump_model(num_iteration=1)
        # a custom objective function is not stored
        objective = dump.get("objective", "").partition(" ")[0]
        if is_classifier(objective, CLASS_OBJECTIVES, context):
            return BoosterClassifier.of(value, max(2, dump["num_class"]))
        return BoosterRegressor.of(value)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return a Booster of one tree."""
        import lightgbm

        X, y = make_rows()
        params = {"objective": "binary", "min_data_in_leaf": 1, "num_threads": 1, "verbose": -1}
        return lightgbm.train(params, lightgbm.Dataset(X, y), 1), faithkit.plugin.RowContext(n=len(X))
