"""Gradients: exact where a formula is known, the tangent's offset, and what has no derivative."""

import warnings

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

import faithkit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)) * [1.0, 20.0, 0.01] + [0.0, 100.0, 0.0]
Z = (X - [0.0, 100.0, 0.0]) / [1.0, 20.0, 0.01]
TWO = np.where(Z[:, 0] + Z[:, 1] ** 2 > 0.7, "yes", "no")
THREE = np.digitize(Z[:, 0] - Z[:, 1], [-0.7, 0.7])


def make_gradient(**params):
    return faithkit.plugin.registry().create("explainer", "gradient", params)


def explain(model, rows=X, background=X, **params):
    return make_gradient(**params).fit(faithkit.Predictor(model), background).explain(rows, None)


def differentiate(function, rows):
    """Differentiate along every column, as one does by hand; (n, columns), or (n, columns, outputs)."""
    steps = 1e-5 * rows.std(axis=0)
    slopes = [
        (function(rows + move) - function(rows - move)) / (2 * step)
        for step, move in zip(steps, np.diag(steps), strict=True)
    ]
    return np.stack(slopes, axis=1)


def are_near(values, expected):
    return np.allclose(values * Z_SCALE, expected * Z_SCALE, atol=2e-7)


Z_SCALE = np.array([1.0, 20.0, 0.01])  # a column of a larger scale has a smaller slope


def make_logistic():
    return LogisticRegression(solver="newton-cholesky")


def make_mlp(activation, layers):
    return MLPClassifier(layers, activation=activation, max_iter=10, random_state=0)


def scale_before(model):
    return make_pipeline(StandardScaler(), model)


ONE_AGAINST_OTHERS = scale_before(SGDClassifier(loss="log_loss", random_state=0))
PROBABLE = {
    "logistic, two classes": (make_logistic(), TWO),
    "logistic, three classes": (make_logistic(), THREE),
    "discriminant": (LinearDiscriminantAnalysis(), THREE),
    "one against the others, two classes": (ONE_AGAINST_OTHERS, TWO),
    "one against the others, three classes": (ONE_AGAINST_OTHERS, THREE),
    "perceptron, identity": (scale_before(make_mlp("identity", (7,))), TWO),
    "perceptron, logistic": (scale_before(make_mlp("logistic", (6, 5))), THREE),
    "perceptron, tanh": (scale_before(make_mlp("tanh", (7,))), THREE),
    "perceptron, relu": (scale_before(make_mlp("relu", (6, 5))), TWO),
    "min-max": (make_pipeline(MinMaxScaler((-1, 3)), make_logistic()), TWO),
    "max-abs": (make_pipeline(MaxAbsScaler(), make_logistic()), THREE),
    "robust": (make_pipeline(RobustScaler(), make_logistic()), TWO),
    "not centred": (make_pipeline(StandardScaler(with_mean=False), RobustScaler(), make_logistic()), THREE),
    "searched for": (
        GridSearchCV(scale_before(make_logistic()), {"logisticregression__C": [0.1]}, cv=2),
        TWO,
    ),
}


@one_test
@pytest.mark.parametrize("name", PROBABLE)
def test_the_formula_of_a_probability_agrees_with_finite_differences(name):
    model, y = PROBABLE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a perceptron need not converge to be differentiated
        model.fit(X, y)
    result = explain(model, X[:20], method="analytic", target="all").values.reshape(20, -1, 3)
    expected = differentiate(model.predict_proba, X[:20])
    assert result.shape[1] == expected.shape[2]
    for k in range(result.shape[1]):
        assert are_near(result[:, k], expected[:, :, k])


RAW = {
    "logistic, two classes": (make_logistic(), TWO),
    "logistic, three classes": (make_logistic(), THREE),
    "discriminant": (LinearDiscriminantAnalysis(), TWO),
    "ridge": (RidgeClassifier(), THREE),
    "support vectors": (scale_before(LinearSVC()), TWO),
    "stochastic": (scale_before(SGDClassifier(random_state=0)), THREE),
    "perceptron": (scale_before(Perceptron()), TWO),
    "without intercept": (RidgeClassifier(fit_intercept=False), TWO),
}


