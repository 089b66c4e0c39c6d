"""Occlusion: what the score loses when a patch is hidden, against a loop over rows and patches."""

import numpy as np
import pandas as pd
import pytest
from faithkit_feature_importance.patches import VALUES_PER_CALL
from looping import one_test
from sklearn.linear_model import LinearRegression, LogisticRegression

import faithkit

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(30, 5, 4))


class Flattening:
    """A model of images: a model of their pixels."""

    def __init__(self, model, X, y):
        self.model = model.fit(X.reshape(len(X), -1), y)
        self._estimator_type = "regressor" if isinstance(model, LinearRegression) else "classifier"
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def predict(self, X):
        return self.model.predict(X.reshape(len(X), -1))

    def __getattr__(self, name):
        if name != "predict_proba" or not hasattr(self.__dict__["model"], name):
            raise AttributeError(name)
        return lambda X: self.model.predict_proba(X.reshape(len(X), -1))


THREE = Flattening(LogisticRegression(), IMAGES, np.arange(30) % 3)
TWO = Flattening(LogisticRegression(), IMAGES, np.where(IMAGES[:, 0, 0] > 0, "yes", "no"))


def explain(model, background, X, **params):
    explainer = faithkit.plugin.registry().create("explainer", "patches", params)
    predictor = faithkit.Predictor(model, outcome="numbers" if isinstance(model, Numbers) else None)
    return explainer.fit(predictor, background).explain(X, None)


class Numbers(Flattening):
    """The same for a regressor."""


def hide_by_hand(score, background, X, size):
    """Hide one patch of one row at a time."""
    losses = []
    for row in X:
        drops = []
        for top in range(0, X.shape[1], size):
            for left in range(0, X.shape[2], size):
                hidden = row.copy()
                for i in range(top, min(top + size, X.shape[1])):
                    for j in range(left, min(left + size, X.shape[2])):
                        hidden[i, j] = np.median(background[:, i, j])
                drops.append(score(row[None])[0] - score(hidden[None])[0])
        losses.append(drops)
    return np.array(losses)


@one_test
@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_every_number_is_what_the_second_classs_score_loses(size):
    explanations = explain(TWO, IMAGES[:20], IMAGES[20:24], size=size)
    expected = hide_by_hand(lambda X: TWO.predict_proba(X)[:, 1], IMAGES[:20], IMAGES[20:24], size)
    np.testing.assert_allclose(explanations.values, expected, atol=1e-12)


def test_of_three_classes_the_predicted_one_is_explained():
    explanations = explain(THREE, IMAGES[:20], IMAGES[20:], size=2)
    for row, values in zip(IMAGES[20:], explanations.values, strict=True):
        label = THREE.predict(row[None])[0]
        expected = hide_by_hand(lambda X, k=label: THREE.predict_proba(X)[:, k], IMAGES[:20], row[None], 2)
        np.testing.assert_allclose(values, expected[0], atol=1e-12)


def test_of_a_linear_regressor_it_is_the_sum_of_coefficients_times_distances():
    target = RNG.normal(size=30)
    model = Numbers(LinearRegression(), IMAGES, target)
    explanations = explain(model, IMAGES, IMAGES[:4], size=1)
    away = (IMAGES[:4] - np.median(IMAGES, axis=0)).reshape(4, -1)
    np.testing.assert_allclose(explanations.values, away * model.model.coef_, atol=1e-9)


def test_patches_are_named_by_their_places_and_the_last_ones_are_smaller():
    explanations = explain(TWO, IMAGES, IMAGES[:1], size=3)
    assert explanations.shared["names"] == ["[0:3, 0:3]", "[0:3, 3:4]", "[3:5, 0:3]", "[3:5, 3:4]"]


@one_test
@pytest.mark.parametrize(
    ("shape", "pieces"), [((8, 8), 16), ((28, 28), 49), ((28, 28, 3), 49), ((1, 28, 28), 49), ((40, 2), 8)]
)
def test_by_default_a_patch_is_an_eighth_of_the_longest_axis_and_short_axes_stay_whole(shape, pieces):
    X = RNG.normal(size=(6, *shape))
    model = Flattening(LogisticRegression(), X, [0, 1] * 3)
    assert explain(model, X, X[:1]).values.shape == (1, pieces)


