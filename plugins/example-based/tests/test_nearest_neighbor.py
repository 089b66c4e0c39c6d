"""Nearest neighbours as explanations: the definition, ties by content, and the model that explains itself."""

import warnings

import numpy as np
import pandas as pd
import pytest
from brute_distances import Distances, in_order, nearest, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from mixed_tables import tables
from sklearn.neighbors import KNeighborsClassifier

import faithkit


def build_explainer(**params):
    return faithkit.plugin.registry().create("explainer", "nearest-neighbor", params)


def read_prototypes(explanations):
    """Return each row's set of prototypes as plain values."""
    rows = rows_of(explanations.shared["prototypes"])
    return [[rows[number] for number in numbers] for numbers in explanations.values]


@given(tables(), st.integers(1, 3))
@settings(max_examples=5)
def test_the_prototypes_are_the_nearest_rows_and_content_decides_ties(frame, k):
    x, background = frame.iloc[:3], frame.iloc[3:].reset_index(drop=True)
    ordered = in_order(rows_of(background))
    if len(ordered) < k:
        return
    explanations = build_explainer(k=k).fit(None, background).explain(x, None)
    slow = Distances(
        explanations.shared["distance"]["name"], background, explanations.shared["distance"]["scale"]
    )
    expected = [[ordered[i] for i in nearest(slow, row, ordered, k)] for row in rows_of(x)]
    assert read_prototypes(explanations) == expected


@given(tables(), st.randoms(use_true_random=False), st.sampled_from([None, 3]))
@settings(max_examples=5)
def test_the_order_of_the_background_is_irrelevant(frame, random, prototypes):
    shuffled = frame.iloc[random.sample(range(len(frame)), len(frame))]
    here, there = (
        build_explainer(prototypes=prototypes).fit(None, rows).explain(frame, None)
        for rows in (frame, shuffled)
    )
    assert here.identity.tolist() == there.identity.tolist()
    assert here.values.tolist() == there.values.tolist()


def test_a_subset_of_prototypes_is_drawn_by_content_and_seed():
    X = np.random.default_rng(0).normal(size=(300, 2))
    drawn = [
        build_explainer(prototypes=20, seed=seed).fit(None, X).shared_["prototypes"] for seed in (0, 0, 1)
    ]
    assert all(len(rows) == 20 for rows in drawn)
    assert (drawn[0] == drawn[1]).all()
    assert len({tuple(row) for row in drawn[0]} & {tuple(row) for row in drawn[2]}) < 10
    assert {tuple(row) for row in drawn[0]} < {tuple(row) for row in X}


def test_more_prototypes_than_distinct_rows_are_all_of_them():
    X = np.repeat([[0.0], [1.0]], 5, axis=0)
    assert build_explainer(prototypes=50).fit(None, X).shared_["prototypes"].tolist() == [[0.0], [1.0]]


def test_an_explanation_can_be_read():
    people = pd.DataFrame({"age": [31, 45], "job": ["cook", None]})
    explanations = build_explainer(k=2).fit(None, people).explain(people, None)
    assert (
        explanations.identity[0] == "prototype 0: age = 31, job = cook; prototype 1: age = 45, job = missing"
    )
    assert (explanations.kind, explanations.relation) == ("example", "nearest")


@one_test
@pytest.mark.parametrize(
    ("k", "classes"),
    [(1, ("no", "yes")), (2, (0, 1, 2)), (3, (False, True))],
    ids=["words", "three", "booleans"],
)
def test_a_model_that_explains_itself_is_consistent(k, classes):
    rng = np.random.default_rng(k)
    frame = pd.DataFrame(
        {"n": rng.normal(size=200).round(1), "job": rng.choice(["cook", "smith", None], 200), "c": 1.0}
    )
    labels = np.array(classes)[rng.integers(0, len(classes), 200)]
    knn = build_explainer(k=k).as_model(frame.iloc[:20], labels[:20])
    result = faithkit.evaluate(knn, frame.iloc[20:], explainer=knn, estimator="verified-only")
    assert result.consistency.verified > 0.5
    assert result.consistency.value == 1.0
    by_default = faithkit.evaluate(knn, frame.iloc[20:], explainer=knn)
    assert by_default.sufficiency.value == by_default.consistency.value == by_default.consistency.verified
    assert (
        by_default.sufficiency.estimate <= by_default.consistency.estimate
    )  # rows that are alone are compared


@one_test
@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_model_predicts_what_scikit_learn_predicts(k):
    rng = np.random.default_rng(k)
    X, y = rng.normal(size=(400, 4)), rng.choice(["a", "b"], 400)
    expected = KNeighborsClassifier(k).fit(X[:300], y[:300]).predict(X[300:])
    labels = build_explainer(k=k, distance="euclidean").as_model(X[:300], y[:300]).predict(X[300:])
    assert labels.tolist() == expected.tolist()


def test_equal_rows_vote_for_their_label_and_ties_go_to_the_first_label():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [9.0]])
    knn = build_explainer().as_model(X, ["b", "b", "a", "d", "c", "a"])
    assert knn.predict(np.array([[0.1], [0.9], [8.0]])).tolist() == ["b", "c", "a"]
    pair = build_explainer(k=2).as_model(np.array([[0.0], [1.0], [9.0]]), ["z", "y", "x"])
    assert pair.predict(np.array([[0.4]])).tolist() == ["y"]


