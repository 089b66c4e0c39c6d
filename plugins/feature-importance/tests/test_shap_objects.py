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
pytestmark = pytest.mark.filterwarnings("ignore::faithkit.FaithkitWarning")  # of rows that repeat others

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.integers(0, 4, size=(60, 4)).astype(float), columns=["age", "sex", "job", "pay"])
THREE = np.array(["high", "low", "mid"])[np.digitize(X["age"] + X["sex"], [2, 4])]
TEXTS = ["good good film", "bad film", "a good plot", "bad cast here"]


@cache
def fitted_forest():
    return RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0).fit(X, THREE)


@cache
def predicted_labels():
    return fitted_forest().predict(X)


@cache
def explained_batch():
    return shap.TreeExplainer(fitted_forest())(X)  # (60, 4, 3)


@cache
def predicted_values():
    columns = np.searchsorted(fitted_forest().classes_, predicted_labels())
    return explained_batch().values[np.arange(60), :, columns]


@cache
def explained_interactions():
    return shap.TreeExplainer(fitted_forest())(X[:5], interactions=True)


@cache
def fitted_reader():
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, [1, 0, 1, 0])


def of_texts(texts, column=None):
    def scores(given):
        result = fitted_reader().predict_proba([str(one) for one in given])
        return result if column is None else result[:, column]

    return shap.Explainer(scores, shap.maskers.Text(r"\W+"), silent=True)(texts)


def told(result):
    return {key: value for key, value in result.to_dict().items() if key not in ("elapsed", "versions")}


