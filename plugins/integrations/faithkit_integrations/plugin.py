"""The faithkit plugin: adapters for models of other libraries."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.plugin.hookimpl
def faithkit_adapters() -> Iterable[faithkit.plugin.Component]:
    """Provide adapters for models that are not scikit-learn estimators."""
    yield faithkit.plugin.Component(
        name="xgboost-booster",
        factory="faithkit_integrations.boosters:XGBoostBooster",
        summary="A Booster of XGBoost as a model: its objective says what it predicts.",
        types=("xgboost.Booster",),
        requires=("xgboost",),
    )
    yield faithkit.plugin.Component(
        name="lightgbm-booster",
        factory="faithkit_integrations.boosters:LightGBMBooster",
        summary="A Booster of LightGBM as a model: its objective says what it predicts.",
        types=("lightgbm.Booster",),
        requires=("lightgbm",),
    )
    yield faithkit.plugin.Component(
        name="catboost",
        factory="faithkit_integrations.boosters:CatBoostModel",
        summary="A bare CatBoost model: a classifier where it has classes, else a regressor.",
        types=("catboost.CatBoost",),
        requires=("catboost",),
    )
