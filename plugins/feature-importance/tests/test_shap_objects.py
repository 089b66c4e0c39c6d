"""A `shap.Explanation` gives the numbers that its values give as an array, whatever shape it has."""

from functools import cache
from operator import itemgetter

import numpy as np
import pandas as pd
import pytest
from lazy_modules import import_when_used
from looping import one_test
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import faithkit

shap = import_when_used("shap")
pytestmark = pytest.mark.filterwarnings(
    "ignore::faithkit.errors.FaithkitWarning"
)  # of rows that repeat others

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.integers(0, 4, size=(60, 4)).astype(float), columns=["age", "sex", "job", "pay"])
THREE = np.array(["high", "low", "mid"])[np.digitize(X["age"] + X["sex"], [2, 4])]
TEXTS = ["good good film", "bad film", "a good plot", "bad cast here"]


@cache
def fit_forest():
    return RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0).fit(X, THREE)


@cache
def predict_labels():
    return fit_forest().predict(X)


@cache
def explain_batch():
    return shap.TreeExplainer(fit_forest())(X)  # (60, 4, 3)


@cache
def select_predicted_values():
    columns = np.searchsorted(fit_forest().classes_, predict_labels())
    return explain_batch().values[np.arange(60), :, columns]


@cache
def explain_interactions():
    return shap.TreeExplainer(fit_forest())(X[:5], interactions=True)


@cache
def fit_reader():
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, [1, 0, 1, 0])


def explain_texts(texts, column=None):
    def score(masked):
        scores = fit_reader().predict_proba([str(text) for text in masked])
        return scores if column is None else scores[:, column]

    return shap.Explainer(score, shap.maskers.Text(r"\W+"), silent=True)(texts)


def test_values_of_one_output_are_taken_as_they_are_and_base_values_kept_apart():
    model = LinearRegression().fit(X, X["age"])
    explanation = shap.LinearExplainer(model, X)(X)
    explanations = faithkit.plugin.adapt(explanation)
    np.testing.assert_array_equal(explanations.values, explanation.values)
    assert explanations.kind == "vector"
    base = {"names": list(X.columns), "base_values": [explanation.base_values[0]]}
    assert explanations.shared == base | {"adds_up_to": "score"}


def test_of_several_classes_the_predicted_one_is_taken():
    explanations = faithkit.plugin.adapt(explain_batch(), predictions=predict_labels())
    np.testing.assert_array_equal(explanations.values, select_predicted_values())
    assert explanations.shared["names"] == list(X.columns)
    assert explanations.shared["base_values"] == explain_batch().base_values[0].tolist()


@one_test
@pytest.mark.parametrize(
    ("params", "column"), [({"target": "low"}, 1), ({"target": 2}, 2), ({"target": "high"}, 0)]
)
def test_a_class_is_taken_by_name_or_number(params, column):
    explanations = faithkit.plugin.adapt(explain_batch(), classes=fit_forest().classes_, **params)
    np.testing.assert_array_equal(explanations.values, explain_batch().values[:, :, column])


def test_of_two_classes_the_second_is_taken_and_all_stand_side_by_side():
    two = shap.Explanation(
        explain_batch().values[:, :, :2],
        explain_batch().base_values[:, :2],
        feature_names=list(X.columns),
    )
    np.testing.assert_array_equal(faithkit.plugin.adapt(two).values, explain_batch().values[:, :, 1])
    every = faithkit.plugin.adapt(two, target="all", classes=["no", "yes"])
    np.testing.assert_array_equal(
        every.values, np.hstack([explain_batch().values[:, :, 0], explain_batch().values[:, :, 1]])
    )
    assert every.shared["names"] == [f"{label}: {name}" for label in ("no", "yes") for name in X.columns]


@one_test
@pytest.mark.parametrize(
    ("user_input", "expected"),
    lambda: [
        (explain_batch()[:, :, 1], explain_batch().values[:, :, 1]),
        (explain_batch()[0, :, 1], explain_batch().values[:1, :, 1]),
        ([explain_batch()[row, :, 1] for row in range(5)], explain_batch().values[:5, :, 1]),
        ([explain_batch()[row : row + 1, :, 1] for row in range(5)], explain_batch().values[:5, :, 1]),
        (
            shap.Explanation(explain_batch().values[:, :, 1].astype(np.float32)),
            explain_batch().values[:, :, 1].astype(np.float32),
        ),
    ],
    ids=["one class", "one row of one class", "rows in a list", "batches of one", "single precision"],
)
def test_what_was_cut_out_is_understood(user_input, expected):
    explanations = faithkit.plugin.adapt(user_input)
    np.testing.assert_array_equal(explanations.values, expected)
    assert explanations.values.dtype == expected.dtype