def same(one, two):
    for name in ("values", "missing"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_values_of_one_output_are_taken_as_they_are_and_base_values_kept_apart():
    model = LinearRegression().fit(X, X["age"])
    given = shap.LinearExplainer(model, X)(X)
    explanations = faithkit.adapt(given)
    np.testing.assert_array_equal(explanations.values, given.values)
    assert explanations.kind == "vector"
    base = {"names": list(X.columns), "base_values": [given.base_values[0]]}
    assert explanations.shared == base | {"adds_up_to": "score"}


def test_of_several_classes_the_predicted_one_is_taken():
    explanations = faithkit.adapt(explained_batch(), predictions=predicted_labels())
    np.testing.assert_array_equal(explanations.values, predicted_values())
    assert explanations.shared["names"] == list(X.columns)
    assert explanations.shared["base_values"] == explained_batch().base_values[0].tolist()


@one_test
@pytest.mark.parametrize(
    ("params", "column"), [({"target": "low"}, 1), ({"target": 2}, 2), ({"target": "high"}, 0)]
)
def test_a_class_is_taken_by_name_or_number(params, column):
    explanations = faithkit.adapt(explained_batch(), classes=fitted_forest().classes_, **params)
    np.testing.assert_array_equal(explanations.values, explained_batch().values[:, :, column])


def test_of_two_classes_the_second_is_taken_and_all_stand_side_by_side():
    two = shap.Explanation(
        explained_batch().values[:, :, :2],
        explained_batch().base_values[:, :2],
        feature_names=list(X.columns),
    )
    np.testing.assert_array_equal(faithkit.adapt(two).values, explained_batch().values[:, :, 1])
    every = faithkit.adapt(two, target="all", classes=["no", "yes"])
    np.testing.assert_array_equal(
        every.values, np.hstack([explained_batch().values[:, :, 0], explained_batch().values[:, :, 1]])
    )
    assert every.shared["names"] == [f"{label}: {name}" for label in ("no", "yes") for name in X.columns]


@one_test
@pytest.mark.parametrize(
    ("given", "expected"),
    lambda: [
        (explained_batch()[:, :, 1], explained_batch().values[:, :, 1]),
        (explained_batch()[0, :, 1], explained_batch().values[:1, :, 1]),
        ([explained_batch()[row, :, 1] for row in range(5)], explained_batch().values[:5, :, 1]),
        ([explained_batch()[row : row + 1, :, 1] for row in range(5)], explained_batch().values[:5, :, 1]),
        (
            shap.Explanation(explained_batch().values[:, :, 1].astype(np.float32)),
            explained_batch().values[:, :, 1].astype(np.float32),
        ),
    ],
    ids=["one class", "one row of one class", "rows in a list", "batches of one", "single precision"],
)
def test_what_was_cut_out_is_understood(given, expected):
    explanations = faithkit.adapt(given)
    np.testing.assert_array_equal(explanations.values, expected)
    assert explanations.values.dtype == expected.dtype


@one_test
@pytest.mark.parametrize(
    ("objects", "discretizers"),
    lambda: [
        (explained_batch(), ["original", "1fp", "sign"]),
        ([explained_batch()[row] for row in range(60)], ["original"]),
        ([explained_batch()[row : row + 1] for row in range(60)], ["original"]),
    ],
    ids=["one object", "a list of rows", "a list of batches"],
)
def test_the_numbers_are_those_of_the_array_to_the_bit(objects, discretizers):
    phi = pd.DataFrame(predicted_values(), columns=X.columns)
    for discretizer in discretizers:
        array = faithkit.score(
            predicted_labels(), phi, X, discretizer=discretizer, relation="same-top-features"
        )
        assert (
            faithkit.score(predicted_labels(), objects, X, discretizer=discretizer).measures == array.measures
        )


def test_an_explainer_may_return_one_whatever_the_chunks():
    tree = shap.TreeExplainer(fitted_forest())
    whole = faithkit.evaluate(fitted_forest(), X, lambda rows: tree(rows), discretizer="sign", progress=False)
    array = faithkit.evaluate(
        fitted_forest(),
        X,
        lambda rows: tree(rows).values[
            np.arange(len(rows)), :, np.searchsorted(fitted_forest().classes_, fitted_forest().predict(rows))
        ],
        discretizer="sign",
        progress=False,
    )
    assert whole.consistency == array.consistency


def test_rows_that_are_not_there_are_missing():
    explanations = faithkit.adapt([explained_batch()[0, :, 1], None, explained_batch()[2, :, 1]])
    assert explanations.missing.tolist() == [False, True, False]
    np.testing.assert_array_equal(explanations.values[[0, 2]], explained_batch().values[[0, 2], :, 1])


def test_texts_have_words_with_their_values_in_one_order():
    given = of_texts(TEXTS, column=1)
    explanations = faithkit.adapt(given)
    assert explanations.kind == "words"
    expected = [
        tuple(sorted(zip(("good", "good", "film"), given.values[0].tolist(), strict=True))),
        tuple(sorted(zip(("bad", "film"), given.values[1].tolist(), strict=True))),
    ]
    assert explanations.values[:2].tolist() == expected
    assert faithkit.adapt(given, digits=1).values[1] == (("bad", -0.1), ("film", 0.0))


def test_texts_of_equal_length_are_texts_all_the_same():
    explanations = of_texts(["good film", "bad film"], column=1)
    assert explanations.values.dtype == np.float64  # shap makes a matrix of them
    assert [[word for word, _ in row] for row in faithkit.adapt(explanations).values] == [
        ["film", "good"],
        ["bad", "film"],
    ]


@one_test
@pytest.mark.parametrize("column", [0, 1])
def test_of_several_classes_of_texts_one_is_taken_also_row_by_row(column):
    given = of_texts(TEXTS)
    expected = [tuple(weights[:, column].tolist()) for weights in given.values]
    for form in (given, [given[row] for row in range(4)]):
        explanations = faithkit.adapt(form, target=column)
        assert [sorted(weight for _, weight in row) for row in explanations.values] == [
            sorted(row) for row in expected
        ]


SYMMETRIC = np.zeros((3, 2, 2))


@one_test
@pytest.mark.parametrize(
    ("given", "params", "message"),
    lambda: [
        (explained_batch(), {}, "and no predictions: give predictions="),
        (explained_batch(), {"target": "other"}, "target='other' is none of the 3 classes: there is 0, 1, 2"),
        (explained_batch(), {"predictions": predicted_labels()[:7]}, "numbers of 60 rows for 7 predictions"),
        (explained_batch(), {"classes": ["a", "b"]}, "values of 3 classes, and 2 labels"),
        (
            explained_batch()[:, :, 1],
            {"target": "low"},
            "target='low' chooses among classes, and these are the values of one",
        ),
        (explained_batch()[:, :, 1], {"digits": 1}, "digits=1 is about the words of texts"),
        (explained_batch()[:, :, 1], {"X": X[:7]}, "made 60 explanations for 7 rows"),
        (
            [explained_batch()[:2], explained_batch()[2:4]],
            {"target": 1},
            "object 0 of the list has 2 rows: give one object of all rows",
        ),
        (
            [explained_batch()[0, :, 1], explained_batch()[1, :3, 1]],
            {},
            "rows of the shapes .3,. and .4,.: give one",
        ),
        ([explained_batch()[0], "age"], {"target": 1}, "row 1 of the list is a str among shap.Explanation"),
        (explained_interactions(), {"target": 1}, "are interactions, or pictures without their data"),
        (explained_interactions()[:, :, :, 1], {}, "are interactions, or pictures without their data"),
        (shap.Explanation(SYMMETRIC), {"target": 1}, "are interactions, or pictures without their data"),
        (shap.Explanation(np.ones((2, 3, 3, 3, 1))), {}, "are interactions, or pictures without their data"),
        (of_texts(TEXTS), {"target": "all"}, "target=all is for tables"),
        ([of_texts(TEXTS)[0], explained_batch()[0]], {"target": 1}, "the list is of texts and tables"),
        (
            shap.Explanation(np.ones((2, 2)), feature_names=["a", "a"]),
            {},
            "more than one feature is called a",
        ),
    ],
    ids=itemgetter(-1),
)
def test_what_cannot_be_understood_is_refused_in_one_line(given, params, message):
    with pytest.raises(faithkit.FaithkitError, match=message) as error:
        faithkit.adapt(given, **params)
    assert "\n" not in str(error.value)


def test_base_values_that_differ_between_rows_are_not_shared():
    explanation = shap.Explanation(np.ones((2, 3)), base_values=np.array([0.25, 0.5]))
    assert "base_values" not in faithkit.adapt(explanation).shared


PICTURES = np.arange(2 * 3 * 4 * 1, dtype=np.float64).reshape(2, 3, 4, 1)


def test_the_values_of_pictures_are_those_of_their_cells():
    explanation = shap.Explanation(PICTURES / 7, base_values=np.zeros(2), data=PICTURES)
    explanations = faithkit.adapt(explanation, X=PICTURES)
    assert explanations.values.tolist() == (PICTURES / 7).reshape(2, 12).tolist()
    assert explanations.shared["names"][:2] == ["[0, 0, 0]", "[0, 1, 0]"]


def test_of_pictures_with_several_classes_the_one_that_is_meant_is_taken():
    values = np.stack([PICTURES, -PICTURES, PICTURES * 3], axis=-1)
    explanation = shap.Explanation(values, base_values=np.zeros((2, 3)), data=PICTURES)
    assert faithkit.adapt(explanation, target=2).values.tolist() == (PICTURES * 3).reshape(2, 12).tolist()
    named = faithkit.adapt(explanation, target="all", X=PICTURES, classes=["a", "b", "c"]).shared["names"]
    assert (len(named), named[12]) == (36, "b: [0, 0, 0]")


@one_test
@pytest.mark.parametrize("data", [PICTURES.tolist(), list(PICTURES), None], ids=["lists", "arrays", "none"])
def test_pictures_are_known_by_their_data_in_any_form_or_by_x(data):
    explanation = shap.Explanation(PICTURES / 7, data=data)
    explanations = faithkit.adapt(explanation, X=PICTURES, predictions=["a", "b"])
    assert explanations.values.tolist() == (PICTURES / 7).reshape(2, 12).tolist()


def test_a_list_with_one_object_of_each_picture():
    given = [shap.Explanation(picture / 7, data=picture) for picture in PICTURES]
    assert faithkit.adapt(given, X=PICTURES).values.tolist() == (PICTURES / 7).reshape(2, 12).tolist()


def test_channels_are_not_taken_for_classes():
    series = np.arange(2 * 5 * 2, dtype=np.float64).reshape(2, 5, 2)
    explanations = faithkit.adapt(shap.Explanation(series), X=series, predictions=["a", "b"])
    assert explanations.values.shape == (2, 10)
