"""What the terms of a boosting machine add is what its scores are made of."""

import warnings
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from contract import keep
from faithkit_conformance import checks_for
from faithkit_glass_box.boosting_terms import Contributions
from glass_boxes import EXPLAINERS, GAPS, LABELS, MIXED, SCORE, TABLE, THREE, situation
from looping import one_test
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import faithkit

pytestmark = pytest.mark.filterwarnings("ignore")
glassbox = pytest.importorskip("interpret.glassbox")

SMALL = {"max_rounds": 40, "learning_rate": 0.2, "outer_bags": 1, "n_jobs": 1, "random_state": 0}
CLASSIFIER = partial(glassbox.ExplainableBoostingClassifier, **SMALL)
REGRESSOR = partial(glassbox.ExplainableBoostingRegressor, interactions=1, **SMALL)
CASES = {
    "two": (partial(CLASSIFIER, interactions=1), MIXED, LABELS),
    "array": (partial(CLASSIFIER, interactions=0), TABLE.to_numpy(), LABELS),
    "three": (partial(CLASSIFIER, interactions=0), GAPS, THREE),
    "numbers": (REGRESSOR, MIXED, SCORE),
    "counts": (partial(REGRESSOR, objective="poisson_deviance"), TABLE, np.exp(SCORE).round()),
}


@cache
def fit(name):
    make, rows, target = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # missing values are not drawn
        return make().fit(rows, target), rows


def explain(name):
    model, rows = fit(name)
    return Contributions().fit(faithkit.Predictor(model), rows).explain(rows, seeds=None)


def compute_scores(name):
    """Return the scores that the library itself gives, of the class that is explained."""
    model, rows = fit(name)
    if name == "three":
        return np.log(model.predict_proba(rows)).max(axis=1)
    if name in ("two", "array"):
        return model.decision_function(rows)
    return np.log(model.predict(rows)) if name == "counts" else model.predict(rows)


@one_test
@pytest.mark.parametrize("name", CASES)
def test_contributions_and_intercept_add_up_to_the_score(name):
    model, rows = fit(name)
    explanations = explain(name)
    intercept = np.array(explanations.shared["intercept"])
    if name == "three":
        place = np.searchsorted(model.classes_, model.predict(rows))
        others = model.eval_terms(rows).sum(axis=1) + intercept  # softmax leaves their common part open
        total = explanations.values.sum(axis=1) + intercept[place] - np.log(np.exp(others).sum(axis=1))
    else:
        total = explanations.values.sum(axis=1) + intercept
    np.testing.assert_allclose(total, compute_scores(name), rtol=1e-9, atol=1e-9)
    assert len(set(model.predict(rows))) >= len(getattr(model, "classes_", range(10)))


def test_terms_have_names_and_words_are_a_column_like_any_other():
    model, rows = fit("two")
    explanations = explain("two")
    assert explanations.shared["names"][:6] == list(MIXED.columns)
    assert " & " in explanations.shared["names"][6]
    contributions = pd.Series(explanations.values[:, 4]).groupby(rows["job"].to_numpy()).nunique()
    assert contributions.to_dict() == {"clerk": 1, "cook": 1, "smith": 1}  # one contribution for each word
    local = model.explain_local(rows[:3])
    for row in range(3):
        np.testing.assert_array_equal(explanations.values[row], local.data(row)["scores"])


@one_test
@pytest.mark.parametrize("name", ["two", "array", "numbers"])
def test_rows_with_the_same_contributions_get_the_same_prediction(name):
    model, rows = fit(name)
    twice = pd.concat([rows, rows], ignore_index=True) if hasattr(rows, "iloc") else np.vstack([rows, rows])
    result = faithkit.evaluate(model, twice, Contributions(), progress=False)
    assert (result.consistency.value, result.consistency.verified) == (pytest.approx(1.0), 1.0)


REFUSED = {
    "other": (LogisticRegression, "the model is a LogisticRegression: use shap"),
    "pipeline": (
        lambda: make_pipeline(CLASSIFIER()),
        "those of a Pipeline are about columns that it makes first",
    ),
    "glass-box": (
        glassbox.LogisticRegression,
        "a LogisticRegression: give its explain_local as the explainer",
    ),
    "unfitted": (CLASSIFIER, "the ExplainableBoostingClassifier has no terms yet: fit it first"),
}


@one_test
@pytest.mark.parametrize(("make", "advice"), REFUSED.values(), ids=REFUSED)
def test_a_model_that_it_cannot_read_is_refused_with_advice(make, advice):
    with pytest.raises(faithkit.errors.InputError, match=advice):
        Contributions().fit(faithkit.Predictor(make()), None)


SITUATIONS = {name: situation(*fit(name)) for name in ("array", "three", "numbers")}


def test_ebm_keeps_the_contract():
    keep(checks_for(("explainer", EXPLAINERS["ebm"]), situations=SITUATIONS))
