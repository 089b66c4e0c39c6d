"""What moves a number: SHAP values, LIME's weights and gradients of a prediction, by independent means."""

import numpy as np
import pytest
from lazy_modules import import_when_used
from looping import one_test
from regressors import (
    BACKGROUND,
    FRAME,
    LEARNERS,
    MODELS,
    REVIEWS,
    ROWS,
    TEXTS,
    TWO_NUMBERS,
    X,
    Y,
    behind_a_pipeline,
    create_explainer,
    explained,
    function,
)
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import PoissonRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import faithkit

xgboost, lightgbm = import_when_used("xgboost"), import_when_used("lightgbm")

# --- shap ------------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("name", MODELS)
def test_shap_values_and_their_base_add_up_to_the_prediction(name):
    explanations = explained("shap:offset=true", MODELS[name], ROWS[:9], BACKGROUND[:40])
    predicted = faithkit.Predictor(MODELS[name]).model
    expected = np.ravel(getattr(predicted, "predict", predicted)(ROWS[:9]))
    assert explanations.values.sum(axis=1) == pytest.approx(expected, abs=1e-4 if name == "xgboost" else 1e-9)
    assert explanations.shared["algorithm"] == {"linear": "linear", "function": "kernel"}.get(name, "leaves")


@one_test
@pytest.mark.parametrize("name", ["forest", "xgboost"])
def test_trees_are_read_behind_a_pipeline_as_those_of_classes_are(name):
    model = behind_a_pipeline(LEARNERS[name]())
    explanations = explained("shap:offset=true", model, FRAME[200:210], FRAME[:40])
    assert explanations.shared["algorithm"] == "leaves"
    assert explanations.shared["names"] == [*FRAME.columns, "offset"]
    assert explanations.values.sum(axis=1) == pytest.approx(model.predict(FRAME[200:210]), abs=1e-4)


@one_test
@pytest.mark.parametrize("name", ["forest", "boosting", "histograms", "xgboost", "lightgbm"])
def test_values_of_trees_are_those_of_trying_all_coalitions(name):
    leaves, coalitions = (
        explained(
            f"shap:algorithm={algorithm!r};background='sample:9'", MODELS[name], ROWS[:3], BACKGROUND[:40]
        )
        for algorithm in ("tree", "kernel")
    )
    assert leaves.values == pytest.approx(coalitions.values, abs=1e-4 if name == "xgboost" else 1e-9)


def test_values_of_a_linear_regressor_are_coefficients_times_the_distance_from_the_mean():
    explanations = explained("shap:background='rows'", MODELS["linear"], ROWS, BACKGROUND)
    assert explanations.values == pytest.approx(
        MODELS["linear"].coef_ * (ROWS - BACKGROUND.mean(axis=0)), abs=1e-9
    )


@one_test
@pytest.mark.parametrize(
    ("algorithm", "scale", "shift"),
    [("kernel", 1e9, 0.0), ("kernel", 1.0, 1e6), ("permutation", 1e-9, 0.0), ("permutation", -1.0, 1e6)],
)
def test_values_scale_with_the_prediction_and_no_shift_changes_them(algorithm, scale, shift):
    spec = f"shap:algorithm={algorithm!r};background='sample:9'"
    plain = explained(spec, function, ROWS[:5], BACKGROUND).values
    other = explained(spec, lambda X: scale * function(X) + shift, ROWS[:5], BACKGROUND).values
    assert other / scale == pytest.approx(plain, abs=1e-7)


@one_test
@pytest.mark.parametrize(
    ("make", "has_raw"),
    [
        (lambda: HistGradientBoostingRegressor(loss="poisson", max_iter=3, max_leaf_nodes=6), False),
        (lambda: xgboost.XGBRegressor(objective="count:poisson", n_estimators=3, n_jobs=1), True),
        (lambda: lightgbm.LGBMRegressor(objective="tweedie", n_estimators=3, n_jobs=1, verbose=-1), True),
        (PoissonRegressor, False),
    ],
    ids=["histograms", "xgboost", "lightgbm", "linear"],
)
def test_what_is_a_function_of_a_sum_is_explained_by_asking(make, has_raw, recwarn):
    recwarn.clear()
    model = make().fit(BACKGROUND, np.exp(X[:200, 0]))
    explanations = explained("shap:offset=true", model, ROWS[:5], BACKGROUND)
    assert explanations.shared["algorithm"] == "kernel"
    assert explanations.values.sum(axis=1) == pytest.approx(model.predict(ROWS[:5]), abs=1e-4)
    warnings = [
        str(note.message) for note in recwarn if issubclass(note.category, faithkit.errors.FaithkitWarning)
    ]
    assert ["output=raw is exact and fast" in text for text in warnings] == [True] * has_raw