@one_test
@pytest.mark.parametrize("name", RAW)
def test_the_formula_of_a_decision_function_agrees_with_finite_differences(name):
    model, y = RAW[name]
    model.fit(X, y)
    values = explain(model, X[:20], output="raw", method="analytic", target="all").values
    expected = differentiate(model.decision_function, X[:20])
    if expected.ndim == 2:
        expected = np.stack([-expected, expected], axis=2)
    for k, gradients in enumerate(np.split(values, len(np.unique(y)), axis=1)):
        assert are_near(gradients, expected[:, :, k])


@one_test
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_raw_scores_of_a_perceptron_are_those_before_its_softmax(y):
    model = scale_before(make_mlp("tanh", (5,))).fit(X, y)
    result = explain(model, X[:20], output="raw", target="all").values.reshape(20, -1, 3)
    # softmax forgets what all scores have in common, so their differences are compared
    expected = differentiate(
        lambda rows: np.log(model.predict_proba(rows)[:, 1] / model.predict_proba(rows)[:, 0]), X[:20]
    )
    difference = result[:, 1] if result.shape[1] == 2 else result[:, 1] - result[:, 0]
    assert are_near(difference, expected)
    if result.shape[1] == 2:
        assert np.array_equal(result[:, 0], -result[:, 1])


def test_sparse_coefficients_are_coefficients():
    model = scale_before(SGDClassifier(loss="log_loss", random_state=0)).fit(X, THREE)
    dense = explain(model, X[:5]).values
    model[-1].sparsify()
    assert np.array_equal(explain(model, X[:5], method="analytic").values, dense)


def test_a_linear_models_gradient_is_written_down_by_hand():
    model = make_logistic().fit(X, TWO)
    p = model.predict_proba(X)[:, [1]]
    assert np.allclose(explain(model).values, p * (1 - p) * model.coef_, atol=1e-12)
    assert np.allclose(explain(model, output="raw").values, model.coef_, atol=1e-12)


def test_coefficients_are_not_believed_but_compared_with_the_scores():
    class Cube(LogisticRegression):
        def predict_proba(self, X):
            cubes = super().predict_proba(X) ** 3
            return cubes / cubes.sum(axis=1, keepdims=True)

    model = Cube(solver="newton-cholesky").fit(X, TWO)
    expected = differentiate(lambda rows: model.predict_proba(rows)[:, 1], X[:20])
    assert are_near(explain(model, X[:20]).values, expected)
    with pytest.raises(
        faithkit.errors.InputError, match="no formula is known for the probability output of Cube"
    ):
        explain(model, method="analytic")


@one_test
@pytest.mark.parametrize(
    ("model", "output", "y"),
    [
        (SVC(kernel="rbf", gamma=0.1), "raw", TWO),
        (SVC(kernel="linear"), "raw", THREE),
        (GaussianProcessClassifier(), "probability", TWO),
        (make_pipeline(PolynomialFeatures(2), make_logistic()), "probability", THREE),
        (make_pipeline(PolynomialFeatures(2), make_logistic()), "raw", TWO),
        (make_pipeline(MinMaxScaler(clip=True), make_logistic()), "probability", THREE),
    ],
    ids=["rbf", "svc", "process", "polynomial", "polynomial raw", "clipped"],
)
def test_models_without_a_formula_are_differentiated_numerically(model, output, y):
    model = make_pipeline(StandardScaler(), model).fit(X[:40], y[:40])
    rows = X[:6]
    result = explain(model, rows, output=output, target="all").values.reshape(6, -1, 3)
    method = model.predict_proba if output == "probability" else model.decision_function
    score = (lambda r: method(r)[:, 1]) if method(rows).ndim == 2 else method
    assert np.allclose(result[:, 1] * Z_SCALE, differentiate(score, rows) * Z_SCALE, atol=1e-5)


def test_numerical_gradients_are_good_to_six_digits():
    model = scale_before(make_mlp("tanh", (6,))).fit(X, THREE)
    exact = explain(model, method="analytic", offset=True).values
    numerical = explain(model, method="finite-differences", offset=True).values
    scale = np.r_[Z_SCALE, 1.0]
    assert np.abs((numerical - exact) * scale).max() < 1e-6 * np.abs(exact * scale).max()


