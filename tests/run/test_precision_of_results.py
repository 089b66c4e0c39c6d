"""No count depends on the last bits of a float: a row alone, in a batch, here or elsewhere has one explanation."""

import functools

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import json_of
from sklearn.linear_model import LogisticRegression

import faithkit
from faithkit import Explanations

X = np.repeat(np.random.default_rng(3).normal(size=(40, 5)), 3, axis=0)
MODEL = LogisticRegression().fit(X, X[:, 0] > 0)


class Rounding:
    """Scores of a linear model by column, with the last bits of another machine at every call."""

    learns = False

    def fit(self, predictor, background):
        self.calls = 0
        return self

    def explain(self, X, seeds):
        self.calls += 1
        noise = np.random.default_rng([self.calls, len(X)])
        values = X * MODEL.coef_
        return Explanations.vectors(values + 2e-16 * noise.uniform(-1, 1, values.shape))


@pytest.fixture(scope="module")
def result():
    return faithkit.evaluate(MODEL, X, explainer=Rounding(), clusters=np.arange(len(X)))


def test_rows_that_are_equal_share_their_explanation_whatever_the_noise(result):
    assert (result.n_explanations, result.consistency.value, result.consistency.verified) == (40, 1.0, 1.0)


def test_a_row_that_is_explained_again_finds_the_rows_that_share_its_explanation(result):
    for row in range(0, 120, 10):
        again = result.local(X[[row]])
        assert set(again.shared_by) == {*result.local(row).shared_by, row}
        assert again.consistency.value == 1.0


def test_another_sample_is_rounded_as_the_first_one_was(result):
    later = result.on(X[:60])
    assert later.rows.explanations.shared["decimals"] == result.rows.explanations.shared["decimals"]
    assert later.n_explanations == 20


def test_discretizers_cut_what_was_rounded():
    def tenths(X):
        exact = np.array([[0.3], [0.3], [0.7]])
        return exact + np.array([[-1e-16], [1e-16], [0.0]])

    result = faithkit.evaluate(
        lambda X: X[:, 0] > 1, np.arange(3.0)[:, None], explainer=tenths, discretizer="1fp"
    )
    assert result.rows.explanations.identities.tolist() == [[0.3], [0.3], [0.7]]


def test_logged_values_are_compared_as_they_are():
    assert faithkit.score(["yes", "yes"], [[0.3], [0.1 + 0.2]]).n_explanations == 2


def test_a_model_in_single_precision_has_fewer_decimals():
    class Single:
        classes_ = (0, 1)

        def predict(self, X):
            return (X[:, 0] > 0).astype(int)

        def predict_proba(self, X):
            share = (0.5 + X[:, 0] / 100).astype(np.float32)
            return np.column_stack([1 - share, share])

    result = faithkit.evaluate(Single(), X, explainer=lambda X: X / 3)
    plain = faithkit.evaluate(lambda X: X[:, 0] > 0, X, explainer=lambda X: X / 3)
    assert max(result.rows.explanations.shared["decimals"]) < min(plain.rows.explanations.shared["decimals"])


@one_test
@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("scales in place", lambda X: X.__imul__(2.0)),
        ("overwrites a column", lambda X: X.__setitem__((slice(None), 0), -1.0)),
        ("sorts the rows", lambda X: X.sort(axis=0)),
    ],
)
def test_a_model_that_changes_its_input_cannot_change_the_answer(what, change):
    def model(X):
        labels = X[:, 0] > 0
        change(X)
        return labels

    rows = X.copy()
    result = faithkit.evaluate(model, rows, explainer="tree", background=rows)
    assert (rows == X).all()
    assert json_of(result) == evaluate_without_change()


@functools.cache
def evaluate_without_change():
    def model(X):
        return X[:, 0] > 0

    return json_of(faithkit.evaluate(model, X, explainer="tree", background=X))


def test_a_model_that_adds_a_column_to_its_frame_cannot_change_the_answer():
    frame = pd.DataFrame(X, columns=list("abcde"))

    def model(frame):
        frame["ratio"] = frame["a"] / 2
        frame.loc[:, "a"] = frame["a"] * 2
        return (frame["ratio"] > 0).to_numpy()

    result = faithkit.evaluate(model, frame, explainer="tree", background=frame)
    assert list(frame) == list("abcde")
    assert (frame.to_numpy() == X).all()
    assert result.n_explanations >= 2