def test_rows_that_do_not_fit_into_one_question_are_asked_about_in_several(monkeypatch):
    whole = explain(TWO, IMAGES, IMAGES, size=2).values
    monkeypatch.setattr("faithkit_feature_importance.patches.VALUES_PER_CALL", 70)  # three images and a half
    assert VALUES_PER_CALL > 70
    np.testing.assert_allclose(explain(TWO, IMAGES, IMAGES, size=2).values, whole, atol=1e-12)


@one_test
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float16, np.float32])
def test_the_model_sees_the_type_of_x_and_medians_are_rounded_into_it(dtype):
    pixels = RNG.integers(0, 256, size=(30, 5, 4)).astype(dtype)
    dtypes = set()

    def score(X):  # as some libraries read pictures: bytes are shares of 255
        dtypes.add(X.dtype)
        d = (X / 255.0 if X.dtype == np.uint8 else X.astype(np.float64)).mean(axis=(1, 2))
        return np.column_stack([-d, d])

    model = faithkit.Predictor(scores=score, classes=["night", "day"])
    explainer = faithkit.plugin.registry().create("explainer", "patches", {"size": 2}).fit(model, pixels[:20])
    explanations = explainer.explain(pixels[20:], None)
    whole = np.issubdtype(dtype, np.integer)
    middle = np.median(pixels[:20].astype(np.float64), axis=0)
    hidden = (np.rint(middle) if whole else middle).astype(dtype).astype(np.float64)
    unit = 255.0 if dtype is np.uint8 else 1.0
    away = (pixels[20:].astype(np.float64) - hidden) / unit / 20
    np.testing.assert_allclose(explanations.values[:, 0], away[:, :2, :2].sum(axis=(1, 2)), atol=1e-9)
    assert dtypes == {np.dtype(dtype)}


def test_colors_stay_whole_wherever_they_stand():
    for shape, names in (((4, 6, 3), "[0:2, 0:2, 0:3]"), ((3, 6, 8), "[0:3, 0:2, 0:2]")):
        X = RNG.normal(size=(6, *shape))
        explanations = explain(Flattening(LogisticRegression(), X, [0, 1] * 3), X, X[:1], size=2)
        assert explanations.shared["names"][0].replace("0:4", "0:2") == names


def test_missing_cells_of_the_background_count_for_nothing():
    holed = IMAGES.copy()
    holed[3, 1, 1], holed[:, 2, 2] = np.nan, np.nan
    score = lambda X: np.nan_to_num(X).sum(axis=(1, 2))  # noqa: E731
    model = faithkit.Predictor(score, outcome="numbers")
    explainer = faithkit.plugin.registry().create("explainer", "patches", {"size": 1}).fit(model, holed)
    drops = explainer.explain(IMAGES[:2], None).values.reshape(2, 5, 4)
    known = np.delete(IMAGES[:, 1, 1], 3)
    np.testing.assert_allclose(drops[:, 1, 1], IMAGES[:2, 1, 1] - np.median(known))
    np.testing.assert_allclose(drops[:, 2, 2], IMAGES[:2, 2, 2])  # nothing is known: hidden by 0


@one_test
@pytest.mark.parametrize("size", [0, -1, 2.5, True, "2"])
def test_a_size_that_is_no_length_is_refused(size):
    with pytest.raises(faithkit.errors.ParameterError, match="patches: size"):
        faithkit.plugin.registry().create("explainer", "patches", {"size": size})


@one_test
@pytest.mark.parametrize(
    ("X", "description"),
    [
        (np.zeros((3, 4)), r"an array of shape \(3, 4\)"),
        (["a text"], "a list"),
        (pd.DataFrame({"age": [31]}), "a DataFrame"),
    ],
)
def test_what_has_no_patches_is_refused(X, description):
    explainer = faithkit.plugin.registry().create("explainer", "patches")
    with pytest.raises(
        faithkit.errors.InputError, match=f"arrays of more than two axes, and was given {description}: give"
    ):
        explainer.fit(faithkit.Predictor(lambda X: ["a"] * len(X), classes=["a", "b"]), X)


def test_rows_of_another_shape_than_the_background_are_refused():
    explainer = faithkit.plugin.registry().create("explainer", "patches").fit(faithkit.Predictor(TWO), IMAGES)
    with pytest.raises(faithkit.errors.InputError, match=r"rows of shape \(4, 4\); expected \(5, 4\)"):
        explainer.explain(IMAGES[:, :4], None)