# which class, and the offset


def test_the_target_is_positive_for_two_classes_and_predicted_for_more():
    two, three = make_logistic().fit(X, TWO), make_logistic().fit(X, THREE)
    every = explain(two, target="all").values
    assert np.array_equal(explain(two).values, every[:, 3:])
    every = explain(three, target="all").values.reshape(-1, 3, 3)
    assert np.array_equal(explain(three).values, every[np.arange(len(X)), three.predict(X)])
    assert np.array_equal(explain(three, target="predicted").values, explain(three).values)


def test_gradients_of_all_probabilities_add_up_to_nothing():
    for y in (TWO, THREE):
        values = explain(scale_before(make_mlp("relu", (5,))).fit(X, y), target="all").values
        assert np.abs(values.reshape(len(X), -1, 3).sum(axis=1)).max() < 1e-12 * np.abs(values).max()


@one_test
@pytest.mark.parametrize("method", ["analytic", "finite-differences"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_the_offset_completes_the_tangent(y, method):
    model = make_logistic().fit(X, y)
    explanations = explain(model, target="all", offset=True, method=method)
    k = len(model.classes_)
    assert explanations.shared["offsets"] == k
    assert explanations.shared["names"][-1] == f"{model.classes_[-1]}: offset"
    tangents, offsets = explanations.values[:, : 3 * k].reshape(-1, k, 3), explanations.values[:, 3 * k :]
    at_x = (tangents * X[:, None, :]).sum(axis=2) + offsets
    assert np.allclose(at_x, model.predict_proba(X), atol=1e-9)


def mirror(model, rows):
    """Reflect rows at the model's border: the same distance from it, on the other side."""
    w, z = model.coef_[0], model.decision_function(rows)
    return rows - 2 * np.outer(z, w) / (w @ w)


def test_a_gradient_without_its_offset_is_not_consistent_and_with_it_is():
    """Section 3.2.3: p(1 − p)·w is the same on both sides of the border, the offset is not."""
    model = make_logistic().fit(Z, TWO)
    rows = np.vstack([Z[:40], mirror(model, Z[:40])])
    rows = np.vstack([rows, rows])  # everybody has a twin, so that all can be checked

    def consistency(explainer):
        every_row = np.arange(len(rows))  # twins are cases of their own
        options = {"discretizer": "fp:digits=9,how=round", "background": Z, "clusters": every_row}
        result = faithkit.evaluate(model, rows, explainer, **options)
        assert result.consistency.verified == 1.0
        return result.consistency.value

    assert consistency("gradient") == pytest.approx(1 / 3)  # of three others the twin alone agrees
    assert consistency("gradient:offset=true") == 1.0


def test_where_the_score_itself_is_linear_all_instances_share_one_tangent():
    model = make_logistic().fit(Z, TWO)
    for explainer in ("gradient:output=raw", "gradient:output=raw,offset=true"):
        result = faithkit.evaluate(model, Z, explainer, discretizer="fp:digits=9,how=round", background=Z)
        assert result.n_explanations == 1
        assert result.consistency.value == pytest.approx(result.chance)


class Xor:
    """The paper's appendix B: 1 where both features have the same sign; its score is saturated there."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return (X[:, 0] * X[:, 1] > 0).astype(int)

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-np.clip(40 * X[:, 0] * X[:, 1], -700, 700)))
        return np.column_stack([1 - p, p])


def test_the_gradient_says_the_same_of_both_sides_of_xor_and_the_offset_tells_them_apart():
    rows = np.array([[2.5, 0.5], [-2.5, 0.5]])
    background = np.random.default_rng(0).normal(size=(50, 2))
    assert Xor().predict(rows).tolist() == [1, 0]
    without = explain(Xor(), rows, background).values
    assert np.allclose(without[0], without[1], atol=1e-12)
    offset = explain(Xor(), rows, background, offset=True).values[:, 2]
    assert offset == pytest.approx([1.0, 0.0], abs=1e-6)


# tables as they come


def make_people(n=60, seed=1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "job": rng.choice(["clerk", "smith", "cook"], n),
            "children": rng.integers(0, 5, n),
            "hours": pd.array(rng.integers(10, 60, n), dtype="Int64"),
            "married": rng.random(n) < 0.5,
        }
    )
    frame.loc[::9, "age"] = np.nan
    frame.loc[::11, "job"] = None
    frame.loc[::13, "hours"] = pd.NA
    return frame


def to_floats(frame):
    return frame.astype(float)


@pytest.fixture(scope="module")
def household():
    """A Pipeline on a mixed frame with missing values, of three classes."""
    frame = make_people()
    score = frame["age"].fillna(40) / 10 + (frame["job"] == "clerk") + frame["children"]
    labels = np.array(["low", "middle", "high"])[np.digitize(score, [5.0, 7.0])]
    numbers = make_pipeline(FunctionTransformer(to_floats), SimpleImputer(), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder())
    prepare = make_column_transformer(
        (numbers, ["age", "children", "hours"]), (words, ["job"]), ("passthrough", ["married"])
    )
    return make_pipeline(prepare, LogisticRegression()).fit(frame, labels), frame


@pytest.fixture(scope="module")
def tangents(household):
    """The gradients of all three probabilities, with their offsets."""
    model, frame = household
    return explain(model, frame, frame, target="all", offset=True)


def test_numbers_of_a_mixed_frame_have_slopes_and_categories_have_none(household, tangents):
    model, frame = household
    assert tangents.shared["names"][:5] == [f"{model.classes_[0]}: {name}" for name in frame.columns]
    values = tangents.values[:, :15].reshape(-1, 3, 5)
    assert not values[:, :, [1, 4]].any()
    # by hand: softmax's derivative times the coefficient, in the units of the raw column
    p, weights = model.predict_proba(frame), model[-1].coef_[:, 0]
    scale = model[0].transformers_[0][1][-1].scale_[0]
    by_hand = p * (weights - (p * weights).sum(axis=1, keepdims=True)) / scale
    is_missing = frame["age"].isna().to_numpy()
    assert np.allclose(values[~is_missing, :, 0], by_hand[~is_missing], atol=1e-7)
    assert not values[is_missing, :, 0].any()


def test_the_offset_of_a_mixed_row_leaves_out_what_has_no_slope(household, tangents):
    model, frame = household
    slopes, offsets = tangents.values[:, :15].reshape(-1, 3, 5), tangents.values[:, 15:]
    numbers = frame[["age", "children", "hours"]].fillna(0.0).to_numpy(float)
    at_x = (slopes[:, :, [0, 2, 3]] * numbers[:, None, :]).sum(axis=2) + offsets
    assert np.allclose(at_x, model.predict_proba(frame), atol=1e-9)


def test_a_category_that_the_background_lacks_reaches_the_model_as_it_is():
    class Kitchen:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            steepness = 0.1 + 0.1 * (X["job"] == "cook").to_numpy()
            p = 1 / (1 + np.exp(-steepness * (X["age"].to_numpy() - 40)))
            return np.column_stack([1 - p, p])

        def predict(self, X):
            return self.predict_proba(X).argmax(axis=1)

    frame = make_people()[["age", "job"]].dropna()
    cooks = frame[frame["job"] == "cook"]
    explanations = explain(Kitchen(), cooks, frame[frame["job"] != "cook"])
    p = Kitchen().predict_proba(cooks)[:, 1]
    assert np.allclose(explanations.values, np.column_stack([0.2 * p * (1 - p), np.zeros(len(p))]), atol=1e-7)


def test_columns_in_another_order_are_found_by_name():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])

    class ByName:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = 1 / (1 + np.exp(-X["a"].to_numpy() - X["c"].to_numpy() ** 2))
            return np.column_stack([1 - p, p])

        def predict(self, X):
            return self.predict_proba(X).argmax(axis=1)

    fitted = make_gradient().fit(faithkit.Predictor(ByName()), frame)
    straight = fitted.explain(frame, None).values
    assert straight[:, 0].all()
    assert not straight[:, 1].any()
    assert np.array_equal(fitted.explain(frame[["c", "a", "b"]], None).values, straight)


@one_test
@pytest.mark.parametrize("dtype", [np.int64, np.float32, bool, object])
def test_arrays_of_any_type_are_differentiated(dtype):
    rows = (RNG.random((60, 3)) > 0.5).astype(np.int64).astype(dtype)
    model = make_logistic().fit(rows, rows[:, 0].astype(bool))
    by_hand = explain(model, rows, rows).values
    p = model.predict_proba(rows)[:, [1]]
    assert np.allclose(by_hand, p * (1 - p) * model.coef_, atol=1e-6)
    if dtype is not bool:  # a boolean is a category, which cannot be moved a little
        numerical = explain(model, rows, rows, method="finite-differences").values
        assert np.allclose(numerical, by_hand, atol=1e-4 if dtype is np.float32 else 1e-6)


def test_booleans_beside_numbers_have_the_coefficient_of_a_linear_model():
    frame = pd.DataFrame({"age": X[:, 0], "married": X[:, 1] > 100})
    model = make_logistic().fit(frame, TWO)
    assert np.allclose(explain(model, frame, frame, output="raw").values, model.coef_)


def test_labels_may_be_booleans_and_a_column_constant():
    rows = np.column_stack([X, np.full(len(X), 7.0)])
    model = make_logistic().fit(rows, TWO == "yes")
    for method in ("analytic", "finite-differences"):
        values = explain(model, rows, rows, method=method).values
        assert np.isfinite(values).all()
        assert are_near(values[:, :3], explain(make_logistic().fit(rows, TWO), rows, rows).values[:, :3])


def test_no_rows_have_no_gradients():
    for method in ("analytic", "finite-differences"):
        for y, width in ((TWO, 4), (THREE, 4)):
            explanations = explain(make_logistic().fit(X, y), X[:0], method=method, offset=True)
            assert explanations.values.shape == (0, width)


# a function of the row


@one_test
@pytest.mark.parametrize(("y", "method"), [(TWO, "analytic"), (THREE, "finite-differences")])
def test_every_bit_is_the_same_whatever_rows_are_together(y, method):
    model = scale_before(make_mlp("tanh", (9, 8))).fit(X, y)
    fitted = make_gradient(offset=True, target="all", method=method).fit(faithkit.Predictor(model), X)
    rows = np.vstack([X[:50], X[:10]])
    whole = fitted.explain(rows, None).values
    alone = np.vstack([fitted.explain(rows[i : i + 1], None).values for i in range(0, 60, 12)])
    assert np.array_equal(whole[:10], whole[50:])
    assert np.array_equal(whole[::12], alone)
    assert np.array_equal(fitted.explain(rows[::-1], None).values[::-1], whole)


@one_test
@pytest.mark.parametrize("method", ["analytic", "finite-differences"])
def test_the_order_of_the_background_does_not_matter(method):
    model = make_logistic().fit(X, THREE)
    straight = explain(model, X[:9], X, method=method).values
    assert np.array_equal(straight, explain(model, X[:9], X[::-1], method=method).values)


def test_a_gradient_learns_nothing_from_the_rows_it_is_judged_on():
    with warnings.catch_warnings():
        warnings.simplefilter("error", faithkit.errors.FaithkitWarning)
        result = faithkit.evaluate(make_logistic().fit(X, TWO), X[:40], "gradient", discretizer="sign")
    assert result.to_dict()["background"] is None


# what has no gradient


@one_test
@pytest.mark.parametrize(
    "model", [GradientBoostingClassifier(n_estimators=5), KNeighborsClassifier(), RandomForestClassifier(5)]
)
def test_a_step_function_is_explained_with_a_warning(model):
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match=f"score of {type(model).__name__} does not change around"
    ) as caught:
        explanations = explain(model.fit(X, TWO))
    assert caught[0].filename == __file__
    assert (explanations.values == 0).mean() > 0.5


def test_a_table_of_categories_is_refused():
    frame = pd.DataFrame({"job": ["a", "b"] * 20})
    model = make_pipeline(OneHotEncoder(), make_logistic()).fit(frame, [0, 1] * 20)
    with pytest.raises(faithkit.errors.InputError, match="no column is numeric"):
        explain(model, frame, frame)


def test_what_cannot_be_explained_is_refused_with_a_way_out():
    svm, forest = LinearSVC().fit(Z, TWO), RandomForestClassifier(3).fit(X, TWO)
    with pytest.raises(
        faithkit.errors.InputError, match=r"LinearSVC has no probabilities .*: use output=raw"
    ):
        explain(svm)
    with pytest.raises(faithkit.errors.InputError, match=r"no raw scores .*: use output=probability"):
        explain(forest, output="raw")
    with pytest.raises(faithkit.errors.InputError, match="gives labels only"):
        make_gradient().fit(faithkit.Predictor(lambda X: X[:, 0] > 0, background=X), X)
    with pytest.raises(faithkit.errors.InputError, match="target=positive needs two classes"):
        explain(make_logistic().fit(X, THREE), target="positive")
    with pytest.raises(faithkit.errors.InputError, match="tables, not texts"):
        make_gradient().fit(faithkit.Predictor(len), ["good film"])
    with pytest.raises(faithkit.errors.InputError, match="tables, not sparse matrices"):
        explain(svm, csr_matrix(X), csr_matrix(X), output="raw")


@one_test
@pytest.mark.parametrize("method", ["analytic", "finite-differences"])
def test_rows_and_backgrounds_of_another_width_are_refused(method):
    model = make_logistic().fit(X, TWO)
    with pytest.raises(faithkit.errors.InputError):
        explain(model, X[:, :2], method=method)
    with pytest.raises(faithkit.errors.InputError):
        explain(model, X, X[:, :2], method=method)


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"output": "odds"}, "'probability' or 'raw', got 'odds'"),
        ({"target": "negative"}, "positive, predicted, all"),
        ({"offset": 1}, "offset must be true or false"),
        ({"method": "numeric"}, "auto, analytic, finite-differences"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        make_gradient(**params)


IMAGES = RNG.normal(size=(40, 3, 2))


def score_images(X):
    return 1 / (1 + np.exp(-(X[:, 0, 0] ** 2 + 3 * X[:, 2, 1])))


def test_images_are_differentiated_cell_by_cell():
    model = faithkit.Predictor(scores=score_images, classes=["night", "day"])
    explanations = make_gradient().fit(model, IMAGES).explain(IMAGES[:5], None)
    chance = score_images(IMAGES[:5])
    expected = np.zeros((5, 3, 2))
    expected[:, 0, 0] = chance * (1 - chance) * 2 * IMAGES[:5, 0, 0]
    expected[:, 2, 1] = chance * (1 - chance) * 3
    np.testing.assert_allclose(explanations.values.reshape(5, 3, 2), expected, atol=1e-5)
    assert explanations.shared["names"] == ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]", "[2, 0]", "[2, 1]"]


def test_an_empty_batch_of_images_has_no_explanations():
    model = faithkit.Predictor(scores=score_images, classes=["night", "day"])
    assert make_gradient().fit(model, IMAGES).explain(IMAGES[:0], None).values.shape == (0, 6)


def test_images_of_another_shape_are_refused_even_where_they_have_as_many_cells():
    model = faithkit.Predictor(scores=score_images, classes=["night", "day"])
    fitted = make_gradient().fit(model, IMAGES)
    with pytest.raises(
        faithkit.errors.InputError, match=r"gradient: X has rows of shape \(2, 3\); expected \(3, 2\)"
    ):
        fitted.explain(IMAGES.reshape(40, 2, 3), None)


def test_a_model_that_reads_bytes_and_floats_differently_is_refused():
    def scores(X):
        return (X / 255.0 if X.dtype == np.uint8 else X).reshape(len(X), -1).mean(axis=1).clip(0, 1)

    pixels = RNG.integers(0, 256, size=(20, 3, 2)).astype(np.uint8)
    model = faithkit.Predictor(scores=scores, classes=["night", "day"])
    with pytest.raises(
        faithkit.errors.InputError, match="scores uint8 and the same numbers as floats differently"
    ):
        make_gradient().fit(model, pixels)
    explanations = make_gradient().fit(model, pixels / 255.0).explain(pixels[:2] / 255.0, None)
    np.testing.assert_allclose(explanations.values, 1 / 6, atol=1e-5)
