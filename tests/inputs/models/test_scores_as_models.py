"""Functions that return scores, and new names for a model's classes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit import Predictor

X = np.array([[0.0], [1.0], [2.0], [3.0]])
CHANCES = np.array([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5], [0.2, 0.8]])
LABELS = ["no", "no", "no", "yes"]  # of a tie, the first


def row_numbers(X):
    return np.asarray(X)[:, 0].astype(int)


def predict_matrix(X):
    return CHANCES[row_numbers(X)]


class Tensor:
    """What speaks NumPy's protocol only after it was detached, as a tensor with a gradient does."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self.array


@one_test
@pytest.mark.parametrize(
    "scores",
    [
        predict_matrix,
        lambda X: predict_matrix(X).tolist(),
        lambda X: pd.DataFrame(predict_matrix(X), columns=["no", "yes"]),
        lambda X: predict_matrix(X)[:, 1],
        lambda X: predict_matrix(X)[:, 1:],
        lambda X: pd.Series(predict_matrix(X)[:, 1]),
        lambda X: Tensor(predict_matrix(X)),
        lambda X: predict_matrix(X).astype(np.float32),
    ],
)
def test_scores_in_any_container_give_labels_and_scores(scores):
    predictor = Predictor(scores=scores, classes=["no", "yes"])
    assert predictor.predict(X).tolist() == LABELS
    assert np.allclose(predictor.scores(X), CHANCES, atol=1e-7)
    assert predictor.has_scores
    assert predictor.classes.tolist() == ["no", "yes"]
    assert predictor.declared


def test_singles_stay_singles():
    assert Predictor(scores=lambda X: predict_matrix(X).astype(np.float32), classes=[0, 1]).scores_are_single(
        X
    )
    assert not Predictor(scores=predict_matrix, classes=[0, 1]).scores_are_single(X)


def test_any_scale_will_do_and_the_highest_counts():
    model = LogisticRegression().fit(X, ["a", "b", "b", "c"])
    predictor = Predictor(scores=model.decision_function, classes=model.classes_)
    assert predictor.predict(X).tolist() == model.predict(X).tolist()


def test_a_model_and_the_function_of_its_scores_measure_the_same():
    data = faithkit.load_dataset("iris")
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(data.X, data.y)
    function = Predictor(scores=model.predict_proba, classes=model.classes_)
    of_model, of_function = (
        faithkit.evaluate(
            predictor, data.X[::5], "lime:samples=50", discretizer="sign", background=data.X, progress=False
        )
        for predictor in (model, function)
    )
    assert of_model.consistency == of_function.consistency
    assert of_function.setup.model == "predict_proba"


def test_a_predictor_of_scores_survives_pickling_and_wrapping():
    predictor = pickle.loads(pickle.dumps(Predictor(scores=predict_matrix, classes=["no", "yes"])))
    assert predictor.predict(X).tolist() == LABELS
    assert repr(predictor) == "Predictor(predict_matrix, classes=['no', 'yes'])"
    again = Predictor(predictor, classes=["denied", "granted"])
    assert again.predict(X).tolist() == ["denied", "denied", "denied", "granted"]
    assert Predictor(again).predict(X).tolist() == again.predict(X).tolist()
    assert again.scores(X).tolist() == CHANCES.tolist()


def test_classes_of_a_model_get_new_names():
    model = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 2])
    predictor = Predictor(model, classes=["low", "middle", "high"], background=X)
    assert predictor.predict(X).tolist() == ["low", "low", "middle", "high"]
    assert predictor.scores(X).argmax(axis=1).tolist() == [0, 0, 1, 2]
    assert predictor.model is model


def test_nobody_is_asked_about_an_empty_table():
    def fails(X):
        raise AssertionError("asked")

    predictor = Predictor(scores=fails, classes=["no", "yes"])
    assert predictor.predict(X[:0]).tolist() == []
    assert predictor.scores(X[:0]).shape == (0, 2)
