import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import one_test
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit import Predictor
from faithkit.errors import InputError

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [4.0, 0.0], [5.0, 2.0]])
TWO = np.array(["no", "no", "no", "yes", "yes", "yes"])
THREE = np.array(["a", "a", "b", "b", "c", "c"])


class Answers:
    """A model that gives one prepared answer."""

    def __init__(self, answer, **attributes):
        self.answer = answer
        self.__dict__.update(attributes)

    def predict(self, X):
        return self.answer


def predict_with(answer, n=3):
    return Predictor(Answers(answer)).predict(np.zeros((n, 1)))


def test_a_fitted_estimator_answers_as_it_does_itself():
    model = DecisionTreeClassifier(random_state=0).fit(X, THREE)
    predictor = Predictor(model)
    assert predictor.model is model
    assert predictor.predict(X).tolist() == THREE.tolist()
    assert predictor.classes.tolist() == ["a", "b", "c"]
    assert predictor.has_scores
    assert predictor.scores(X).tolist() == model.predict_proba(X).tolist()


def test_a_callable_is_a_model():
    predictor = Predictor(lambda X: X[:, 0] > 2)
    assert predictor.predict(X).tolist() == [False, False, False, True, True, True]
    assert predictor.classes is None
    assert not predictor.has_scores


def test_an_object_with_predict_that_is_callable_too_is_asked_by_predict():
    model = DecisionTreeClassifier(random_state=0).fit(X, TWO)
    model.__class__ = type("Callable", (DecisionTreeClassifier,), {"__call__": lambda self, X: None})
    assert Predictor(model).predict(X).tolist() == TWO.tolist()


def test_a_predictor_of_a_predictor_is_the_same_one():
    predictor = Predictor(lambda X: X[:, 0] > 2, classes=[False, True])
    again = Predictor(predictor)
    assert again.model is predictor.model
    assert again.classes.tolist() == [False, True]


@pytest.mark.parametrize(
    ("declared", "asked", "kind"),
    [(None, None, "numbers"), ("labels", None, "labels"), ("labels", "numbers", "numbers")],
)
def test_a_predictor_is_measured_as_its_model_would_be_unless_it_declares_its_outcome(declared, asked, kind):
    predictor = Predictor(lambda X: X[:, 0] * 2.5 + 0.25, outcome=declared)
    result = faithkit.evaluate(predictor, X, lambda X: X > 2, background=X[:3], outcome=asked)
    assert result.setup.outcome.kind == kind


def test_pipelines_take_raw_frames_texts_and_sparse_matrices():
    texts = ["good film", "bad film", "good", "bad"]
    words = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0])
    predictor = Predictor(words)
    assert predictor.classes.tolist() == [0, 1]
    assert predictor.predict(["so good", "so bad"]).tolist() == [1, 0]
    assert predictor.scores(texts).shape == (4, 2)
    counted = words[0].transform(texts)
    assert sparse.issparse(counted)
    assert Predictor(words[1]).predict(counted).tolist() == [1, 0, 1, 0]


def test_a_single_decision_value_becomes_two_columns_that_agree_with_the_label():
    model = LinearSVC().fit(X, TWO)
    scores = Predictor(model).scores(X)
    d = model.decision_function(X)
    assert scores.tolist() == np.array([-d, d]).T.tolist()
    assert model.classes_[scores.argmax(axis=1)].tolist() == model.predict(X).tolist()


def test_scores_are_rows_however_the_model_lays_them_out():
    model = Answers(TWO, classes_=["no", "yes"], predict_proba=lambda X: np.vstack([1 - X[:, 0], X[:, 0]]).T)
    assert Predictor(model).scores(X).flags.c_contiguous


def test_decision_values_of_three_classes_are_taken_as_they_are():
    model = Perceptron().fit(X, THREE)
    assert Predictor(model).scores(X).tolist() == model.decision_function(X).tolist()


def test_a_model_with_labels_only_says_which_explainers_it_cannot_serve():
    predictor = Predictor(lambda X: X[:, 0] > 2)
    with pytest.raises(InputError, match=r"labels only: .*predict_proba.*shap, lime.*need scores.*anchors"):
        predictor.scores(X)


