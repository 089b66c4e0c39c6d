"""A list of lime's explanations gives the numbers of its weights as a table."""

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

lime_tabular, lime_text = map(import_when_used, ("lime.lime_tabular", "lime.lime_text"))

pytestmark = pytest.mark.filterwarnings(
    "ignore::faithkit.errors.FaithkitWarning"
)  # of rows that repeat others

RNG = np.random.default_rng(0)
NAMES = ["age", "pay", "job"]
X = np.column_stack([RNG.normal(size=(40, 2)), RNG.integers(0, 3, 40)])
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
ROWS = X[:6]

TEXTS = ["good good film", "bad film", "a good plot", "bad cast here"]


@cache
def fit_forest():
    return RandomForestClassifier(n_estimators=5, random_state=0).fit(X, THREE)


@cache
def predict_labels():
    return fit_forest().predict(ROWS)


@cache
def fit_reader():
    return make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, [1, 0, 1, 0])


def make_lime(**params):
    return lime_tabular.LimeTabularExplainer(
        X,
        feature_names=NAMES,
        categorical_features=[2],
        categorical_names={2: ["cook", "clerk", "smith"]},
        random_state=0,
        **params,
    )


def explain_rows(scores, labels=None, top_labels=None, num_features=3, **params):
    lime = make_lime(**params)
    more = {"labels": labels} if labels is not None else {}
    return [
        lime.explain_instance(
            row, scores, num_features=num_features, num_samples=50, top_labels=top_labels, **more
        )
        for row in ROWS
    ]


@cache
def explain_texts():
    lime = lime_text.LimeTextExplainer(class_names=["dull", "fine"], random_state=0)
    return [lime.explain_instance(text, fit_reader().predict_proba, num_samples=50) for text in TEXTS]


def to_table(explanations, labels):
    """Write lime's weights as a matrix, the way that lime's own documentation reads them."""
    values = np.zeros((len(explanations), 3))
    for row, (explanation, label) in enumerate(zip(explanations, labels, strict=True)):
        for column, weight in explanation.as_map()[label]:
            values[row, column] = weight
    return values


@cache
def explain_all_labels():
    return explain_rows(fit_forest().predict_proba, labels=(0, 1, 2))


@cache
def explain_top_label():
    return explain_rows(fit_forest().predict_proba, top_labels=1, num_features=2)


def test_of_several_classes_the_predicted_one_is_taken():
    explanations = faithkit.plugin.adapt(explain_all_labels(), predictions=predict_labels())
    np.testing.assert_array_equal(explanations.values, to_table(explain_all_labels(), predict_labels()))
    assert explanations.kind == "vector"
    assert explanations.shared == {
        "names": NAMES,
        "target": "predicted",
    }  # and not "job=clerk", which is each row's own


def test_without_predictions_lime_says_what_was_predicted():
    own = [int(np.argmax(explanation.predict_proba)) for explanation in explain_top_label()]
    np.testing.assert_array_equal(
        faithkit.plugin.adapt(explain_top_label()).values, to_table(explain_top_label(), own)
    )


@one_test
@pytest.mark.parametrize("label", [0, 1, 2])
def test_a_class_is_taken_by_number_or_name(label):
    expected = to_table(explain_all_labels(), [label] * 6)
    np.testing.assert_array_equal(faithkit.plugin.adapt(explain_all_labels(), target=label).values, expected)
    named = faithkit.plugin.adapt(explain_all_labels(), classes=["a", "b", "c"], target="abc"[label])
    np.testing.assert_array_equal(named.values, expected)


def test_all_classes_stand_side_by_side():
    explanations = faithkit.plugin.adapt(explain_all_labels(), target="all", classes=["a", "b", "c"])
    np.testing.assert_array_equal(
        explanations.values, np.hstack([to_table(explain_all_labels(), [label] * 6) for label in range(3)])
    )
    assert explanations.shared["names"][3:5] == ["b: age", "b: pay"]


