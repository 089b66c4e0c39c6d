"""SHAP values and their fixed-point discretizations."""

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit.inputs.situation import prepare

X = np.random.default_rng(0).normal(size=(200, 4))
TWO = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
THREE = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])


def shap(**params):
    return faithkit.registry().create("explainer", "shap", params)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GradientBoostingClassifier(n_estimators=20), TWO),
        (RandomForestClassifier(20, random_state=0), TWO),
        (RandomForestClassifier(20, random_state=0), THREE),
        (DecisionTreeClassifier(max_depth=4), THREE),
        (HistGradientBoostingClassifier(max_iter=20), TWO),
    ],
)
@pytest.mark.parametrize("output", ["probability", "raw"])
def test_shap_values_add_up_to_the_model(model, y, output):
    fitted = faithkit.Predictor(model.fit(X, y))
    found = shap(output=output, target="all").fit(fitted, X).explain(X[:50], None)
    k = len(fitted.classes)
    total = found.values.reshape(50, k, 4).sum(axis=2) + found.shared["base_value"]
    if output == "raw" and hasattr(model, "decision_function"):
        assert total[:, 1] == pytest.approx(model.decision_function(X[:50]), abs=1e-4)
    else:
        assert total == pytest.approx(model.predict_proba(X[:50]), abs=1e-4)


def test_the_target_is_positive_for_two_classes_and_predicted_for_more():
    two = faithkit.Predictor(RandomForestClassifier(10, random_state=0).fit(X, TWO))
    three = faithkit.Predictor(RandomForestClassifier(10, random_state=0).fit(X, THREE))
    every = shap(target="all").fit(two, X).explain(X[:9], None).values.reshape(9, 2, 4)
    assert np.allclose(shap().fit(two, X).explain(X[:9], None).values, every[:, 1])
    every = shap(target="all").fit(three, X).explain(X[:9], None).values.reshape(9, 3, 4)
    mine = shap().fit(three, X).explain(X[:9], None).values
    assert np.allclose(mine, every[np.arange(9), three.predict(X[:9])])


def test_a_value_at_a_threshold_falls_to_the_models_side():
    """scikit-learn compares float32 with a float64 threshold; TreeSHAP keeps thresholds as float32."""
    found = prepare("breast-cancer")  # 102.8 in float32 lies just above a threshold of the trained model
    values = shap().fit(faithkit.Predictor(found.model), found.background).explain(found.X, None)
    total = values.values.sum(axis=1) + values.shared["base_value"][1]
    assert total == pytest.approx(found.model.predict_proba(found.X)[:, 1], abs=1e-6)


def test_the_order_of_the_background_does_not_matter():
    model = faithkit.Predictor(GradientBoostingClassifier(n_estimators=10).fit(X, TWO))
    one = shap(background="sample:20").fit(model, X).explain(X[:5], None).values
    two = shap(background="sample:20").fit(model, X[::-1]).explain(X[:5], None).values
    assert np.allclose(one, two, atol=1e-12)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"output": "odds"}, "'probability' or 'raw'"),
        ({"target": "negative"}, "positive, predicted, all"),
        ({"background": "kmean"}, "rows, median or sample:n"),
        ({"background": "sample:0"}, "sample:n, got 'sample:0'"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    model = faithkit.Predictor(DecisionTreeClassifier().fit(X, TWO))
    with pytest.raises(faithkit.ParameterError, match=message):
        shap(**params).fit(model, X)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression().fit(X, TWO), "cannot read LogisticRegression as trees"),
        (GradientBoostingClassifier(n_estimators=2).fit(X, THREE), "binary classification"),
        (lambda X: X[:, 0] > 0, "gives labels only"),
    ],
)
def test_a_model_that_is_no_tree_is_refused_with_a_way_out(model, message):
    with pytest.raises(faithkit.InputError, match=message):
        shap().fit(faithkit.Predictor(model, background=X), X)


def test_values_that_do_not_add_up_are_never_returned():
    codes = np.column_stack([X[:, 0], np.random.default_rng(1).integers(0, 6, 200)])
    model = HistGradientBoostingClassifier(max_iter=30, categorical_features=[1], min_samples_leaf=5)
    y = ((codes[:, 1] % 2 == 0) ^ (codes[:, 0] > 0)).astype(int)
    fitted = faithkit.Predictor(model.fit(codes, y))
    trees = shap(target="all").fit(fitted, codes)
    with pytest.raises(faithkit.InputError, match="TreeSHAP is off by"):
        trees.explain(codes, None)


def fp(values, **params):
    discretizer = faithkit.registry().create("discretizer", "fp", params)
    return discretizer.discretize(faithkit.Explanations.vectors(values)).tolist()


def test_fp_floors_towards_minus_infinity_as_the_paper_prints_it():
    golden = [[0.19, -0.19, 0.0, -0.0, 0.1, -0.01, 0.999, 1.0]]
    assert fp(golden, digits=1) == [[0.1, -0.2, 0.0, 0.0, 0.1, -0.1, 0.9, 1.0]]
    assert fp(golden, digits=2) == [[0.19, -0.19, 0.0, 0.0, 0.1, -0.01, 0.99, 1.0]]
    assert fp(golden, digits=1, how="round") == [[0.2, -0.2, 0.0, 0.0, 0.1, 0.0, 1.0, 1.0]]
    assert np.isnan(fp([[np.nan]], digits=1)[0][0])


def test_fp_gives_no_negative_zero():
    assert not np.signbit(fp([[-0.0, 0.0]], digits=1)).any()


def test_fp_refuses_infinite_importances_and_odd_digits():
    with pytest.raises(faithkit.InputError, match="row 1 has an infinite importance"):
        fp([[0.0], [np.inf]], digits=1)
    for digits in (-1, 1.5, 99, True):
        with pytest.raises(faithkit.ParameterError, match="digits"):
            fp([[0.0]], digits=digits)