def test_classes_can_be_given_or_learnt_from_the_background():
    def model(X):
        return np.where(X[:, 0] > 2, "yes", "no")

    assert Predictor(model, background=X).classes.tolist() == ["no", "yes"]
    assert Predictor(model, background=X, classes=["yes", "no"]).classes.tolist() == ["yes", "no"]
    fitted = DecisionTreeClassifier().fit(X, THREE)
    assert Predictor(fitted, background=X[:1]).classes.tolist() == ["a", "b", "c"]


def test_repeated_classes_are_refused():
    with pytest.raises(InputError, match=r"\['a', 'a'\]; expected distinct"):
        Predictor(lambda X: X, classes=["a", "a"])


def test_a_model_with_several_outputs_is_refused():
    model = RandomForestClassifier(3).fit(X, np.column_stack([TWO, THREE]))
    with pytest.raises(InputError, match="several outputs; expected a model with one"):
        Predictor(model)


def test_an_empty_sample_never_reaches_the_model():
    def model(X):
        raise AssertionError("asked")

    assert Predictor(model).predict(X[:0]).shape == (0,)
    assert Predictor(model).predict([]).shape == (0,)
    fitted = DecisionTreeClassifier().fit(X, THREE)
    assert Predictor(fitted).scores(X[:0]).shape == (0, 3)
    assert Predictor(fitted).predict(X[:0]).dtype == fitted.classes_.dtype


@one_test
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (["a", "b", "a"], ["a", "b", "a"]),
        ([True, False, True], [True, False, True]),
        ((1, 2, 1), [1, 2, 1]),
        ([0.5, 1.0, 0.5], [0.5, 1.0, 0.5]),
        (np.array([["a"], ["b"], ["a"]]), ["a", "b", "a"]),
        (pd.Series(["a", "b", "a"]), ["a", "b", "a"]),
        (pd.Series(["a", "b", "a"], dtype="category"), ["a", "b", "a"]),
        (pd.DataFrame({"label": [1, 2, 1]}), [1, 2, 1]),
        (pd.array([1, 2, 1], dtype="Int64"), [1, 2, 1]),
        (pd.array([True, False, True], dtype="boolean"), [True, False, True]),
        (np.array([1, 2, 1], dtype=object), [1, 2, 1]),
    ],
)
def test_labels_in_any_container_come_back_one_dimensional(answer, expected):
    labels = predict_with(answer)
    assert isinstance(labels, np.ndarray)
    assert labels.shape == (3,)
    assert labels.tolist() == expected
    if not isinstance(expected[0], str):
        assert labels.dtype.kind in "bif"


LABELS = st.one_of(
    st.lists(st.text(max_size=3), min_size=1, max_size=6),
    st.lists(st.booleans(), min_size=1, max_size=6),
    st.lists(st.integers(-(2**31), 2**31), min_size=1, max_size=6),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=6),
)


@given(LABELS)
def test_whatever_labels_a_model_gives_are_handed_on(labels):
    as_objects = np.array(labels, dtype=object)
    assert predict_with(as_objects, len(labels)).tolist() == labels
    assert predict_with(as_objects[:, None], len(labels)).tolist() == labels


@one_test
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (["a"], "returned 1 label for 3 rows; expected one label per row"),
        (["a"] * 4, "returned 4 labels for 3 rows"),
        (np.zeros((3, 2)), r"shape \(3, 2\) for 3 rows; expected one label per row.*scores=model.predict"),
        ("yes", "returned a str for 3 rows"),
        (None, "returned a NoneType for 3 rows"),
        ({"a": 1}, "returned a dict for 3 rows"),
        (iter([1, 2, 3]), "returned a list_iterator for 3 rows"),
        ([[1], [2, 3], [4]], "list that is no array"),
        (["a", None, "b"], r"missing label \(None\) for 1 of 3 rows; expected str.*Drop"),
        ([1.0, np.nan, np.nan], r"missing label \(.*nan.*\) for 2 of 3 rows"),
        (
            [0.5, np.nan, 1.0],
            r"missing number \(.*nan.*\) for 1 of 3 rows; expected one for each\. Drop those rows\.$",
        ),
        (pd.array([1, None, 2], dtype="Int64"), "missing label .* for 1 of 3 rows"),
        (np.array(["2024-01-01", "NaT", "NaT"], dtype="datetime64[D]"), "missing label .*NaT.* for 2 of 3"),
        (
            np.array(["2024-01-01"] * 3, dtype="datetime64[D]"),
            "labels are of type datetime64; expected all str",
        ),
        (np.array([1, "a", "b"], dtype=object), "labels are of type int, str; expected all str"),
        (np.array([(1, 2), (3, 4), (5, 6), 0], dtype=object)[:3], "labels are of type tuple"),
        ([b"a", b"b", b"a"], "labels are of type bytes"),
    ],
)
def test_an_answer_that_is_not_one_label_per_row_is_refused(answer, words):
    with pytest.raises(InputError, match=words):
        predict_with(answer)