@one_test
@pytest.mark.parametrize("discretizer", ["original", "sign"])
def test_the_numbers_are_those_of_the_array_to_the_bit(discretizer):
    frame = pd.DataFrame(ROWS, columns=NAMES)
    array = faithkit.score(
        predict_labels(),
        pd.DataFrame(to_table(explain_all_labels(), predict_labels()), columns=NAMES),
        frame,
        discretizer=discretizer,
        relation="near-in-top-features",
    )
    result = faithkit.score(predict_labels(), explain_all_labels(), frame, discretizer=discretizer)
    assert (result.consistency, result.sufficiency) == (array.consistency, array.sufficiency)


def test_an_explainer_may_return_them():
    lime = make_lime()

    def explain(rows):
        return [
            lime.explain_instance(row, fit_forest().predict_proba, top_labels=3, num_samples=50)
            for row in rows
        ]

    result = faithkit.evaluate(fit_forest(), ROWS, explain, discretizer="sign", progress=False)
    assert result.rows.explanations.values.shape == (6, 3)


def test_numbers_have_one_vector():
    model = LinearRegression().fit(X, X[:, 0])
    explanations = explain_rows(model.predict, mode="regression")
    np.testing.assert_array_equal(faithkit.plugin.adapt(explanations).values, to_table(explanations, [1] * 6))
    with pytest.raises(
        faithkit.errors.InputError, match="target=1 chooses among classes, and the model predicts numbers"
    ):
        faithkit.plugin.adapt(explanations, target=1)


def test_texts_have_words_with_their_weights_in_one_order():
    explanations = faithkit.plugin.adapt(explain_texts())
    assert explanations.kind == "words"
    assert explanations.values.tolist() == [
        tuple(sorted(explanation.as_list(label=1))) for explanation in explain_texts()
    ]
    rounded = faithkit.plugin.adapt(explain_texts(), digits=1, target="fine")
    assert rounded.values[1] == tuple(
        sorted((word, round(weight, 1) + 0.0) for word, weight in explain_texts()[1].as_list())
    )


@one_test
@pytest.mark.parametrize("form", [tuple, pd.Series, lambda rows: np.array(rows, dtype=object)])
def test_a_column_of_them_is_a_list_of_them(form):
    np.testing.assert_array_equal(
        faithkit.plugin.adapt(form(explain_all_labels()), target=1).values,
        to_table(explain_all_labels(), [1] * 6),
    )


def test_a_row_that_is_not_there_is_missing():
    explanations = faithkit.plugin.adapt(
        [explain_all_labels()[0], None, explain_all_labels()[2]],
        predictions=predict_labels()[:3],
        classes=[0, 1, 2],
    )
    assert explanations.missing.tolist() == [False, True, False]
    np.testing.assert_array_equal(
        explanations.values[[0, 2]], to_table(explain_all_labels()[:3], predict_labels()[:3])[[0, 2]]
    )


@one_test
@pytest.mark.parametrize(
    ("user_input", "params", "message"),
    lambda: [
        (
            explain_top_label(),
            {"target": 1},
            "row . has weights for the label number ., and number 1 is chosen: choose another",
        ),
        (explain_all_labels(), {"target": "x"}, "target='x' is none of the 3 classes: there is 0, 1, 2"),
        (explain_all_labels(), {"predictions": predict_labels()[:2]}, "numbers of 6 rows for 2 predictions"),
        (explain_all_labels(), {"predictions": ["a"] * 6}, "which of the 3 classes a are is not known"),
        (
            explain_all_labels(),
            {"target": 1, "X": X},
            "6 explanations for 40 rows of X: give one of each per row",
        ),
        (explain_all_labels(), {"digits": 1, "target": 1}, "digits=1 is about the words of texts"),
        (
            explain_texts() + explain_all_labels(),
            {},
            "the list is of texts and tables: give explanations of one model",
        ),
        (
            [*explain_all_labels(), 0.5],
            {"target": 1},
            "row 6 of the list is a float among lime.explanation.Explanation",
        ),
        (
            explain_texts(),
            {"target": "good"},
            "target='good' is none of the 2 classes: there is dull, fine",
        ),
    ],
    ids=itemgetter(-1),
)
def test_what_cannot_be_understood_is_refused_in_one_line(user_input, params, message):
    with pytest.raises(faithkit.errors.FaithkitError, match=message) as error:
        faithkit.plugin.adapt(user_input, **params)
    assert "\n" not in str(error.value)
