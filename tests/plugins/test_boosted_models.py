"""The contract is kept for boosted trees of other libraries, which compare and add up in their own way."""

import faithkit_feature_importance
import numpy as np
import pytest

from faithkit.testing import EvaluationInputs, parametrize_with_checks

xgboost = pytest.importorskip("xgboost")
lightgbm = pytest.importorskip("lightgbm")

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 4)).round(1)
X[rng.random(X.shape) < 0.1] = np.nan
SUM = np.nansum(X[:, :2], axis=1)
LABELS = {"two": (SUM > 0.3).astype(int), "three": np.digitize(SUM, [-0.5, 0.5])}
MODELS = {
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=10, n_jobs=1),
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, min_child_samples=3, verbose=-1),
}
SITUATIONS = {
    f"{library}_of_{classes}_classes": EvaluationInputs(
        make().fit(X[:60], y[:60]), np.vstack([X[60:65], X[61:62]]), X[:60]
    )
    for library, make in MODELS.items()
    for classes, y in LABELS.items()
}
EXPLAINERS = {component.name: component for component in faithkit_feature_importance.faithkit_explainers()}


@parametrize_with_checks(("explainer", EXPLAINERS["shap"]), situations=SITUATIONS)
def test_shap_keeps_the_contract(check):
    check.run()


@parametrize_with_checks(("explainer", EXPLAINERS["lime"]), situations=SITUATIONS)
def test_lime_keeps_the_contract(check):
    check.run()


@parametrize_with_checks(("explainer", EXPLAINERS["gradient"]), situations=SITUATIONS)
def test_gradients_keep_the_contract(check):
    check.run()