def test_each_prototype_of_a_subset_keeps_its_own_label():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 5, 60)
    knn = build_explainer(prototypes=9).as_model(X, y)
    label = {tuple(row): int(code) for row, code in zip(X, y, strict=True)}
    prototypes = knn.shared_["prototypes"]
    assert knn.predict(prototypes).tolist() == [label[tuple(row)] for row in prototypes]


def test_a_model_keeps_its_prototypes_and_learns_nothing_from_the_sample():
    X = np.array([[0.0], [1.0], [9.0], [10.0]])
    knn = build_explainer().as_model(X[[0, 3]], ["low", "high"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = faithkit.evaluate(knn, X, explainer=knn)
    assert result.n_explanations == 2
    assert result.consistency.value == 1.0
    assert knn.shared_["prototypes"].tolist() == [[0.0], [10.0]]


def test_a_model_with_its_explainer_by_name_is_the_same_system():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), rng.integers(0, 3, 90)
    knn = build_explainer(k=2, prototypes=8, seed=3).as_model(X[:30], y[:30])
    by_name = "nearest-neighbor:k=2,prototypes=8,seed=3"
    results = [
        faithkit.evaluate(knn, X[30:], explainer=knn),
        faithkit.evaluate(knn, X[30:], explainer=by_name, background=X[:30], n_jobs=2),
    ]
    assert results[0].consistency == results[1].consistency
    assert results[0].to_dict()["n_explanations"] == results[1].to_dict()["n_explanations"]


def test_a_single_prototype_explains_everything_alike():
    X = np.random.default_rng(0).normal(size=(40, 2))
    result = faithkit.evaluate(
        lambda X: X[:, 0] > 0, X, explainer="nearest-neighbor:prototypes=1", background=X[:10]
    )
    assert result.n_explanations == 1
    assert result.consistency.value == pytest.approx(result.chance)


def test_new_categories_missing_values_and_columns_in_another_order_are_explained():
    background = pd.DataFrame({"age": [20.0, np.nan, 60.0], "job": ["cook", "smith", None]})
    fitted = build_explainer().fit(None, background)
    odd = pd.DataFrame({"job": ["pilot", None, None], "age": [21.0, np.nan, 59.0]})
    rows = [row[0] for row in read_prototypes(fitted.explain(odd, None))]
    # (missing, missing) is 1/2 from both of the rows that have one of the two: 60 comes before missing
    assert rows == [(20.0, "cook"), (60.0, None), (60.0, None)]


def test_no_rows_are_explained_by_nothing():
    explanations = build_explainer(k=2).fit(None, np.eye(3)).explain(np.empty((0, 3)), None)
    assert (len(explanations), explanations.values.shape) == (0, (0, 2))


def test_a_function_can_be_the_distance():
    def last_digit(a, b):
        return abs(a[0] % 10 - b[0] % 10)

    X = np.array([[11.0], [28.0], [35.0]])
    result = faithkit.evaluate(
        lambda X: X[:, 0] > 20,
        X,
        explainer=type(build_explainer())(distance=last_digit),
        background=np.array([[100.0], [8.0]]),
        relation=faithkit.plugin.registry().create("relation", "nearest", {"distance": last_digit}),
    )
    assert result.rows.explanations.values.ravel().tolist() == [1, 0, 0]
    assert result.sufficiency.value == result.consistency.value
    without = faithkit.evaluate(
        lambda X: X[:, 0] > 20, X, explainer=type(build_explainer())(distance=last_digit), background=X
    )
    assert without.sufficiency is None
    assert "the function last_digit" in without.why_no_sufficiency


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1"),
        ({"k": True}, "k must be a whole number"),
        ({"prototypes": 2.5}, "prototypes must be a whole number"),
        ({"k": 3, "prototypes": 2}, "k=3 of prototypes=2"),
        ({"distance": "euclid"}, "distance must be one of euclidean, standardized"),
        ({"seed": "x"}, "seed must be a whole number"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        build_explainer(**params)


def test_what_cannot_be_is_said():
    with pytest.raises(faithkit.errors.InputError, match="2 distinct rows, and k=3"):
        build_explainer(k=3).fit(None, np.array([[0.0], [0.0], [1.0]]))
    with pytest.raises(faithkit.errors.InputError, match=r"as_model\(X, y\)"):
        build_explainer().fit(None, np.eye(2)).predict(np.eye(2))
    with pytest.raises(faithkit.errors.InputError, match=r"labels of shape \(2,\) for 3 rows"):
        build_explainer().as_model(np.eye(3), ["a", "b"])
    with pytest.raises(faithkit.errors.InputError, match="examples are rows of a table"):
        build_explainer().fit(None, ["a text"])
    with pytest.raises(faithkit.errors.InputError, match="2 labels are missing"):
        build_explainer().as_model(np.eye(3), ["a", None, np.nan])


def test_exported_explanations_are_the_numbers_of_the_neighbours_not_columns_of_the_table():
    X = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [5.0, 5.0, 5.0]])
    result = faithkit.evaluate(
        lambda rows: rows[:, 0] > 2, X[[0, 2]], explainer="nearest-neighbor", background=X, progress=False
    )
    frame = result.to_frame("explanations")
    assert [name for name in frame if name.startswith("explanation")] == ["explanation_0"]
    assert frame["explanation_0"].tolist() == [0, 2]


def test_a_model_of_numbers_can_become_one_of_labels():
    X = np.array([[0.0], [1.0]])
    knn = build_explainer().as_model(X, [0.5, 1.5]).as_model(X, ["low", "high"])
    assert faithkit.Predictor(knn).predict(X).tolist() == ["low", "high"]