@one_test
@pytest.mark.parametrize(
    ("objects", "discretizers"),
    lambda: [
        (explain_batch(), ["original", "sign"]),
        ([explain_batch()[row] for row in range(9)], ["original"]),
        ([explain_batch()[row : row + 1] for row in range(9)], ["original"]),
    ],
    ids=["one object", "a list of rows", "a list of batches"],
)
def test_the_numbers_are_those_of_the_array_to_the_bit(objects, discretizers):
    n = len(objects)
    labels, rows = predict_labels()[:n], X[:n]
    phi = pd.DataFrame(select_predicted_values()[:n], columns=X.columns)
    for discretizer in discretizers:
        array = faithkit.score(labels, phi, rows, discretizer=discretizer, relation="near-in-top-features")
        assert faithkit.score(labels, objects, rows, discretizer=discretizer).measures == array.measures


def test_an_explainer_may_return_one_whatever_the_chunks():
    tree = shap.TreeExplainer(fit_forest())
    whole = faithkit.evaluate(fit_forest(), X, lambda rows: tree(rows), discretizer="sign", progress=False)
    array = faithkit.evaluate(
        fit_forest(),
        X,
        lambda rows: tree(rows).values[
            np.arange(len(rows)), :, np.searchsorted(fit_forest().classes_, fit_forest().predict(rows))
        ],
        discretizer="sign",
        progress=False,
    )
    assert whole.consistency == array.consistency


def test_rows_that_are_not_there_are_missing():
    explanations = faithkit.plugin.adapt([explain_batch()[0, :, 1], None, explain_batch()[2, :, 1]])
    assert explanations.missing.tolist() == [False, True, False]
    np.testing.assert_array_equal(explanations.values[[0, 2]], explain_batch().values[[0, 2], :, 1])


def test_texts_have_words_with_their_values_in_one_order():
    explanation = explain_texts(TEXTS, column=1)
    explanations = faithkit.plugin.adapt(explanation)
    assert explanations.kind == "words"
    expected = [
        tuple(sorted(zip(("good", "good", "film"), explanation.values[0].tolist(), strict=True))),
        tuple(sorted(zip(("bad", "film"), explanation.values[1].tolist(), strict=True))),
    ]
    assert explanations.values[:2].tolist() == expected
    assert faithkit.plugin.adapt(explanation, digits=1).values[1] == (("bad", -0.1), ("film", 0.0))


def test_texts_of_equal_length_are_texts_all_the_same():
    explanations = explain_texts(["good film", "bad film"], column=1)
    assert explanations.values.dtype == np.float64  # shap makes a matrix of them
    assert [[word for word, _ in row] for row in faithkit.plugin.adapt(explanations).values] == [
        ["film", "good"],
        ["bad", "film"],
    ]


@one_test
@pytest.mark.parametrize("column", [0, 1])
def test_of_several_classes_of_texts_one_is_taken_also_row_by_row(column):
    explanation = explain_texts(TEXTS)
    expected = [tuple(weights[:, column].tolist()) for weights in explanation.values]
    for form in (explanation, [explanation[row] for row in range(4)]):
        explanations = faithkit.plugin.adapt(form, target=column)
        assert [sorted(weight for _, weight in row) for row in explanations.values] == [
            sorted(row) for row in expected
        ]


SYMMETRIC = np.zeros((3, 2, 2))