def test_a_model_that_raises_is_reported_with_its_exception():
    def model(X):
        raise KeyError("no column\n 'age'")

    with pytest.raises(
        InputError,
        match=r"^model, asked about 6 rows, failed with KeyError: .*'age'.*Check that the model is fitted",
    ) as error:
        Predictor(model).predict(X)
    assert isinstance(error.value.__cause__, KeyError)
    assert "\n" not in str(error.value)


def test_an_unfitted_model_says_so():
    with pytest.raises(
        InputError,
        match=r"LogisticRegression, asked about 6 rows, failed with NotFittedError.*Check that the model is fitted, on the columns, order and types of X\.$",
    ):
        Predictor(LogisticRegression()).predict(X)


@one_test
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (3, "type int; expected an object with a predict method, or a callable"),
        (None, "type NoneType; expected"),
        (Answers(1, predict="soon").__dict__, "type dict; expected"),
        (LogisticRegression, "class LogisticRegression; expected a fitted instance"),
    ],
)
def test_what_is_no_model_is_refused(model, words):
    with pytest.raises(InputError, match=words):
        Predictor(model)


@one_test
@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (np.zeros((3, 3)), r"shape \(3, 3\); expected 3 rows and one column per class \(no, yes\).*classes="),
        (np.zeros((2, 2)), r"shape \(2, 2\); expected 3 rows"),
        (np.zeros(3), r"shape \(3,\); expected 3 rows"),
        ([["low", "high"]] * 3, "scores are no numbers"),
        ([[0.5, 0.5], [np.nan, 1.0], [1.0, 0.0]], "NaN in 1 of 3 rows; expected numbers"),
    ],
)
def test_scores_that_are_not_one_number_per_row_and_class_are_refused(scores, words):
    model = Answers(TWO[:3], classes_=["no", "yes"], predict_proba=lambda X: scores)
    with pytest.raises(InputError, match=words):
        Predictor(model).scores(X[:3])


def test_a_predictor_survives_pickling_and_shows_what_it_is():
    predictor = pickle.loads(pickle.dumps(Predictor(DecisionTreeClassifier().fit(X, TWO))))
    assert predictor.predict(X).tolist() == TWO.tolist()
    assert repr(predictor) == "Predictor(DecisionTreeClassifier, classes=['no', 'yes'])"


class Prices:
    """A regressor of a user, which does not say that it is a regressor."""

    def predict(self, X):
        return (100 * X[:, 0]).astype(int)


@one_test
@pytest.mark.parametrize(
    ("model", "has_hint"), [(Prices(), True), (lambda X: np.where(X[:, 0] > 3, "yes", "no"), False)]
)
def test_whole_numbers_without_scores_may_be_amounts(model, has_hint):
    with pytest.raises(InputError, match="gives labels only") as raised:
        Predictor(model, background=X).scores(X)
    hint = "If its labels are amounts, say outcome='numbers' (CLI: --outcome numbers)."
    assert (hint in str(raised.value)) == has_hint


def test_one_prediction_for_many_rows_is_one():
    model = Answers(X[:1, 0], _estimator_type="regressor")
    with pytest.raises(InputError, match=r"^the model returned 1 prediction for 6 rows; expected one"):
        Predictor(model).predict(X)
