"""What InterpretML's `explain_local` returns gives the numbers of its scores as a table."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from sklearn.ensemble import RandomForestClassifier

import faithkit

pytest.importorskip("interpret")
from interpret import glassbox
from interpret.api.templates import FeatureValueExplanation
from interpret.blackbox import LimeTabular

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=120), "b": RNG.normal(size=120), "c": RNG.choice(["x", "y"], 120)})
THREE = np.array(["high", "low", "mid"])[np.digitize(X["a"], [-0.5, 0.5])]
ROWS = X[:20]
MACHINE = {"interactions": 0, "max_rounds": 20, "outer_bags": 1, "n_jobs": 1, "random_state": 0}


@pytest.fixture(scope="module")
def two_classes():
    params = MACHINE | {"interactions": 1}
    return glassbox.ExplainableBoostingClassifier(**params).fit(X, X["a"] + X["b"] > 0)


@pytest.fixture(scope="module")
def three_classes():
    return glassbox.ExplainableBoostingClassifier(**MACHINE).fit(X, THREE)


def read_scores(explanation):
    """Read the scores one row after the other, as InterpretML's documentation does."""
    return np.array([explanation.data(row)["scores"] for row in range(len(ROWS))], dtype=np.float64)


def test_terms_become_columns_and_the_intercept_is_left_out(two_classes):
    explanation = two_classes.explain_local(ROWS)
    explanations = faithkit.plugin.adapt(explanation, X=ROWS)
    np.testing.assert_array_equal(explanations.values, read_scores(explanation))
    assert explanations.shared == {"names": ["a", "b", "c", two_classes.term_names_[3]]}


def test_of_several_classes_the_predicted_one_is_taken(three_classes):
    explanation, labels = three_classes.explain_local(ROWS), three_classes.predict(ROWS)
    place = np.searchsorted(three_classes.classes_, labels)
    expected = read_scores(explanation)[np.arange(len(ROWS)), :, place]
    for known in ({}, {"predictions": labels}, {"predictions": labels, "classes": three_classes.classes_}):
        np.testing.assert_array_equal(faithkit.plugin.adapt(explanation, **known).values, expected)
    np.testing.assert_array_equal(
        faithkit.plugin.adapt(explanation, target="low").values, read_scores(explanation)[:, :, 1]
    )
    frame = pd.DataFrame(expected, columns=list("abc"))
    array = faithkit.score(labels, frame, ROWS, discretizer="1fp")
    assert faithkit.score(labels, explanation, ROWS, discretizer="1fp").consistency == array.consistency


def test_an_explainer_may_return_one(three_classes):
    result = faithkit.evaluate(
        three_classes,
        ROWS,
        lambda rows: three_classes.explain_local(rows),
        discretizer="sign",
        progress=False,
    )
    assert result.rows.explanations.values.shape == (20, 3)


def test_terms_that_each_row_names_in_its_own_order_are_put_in_one():
    numbers = X[["a", "b"]]
    forest = RandomForestClassifier(n_estimators=5, random_state=0).fit(numbers, X["a"] > 0)
    explanation = LimeTabular(forest, numbers, random_state=0).explain_local(numbers[:20])
    explanations = faithkit.plugin.adapt(explanation)
    for row in range(20):
        terms = explanation.data(row)
        assert dict(zip(["a", "b"], explanations.values[row], strict=True)) == dict(
            zip(terms["names"], terms["scores"], strict=True)
        )


@one_test
@pytest.mark.parametrize("name", ["LogisticRegression", "LinearRegression"])
def test_linear_models_have_one_output(name):
    target = X["a"] > 0 if name == "LogisticRegression" else X["a"]
    explanation = getattr(glassbox, name)().fit(X[["a", "b"]], target).explain_local(ROWS[["a", "b"]])
    np.testing.assert_array_equal(faithkit.plugin.adapt(explanation).values, read_scores(explanation))
    with pytest.raises(
        faithkit.errors.InputError, match="target='all' chooses among classes, and these are the scores of"
    ):
        faithkit.plugin.adapt(explanation, target="all")


def test_what_is_not_about_rows_is_refused(three_classes):
    with pytest.raises(
        faithkit.errors.InputError, match="a global explanation has no scores of rows: give explain_local"
    ):
        faithkit.plugin.adapt(three_classes.explain_global())


@one_test
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "z"], "a row has a score of 'z', which is none of the explanation's feature_names"),
        (["a", "a"], "row 0 names a term twice: rename the features"),
    ],
)
def test_terms_that_nobody_could_tell_apart_are_refused(names, message):
    scores = {"overall": None, "specific": [{"names": names, "scores": [0.1, 0.2]}]}
    with pytest.raises(faithkit.errors.InputError, match=message):
        faithkit.plugin.adapt(FeatureValueExplanation("local", scores, feature_names=["a", "b"]))


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"target": "other"}, "target='other' is none of the 3 classes: there is high, low, mid"),
        ({"predictions": ["none"] * 20}, "the label 'none' was predicted and is not among the classes"),
        ({"predictions": ["low"] * 3}, "numbers of 20 rows for 3 predictions"),
        ({"X": X}, "made 20 explanations for 120 rows"),
    ],
)
def test_what_cannot_be_understood_is_refused_in_one_line(three_classes, params, message):
    with pytest.raises(faithkit.errors.FaithkitError, match=message) as error:
        faithkit.plugin.adapt(three_classes.explain_local(ROWS), **params)
    assert "\n" not in str(error.value)