@one_test
@pytest.mark.parametrize(
    ("user_input", "params", "message"),
    lambda: [
        (explain_batch(), {}, "and no predictions: give predictions="),
        (explain_batch(), {"target": "other"}, "target='other' is none of the 3 classes: there is 0, 1, 2"),
        (explain_batch(), {"predictions": predict_labels()[:7]}, "numbers of 60 rows for 7 predictions"),
        (explain_batch(), {"classes": ["a", "b"]}, "values of 3 classes, and 2 labels"),
        (
            explain_batch()[:, :, 1],
            {"target": "low"},
            "target='low' chooses among classes, and these are the values of one",
        ),
        (explain_batch()[:, :, 1], {"digits": 1}, "digits=1 is about the words of texts"),
        (explain_batch()[:, :, 1], {"X": X[:7]}, "made 60 explanations for 7 rows"),
        (
            [explain_batch()[:2], explain_batch()[2:4]],
            {"target": 1},
            "object 0 of the list has 2 rows: give one object of all rows",
        ),
        (
            [explain_batch()[0, :, 1], explain_batch()[1, :3, 1]],
            {},
            "rows of the shapes .3,. and .4,.: give one",
        ),
        ([explain_batch()[0], "age"], {"target": 1}, "row 1 of the list is a str among shap.Explanation"),
        (explain_interactions(), {"target": 1}, "are interactions, or pictures without their data"),
        (explain_interactions()[:, :, :, 1], {}, "are interactions, or pictures without their data"),
        (shap.Explanation(SYMMETRIC), {"target": 1}, "are interactions, or pictures without their data"),
        (shap.Explanation(np.ones((2, 3, 3, 3, 1))), {}, "are interactions, or pictures without their data"),
        (explain_texts(TEXTS), {"target": "all"}, "target=all is for tables"),
        ([explain_texts(TEXTS)[0], explain_batch()[0]], {"target": 1}, "the list is of texts and tables"),
        (
            shap.Explanation(np.ones((2, 2)), feature_names=["a", "a"]),
            {},
            "more than one feature is called a",
        ),
    ],
    ids=itemgetter(-1),
)
def test_what_cannot_be_understood_is_refused_in_one_line(user_input, params, message):
    with pytest.raises(faithkit.errors.FaithkitError, match=message) as error:
        faithkit.plugin.adapt(user_input, **params)
    assert "\n" not in str(error.value)


def test_base_values_that_differ_between_rows_are_not_shared():
    explanation = shap.Explanation(np.ones((2, 3)), base_values=np.array([0.25, 0.5]))
    assert "base_values" not in faithkit.plugin.adapt(explanation).shared


PICTURES = np.arange(2 * 3 * 4 * 1, dtype=np.float64).reshape(2, 3, 4, 1)


def test_the_values_of_pictures_are_those_of_their_cells():
    explanation = shap.Explanation(PICTURES / 7, base_values=np.zeros(2), data=PICTURES)
    explanations = faithkit.plugin.adapt(explanation, X=PICTURES)
    assert explanations.values.tolist() == (PICTURES / 7).reshape(2, 12).tolist()
    assert explanations.shared["names"][:2] == ["[0, 0, 0]", "[0, 1, 0]"]


def test_of_pictures_with_several_classes_the_one_that_is_meant_is_taken():
    values = np.stack([PICTURES, -PICTURES, PICTURES * 3], axis=-1)
    explanation = shap.Explanation(values, base_values=np.zeros((2, 3)), data=PICTURES)
    assert (
        faithkit.plugin.adapt(explanation, target=2).values.tolist() == (PICTURES * 3).reshape(2, 12).tolist()
    )
    named = faithkit.plugin.adapt(explanation, target="all", X=PICTURES, classes=["a", "b", "c"]).shared[
        "names"
    ]
    assert (len(named), named[12]) == (36, "b: [0, 0, 0]")


@one_test
@pytest.mark.parametrize("data", [PICTURES.tolist(), list(PICTURES), None], ids=["lists", "arrays", "none"])
def test_pictures_are_known_by_their_data_in_any_form_or_by_x(data):
    explanation = shap.Explanation(PICTURES / 7, data=data)
    explanations = faithkit.plugin.adapt(explanation, X=PICTURES, predictions=["a", "b"])
    assert explanations.values.tolist() == (PICTURES / 7).reshape(2, 12).tolist()


def test_a_list_with_one_object_of_each_picture():
    objects = [shap.Explanation(picture / 7, data=picture) for picture in PICTURES]
    assert (
        faithkit.plugin.adapt(objects, X=PICTURES).values.tolist() == (PICTURES / 7).reshape(2, 12).tolist()
    )


def test_channels_are_not_taken_for_classes():
    series = np.arange(2 * 5 * 2, dtype=np.float64).reshape(2, 5, 2)
    explanations = faithkit.plugin.adapt(shap.Explanation(series), X=series, predictions=["a", "b"])
    assert explanations.values.shape == (2, 10)
