"""The contract is kept for boosted trees of other libraries, which compare and add up in their own way."""

import functools

import faithkit_feature_importance
import numpy as np
import pytest
from contract import keep
from lazy_modules import import_when_used
from looping import one_test

from faithkit.testing import EvaluationInputs, checks_for

pytestmark = pytest.mark.slow  # sklearn's models keep it in test_contract.py

xgboost = import_when_used("xgboost")
lightgbm = import_when_used("lightgbm")

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 4)).round(1)
X[rng.random(X.shape) < 0.1] = np.nan
SUM = np.nansum(X[:, :2], axis=1)
LABELS = {"two": (SUM > 0.3).astype(int), "three": np.digitize(SUM, [-0.5, 0.5])}
MODELS = {
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=10, n_jobs=1),
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, min_child_samples=3, verbose=-1),
}
EXPLAINERS = {component.name: component for component in faithkit_feature_importance.faithkit_explainers()}


@functools.cache
def situations():
    return {
        f"{library}_of_{classes}_classes": EvaluationInputs(
            make().fit(X[:60], y[:60]), np.vstack([X[60:65], X[61:62]]), X[:60]
        )
        for (library, make), (classes, y) in zip(MODELS.items(), LABELS.items(), strict=True)
    }


@one_test
@pytest.mark.parametrize("name", ["shap", "lime", "gradient"])
def test_explainers_keep_the_contract(name):
    checks = checks_for(("explainer", EXPLAINERS[name]), situations=situations())
    keep(check for check in checks if "worker" not in check.name)


@one_test
@pytest.mark.parametrize("name", ["shap", "lime", "gradient"])
def test_explainers_keep_it_in_other_processes(name):
    checks = checks_for(("explainer", EXPLAINERS[name]), situations=situations())
    keep(check for check in checks if "worker" in check.name)
