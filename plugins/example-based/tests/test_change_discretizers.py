"""What counterfactuals change: the appendix's three discretizations, on numbers, categories and missing values."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test

import faithkit

NAMES = ("delta", "delta-sign", "is-feature-modified")


def discretize(name, values, X, **fields):
    explanations = faithkit.Explanations(kind="example", values=values, instances=X, **fields)
    return faithkit.plugin.registry().create("discretizer", name).discretize(explanations)


def cells(frame):
    """Return a table of plain values, for comparison."""
    return pd.DataFrame(frame).to_numpy(dtype=object).tolist()


PEOPLE = pd.DataFrame({"age": [30, 40, 50], "job": ["cook", "smith", None], "gain": [1.5, np.nan, np.nan]})
OTHERS = pd.DataFrame({"age": [35, 40, 45], "job": ["cook", None, "clerk"], "gain": [np.nan, 2.0, np.nan]})


@one_test
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("delta", [[5.0, "same", -np.inf], [0.0, "→", np.inf], [-5.0, "→ clerk", 0.0]]),
        ("delta-sign", [[1.0, 0.0, -1.0], [0.0, 1.0, 1.0], [-1.0, 1.0, 0.0]]),
        ("is-feature-modified", [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]]),
    ],
)
def test_mixed_columns_by_hand(name, expected):
    identities = discretize(name, OTHERS, PEOPLE)
    assert cells(identities) == expected
    assert identities.columns.tolist() == ["age", "job", "gain"]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_numbers_are_the_papers_formulas(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 3, (2, 20, 4)).astype(float)
    assert (discretize("delta", y, x) == y - x).all()
    assert (discretize("delta-sign", y, x) == np.sign(y - x)).all()
    printed = (x == y).astype(int)  # the paper's 1 marks what is unchanged
    identities = discretize("is-feature-modified", y, x)
    assert (identities == 1 - printed).all()


@one_test
@pytest.mark.parametrize("name", NAMES)
def test_columns_in_another_order_are_compared_by_name(name):
    straight = discretize(name, OTHERS, PEOPLE)
    assert cells(discretize(name, OTHERS, PEOPLE[["gain", "job", "age"]])) == cells(straight)


def test_a_difference_of_nothing_has_no_sign():
    identities = discretize("delta", np.array([[-0.0]]), np.array([[0.0]]))
    assert not np.signbit(identities).any()


def test_objects_texts_booleans_and_categories_are_compared():
    x = np.array([[1, "a"], [2, "b"]], dtype=object)
    y = np.array([[3, "a"], [2, None]], dtype=object)
    assert discretize("delta", y, x).tolist() == [[2.0, "same"], [0.0, "→"]]
    words = np.array([["a"], ["b"]]), np.array([["a"], ["c"]])
    assert discretize("delta", words[1], words[0]).tolist() == [["same"], ["→ c"]]
    flags = pd.DataFrame({"f": [True, False], "c": pd.Categorical(["x", "y"])})
    other = pd.DataFrame({"f": [True, True], "c": pd.Categorical(["y", "y"])})
    assert cells(discretize("is-feature-modified", other, flags)) == [[0.0, 1.0], [1.0, 0.0]]


def test_an_identity_can_be_read_and_relations_still_see_the_counterfactual():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"n": rng.integers(0, 9, 80), "job": rng.choice(["cook", "smith"], 80)})
    results = {name: evaluate_counterfactuals(frame, name) for name in NAMES}
    result = results["delta"]
    assert "n = " in result.local(0).explanation
    assert "job = same" in result.local(0).explanation
    assert result.sufficiency is not None
    n_explanations = [results[name].n_explanations for name in ("is-feature-modified", "delta-sign", "delta")]
    assert n_explanations == sorted(n_explanations)


def evaluate_counterfactuals(frame, name):
    return faithkit.evaluate(
        lambda X: X["n"] > 4,
        frame.iloc[:40],
        explainer="nearest-counterfactual",
        background=frame.iloc[40:],
        discretizer=name,
    )


def explain_by_neighbors(X, background, **params):
    explainer = faithkit.plugin.registry().create("explainer", "nearest-neighbor", params)
    return explainer.fit(None, background).explain(X, None)


def test_a_prototype_is_compared_with_its_instance_too():
    X = np.array([[0.0], [4.0]])
    explanations = explain_by_neighbors(X, np.array([[1.0], [5.0]]))
    delta = faithkit.plugin.registry().create("discretizer", "delta")
    assert delta.discretize(explanations).tolist() == [[1.0], [1.0]]


@one_test
@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_compared_is_said(name):
    with pytest.raises(faithkit.errors.InputError, match="the examples have 2 columns and the instances 1"):
        discretize(name, np.zeros((3, 2)), np.zeros((3, 1)))
    with pytest.raises(faithkit.errors.InputError, match="'job' is not among them"):
        discretize(name, OTHERS, PEOPLE.rename(columns={"job": "work"}))
    with pytest.raises(faithkit.errors.InputError, match="instances=X"):
        discretize(name, OTHERS, None)
    explanations = explain_by_neighbors(np.eye(3), np.eye(3), k=2)
    with pytest.raises(faithkit.errors.InputError, match="use k=1"):
        faithkit.plugin.registry().create("discretizer", name).discretize(explanations)