def test_raw_scores_of_counts_are_read_off_the_trees():
    model = xgboost.XGBRegressor(objective="count:poisson", n_estimators=3, n_jobs=1)
    model.fit(BACKGROUND, np.exp(X[:200, 0]))
    explanations = explained("shap:output='raw';offset=true", model, ROWS, BACKGROUND)
    assert explanations.shared["algorithm"] == "leaves"
    assert explanations.values.sum(axis=1) == pytest.approx(np.log(model.predict(ROWS)), abs=1e-4)


def test_several_outputs_are_explained_side_by_side():
    forest = RandomForestRegressor(5, max_depth=3, random_state=0)
    forest.fit(BACKGROUND, np.column_stack([Y[:200], 1e6 * X[:200, 3]]))
    for model, algorithm in ((TWO_NUMBERS, "linear"), (forest, "leaves")):
        explanations = explained("shap:offset=true", model, ROWS, BACKGROUND)
        assert explanations.shared["algorithm"] == algorithm
        assert explanations.shared["names"][3:5] == ["output 0: x3", "output 1: x0"]
        sums = [
            explanations.values[:, 4 * k : 4 * k + 4].sum(axis=1) + explanations.values[:, 8 + k]
            for k in (0, 1)
        ]
        assert np.column_stack(sums) == pytest.approx(model.predict(ROWS), rel=1e-9, abs=1e-9)


# --- lime and gradients ----------------------------------------------------------------------------------


def test_lime_finds_the_coefficients_of_what_is_linear():
    spec = "lime:discretize_continuous=false;samples=5000"
    explanations = explained(spec, MODELS["linear"], ROWS[:3], BACKGROUND)
    expected = MODELS["linear"].coef_ * BACKGROUND.std(axis=0)  # of columns that are standardized
    assert explanations.values == pytest.approx(np.tile(expected, (3, 1)), rel=0.01, abs=0.01)


def test_lime_for_texts_names_the_word_that_moves_the_number_most_up_or_down():
    explanations = explained("lime-text", REVIEWS, ["fine plot", "dull plot"], TEXTS)
    assert [str(rule) for rule in explanations.values] == [
        "contains the word 'fine'",
        "contains the word 'dull'",
    ]


def make_perceptron():
    return MLPRegressor(hidden_layer_sizes=(5,), activation="tanh", max_iter=20, random_state=0)


def differentiate(predict, rows, step=1e-5):
    sides = [(predict(rows + step * axis) - predict(rows - step * axis)) / (2 * step) for axis in np.eye(4)]
    return np.stack(sides, axis=1)


@one_test
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: MODELS["linear"], "Formula"),
        (lambda: PoissonRegressor().fit(BACKGROUND, np.exp(X[:200, 0])), "Formula"),
        (lambda: make_pipeline(StandardScaler(), make_perceptron()).fit(BACKGROUND, Y[:200]), "Formula"),
        (lambda: function, "FiniteDifferences"),
        (lambda: lambda X: 1e-9 * function(X), "FiniteDifferences"),
        (lambda: lambda X: 1e9 * function(X), "FiniteDifferences"),
    ],
    ids=["linear", "Poisson", "perceptron", "function", "small", "large"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_gradient_is_that_of_the_prediction(make, kind):
    predictor = faithkit.Predictor(make(), background=BACKGROUND)
    fitted = create_explainer("gradient:offset=true").fit(predictor, BACKGROUND)
    explanations = fitted.explain(ROWS, None)
    expected = differentiate(predictor.predict, ROWS)
    size = np.abs(expected).max()
    assert type(fitted.gradient_function_).__name__ == kind
    assert explanations.values[:, :4] / size == pytest.approx(expected / size, abs=1e-5)
    tangent = (explanations.values[:, :4] * ROWS).sum(axis=1) + explanations.values[:, 4]
    assert tangent / size == pytest.approx(predictor.predict(ROWS) / size, abs=1e-5)
