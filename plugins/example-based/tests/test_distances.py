"""Distances: their definitions cell by cell, what they refuse, and fast search that equals the double loop."""

import pickle
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from brute_distances import Distances, nearest, rows_of
from faithkit_conformance.equality import find_foreign_type
from faithkit_example_based import distance_search
from faithkit_example_based.distances import learn_distance, shared_distance
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from mixed_tables import tables

import faithkit

NAMES = ("euclidean", "standardized", "manhattan", "gower")


@st.composite
def distance_cases(draw):
    """A table split in two, a distance learnt from the second part, and its slow twin."""
    name = draw(st.sampled_from(NAMES))
    frame = draw(tables(numeric=name != "gower"))
    cut = draw(st.integers(1, len(frame) - 2))
    x, background = frame.iloc[:cut], frame.iloc[cut:].reset_index(drop=True)
    distance = learn_distance(name, background)
    return x, background, distance, Distances(name, background, distance.scale.tolist())


@given(distance_cases())
@settings(max_examples=10)
def test_every_distance_is_its_definition(case):
    x, background, distance, slow = case
    a, b = distance.coordinates(x), distance.coordinates(background)
    expected = [[slow(p, q) for q in rows_of(background)] for p in rows_of(x)]
    assert distance.between(a[:, None], b[None]).tolist() == expected
    assert distance.between(b[:, None], a[None]).T.tolist() == expected


@given(distance_cases(), st.integers(1, 5), st.booleans())
@settings(max_examples=10)
def test_the_nearest_rows_are_those_of_the_double_loop_ties_included(case, k, fast):
    x, background, distance, slow = case
    k = min(k, len(background))
    with mock.patch.object(distance_search, "MIN_SCREENED_ROWS", 0 if fast else 10**9):
        result = distance_search.find_nearest_rows(
            distance, distance.coordinates(x), distance.coordinates(background), k
        )
    prototypes = rows_of(background)
    assert result.tolist() == [nearest(slow, row, prototypes, k) for row in rows_of(x)]


@given(distance_cases(), st.booleans(), st.booleans())
@settings(max_examples=10)
def test_nearer_than_is_exact_at_the_boundary(case, strict, fast):
    x, background, distance, slow = case
    matrix = [[slow(p, q) for q in rows_of(background)] for p in rows_of(x)]
    radius = np.array([sorted(line)[len(line) // 2] for line in matrix])  # always some row's own distance
    with mock.patch.object(distance_search, "MIN_SCREENED_ROWS", 0 if fast else 10**9):
        bits = distance_search.find_rows_within(
            distance, distance.coordinates(x), radius, distance.coordinates(background), strict
        )
    expected = [
        [far < r if strict else far <= r for far in line] for line, r in zip(matrix, radius, strict=True)
    ]
    assert (bits == faithkit.plugin.pack_bits(np.array(expected))).all()


@one_test
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", ["far", "offset", "outlier", "tiny", "mixed scales", "equal rows"])
def test_screens_decide_nothing_wrongly_however_the_numbers_are_scaled(name, shape):
    rng = np.random.default_rng(0)
    b, a = rng.normal(size=(300, 5)), rng.normal(size=(40, 5))
    b[:20] = a[:20]
    match shape:
        case "far":
            a[:5] = 1e200
            b[5:9] = -1e160
        case "offset":
            a, b = a.round(1) + 1e9, b.round(1) + 1e9
        case "outlier":
            b[3] = 1e12
        case "tiny":
            a, b = a * 1e-170, b * 1e-170
        case "mixed scales":
            a, b = (x * 10.0 ** np.arange(-10, 15, 5) for x in (a, b))
        case "equal rows":
            b[:] = 1.5
    with np.errstate(over="ignore", invalid="ignore"):
        distance = learn_distance(name, b)
        far = distance.between(a[:, None], b[None])
        for k in (1, 7):
            result = distance_search.find_nearest_rows(distance, a, b, k)
            assert (result == np.sort(np.argsort(far, axis=1, kind="stable")[:, :k])).all()
        for share in (0.0, 0.01, 0.5, 1.0):
            radius = np.quantile(far, share, axis=1, method="lower")
            for strict in (True, False):
                expected = far < radius[:, None] if strict else far <= radius[:, None]
                assert (
                    distance_search.find_rows_within(distance, a, radius, b, strict)
                    == faithkit.plugin.pack_bits(expected)
                ).all()


def test_screens_leave_little_to_measure():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(32, 14)), rng.normal(size=(2000, 14))
    n_pairs = []

    def note_pairs(distance, a, rows, b, columns):
        n_pairs.append(len(rows))
        return distance.between(a[rows], b[columns])

    with mock.patch.object(distance_search, "_measure_pairs", note_pairs):
        for name in NAMES:
            distance = learn_distance(name, b)
            radius = np.quantile(distance.between(a[:, None], b[None]), 0.3, axis=1)
            distance_search.find_rows_within(distance, a, radius, b, strict=False)
            distance_search.find_nearest_rows(distance, a, b, 1)
    assert sum(n_pairs) < 4 * 32 * 3  # one pair a row is the least that nearest can do


def test_blocks_and_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, (60, 6)).astype(float), rng.integers(0, 3, (900, 6)).astype(float)
    distance = learn_distance("euclidean", b)
    radius = np.full(60, 2.0)
    near, bits = (
        distance_search.find_nearest_rows(distance, a, b, 3),
        distance_search.find_rows_within(distance, a, radius, b, True),
    )
    monkeypatch.setattr(distance_search, "VALUES_PER_BATCH", 1)
    monkeypatch.setattr(distance_search, "PAIRS_PER_STEP", 10)
    monkeypatch.setattr("faithkit.arrays.batches.MAX_THREADS", 1)
    assert (distance_search.find_nearest_rows(distance, a, b, 3) == near).all()
    assert (distance_search.find_rows_within(distance, a, radius, b, True) == bits).all()


def test_every_pair_is_measured_however_many_at_a_time():
    line = np.array([[0.0], [1.0], [5.0]])
    distance = learn_distance("euclidean", line)
    rows, columns = np.array([0, 1, 2, 0, 2]), np.array([2, 2, 0, 1, 1])
    with mock.patch.object(distance_search, "PAIRS_PER_STEP", 2):
        assert distance_search._measure_pairs(distance, line, rows, line, columns).tolist() == [5, 4, 5, 1, 4]


def test_gower_by_hand():
    people = pd.DataFrame(
        {"age": [20, 60, None], "job": ["cook", "smith", None], "town": ["Ulm", "Ulm", "Ulm"]}
    )
    distance = learn_distance(None, people)
    x = distance.coordinates(people)
    assert distance.name == "gower"
    # 20 and 60 are a whole range apart; a value and a missing one count 1, two missing ones 0
    assert distance.between(x[:, None], x[None]).tolist() == [
        [0.0, 2 / 3, 2 / 3],
        [2 / 3, 0.0, 2 / 3],
        [2 / 3, 2 / 3, 0.0],
    ]


def test_the_default_is_standardized_for_numbers_and_gower_for_the_rest():
    numbers = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert learn_distance(None, numbers).name == "standardized"
    assert learn_distance(None, np.array([[1.0, np.nan], [3.0, 4.0]])).name == "gower"
    assert learn_distance(None, pd.DataFrame({"a": ["x", "y"]})).name == "gower"
    assert learn_distance(None, pd.DataFrame({"a": [True, False]})).name == "gower"


def test_standardized_divides_by_the_deviation_of_the_background():
    X = np.array([[0.0, 5.0], [10.0, 5.0], [20.0, 11.0]])
    distance = learn_distance("standardized", X)
    assert distance.between(X[0], X[1]) == pytest.approx(10 / np.std([0, 10, 20]))
    assert distance.between(X[1], X[2]) == pytest.approx(np.hypot(10 / X[:, 0].std(), 6 / X[:, 1].std()))


@one_test
@pytest.mark.parametrize("name", ["standardized", "gower"])
def test_a_constant_column_weighs_nothing_and_divides_nothing(name):
    background = np.column_stack([np.full(50, 0.1), np.arange(50.0)])
    with np.errstate(all="raise"):
        distance = learn_distance(name, background)
        x = distance.coordinates(np.array([[0.1, 3.0], [7.0, 3.0]]))
        assert distance.between(x[0], x[1]) == 0.0


def test_a_value_missing_from_a_constant_column_still_counts():
    background = pd.DataFrame({"a": [5.0, np.nan, 5.0], "b": [0.0, 1.0, 2.0]})
    distance = learn_distance(None, background)
    x = distance.coordinates(background.assign(b=0.0))
    assert distance.between(x[:1], x).tolist() == [0.0, 0.5, 0.0]


@one_test
@pytest.mark.parametrize("name", ["standardized", "gower"])
def test_the_order_of_the_background_changes_no_bit(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3)) * [1, 1e-3, 1e6]
    scales = [learn_distance(name, X[rng.permutation(1000)]).scale.tolist() for _ in range(5)]
    assert all(scale == scales[0] for scale in scales)


def test_columns_in_another_order_are_found_by_name():
    background = pd.DataFrame({"age": [20, 60], "job": ["cook", "smith"]})
    distance = learn_distance(None, background)
    swapped = background[["job", "age"]]
    assert (distance.coordinates(swapped) == distance.coordinates(background)).all()
    with pytest.raises(faithkit.errors.InputError, match="lacks 'job'"):
        distance.coordinates(background[["age"]])


def test_new_categories_differ_from_all_others_and_from_each_other():
    distance = learn_distance(None, pd.DataFrame({"job": ["cook", "smith", None]}))
    x = distance.coordinates(pd.DataFrame({"job": ["cook", "pilot", "baker", "pilot", None]}))
    unlike = distance.between(x[:, None], x[None])
    assert unlike[1].tolist() == [1, 0, 1, 0, 1]
    assert unlike[2].tolist() == [1, 1, 0, 1, 1]
    as_array = learn_distance(None, np.array([["cook"], ["smith"]], dtype=object))
    y = as_array.coordinates(np.array([["pilot"], ["pilot"], ["baker"]], dtype=object))
    assert as_array.between(y[:1], y).tolist() == [0, 0, 1]


@one_test
@pytest.mark.parametrize(
    ("name", "background", "message"),
    [
        (
            "euclidean",
            pd.DataFrame({"n": [1.0, 2.0], "job": ["a", "b"]}),
            "'job' holds categories: use distance=gower",
        ),
        ("standardized", np.array([[1.0], [np.nan]]), "'x0' has a missing value.*distance=gower, or impute"),
        ("manhattan", np.array([[1.0], [np.inf]]), "'x0' has an infinite value"),
        ("gower", np.array([[1.0], [-np.inf]]), "'x0' has an infinite value"),
        (None, ["a text"], "examples are rows of a table, and the background is a list"),
    ],
)
def test_what_a_distance_cannot_measure_is_named(name, background, message):
    with pytest.raises(faithkit.errors.InputError, match=message):
        learn_distance(name, background)


def test_a_missing_value_that_only_the_instance_has_is_refused_by_name():
    distance = learn_distance(None, pd.DataFrame({"age": [20.0, 60.0]}))
    with pytest.raises(faithkit.errors.InputError, match="'age' has a missing value"):
        distance.coordinates(pd.DataFrame({"age": [30.0, np.nan]}))


@one_test
@pytest.mark.parametrize(
    "background",
    [
        np.array([[1.0, 2.0], [3.0, 5.0]]),
        np.array([[1, 2], [3, 5]]),
        np.array([["a", "b"], ["c", "b"]]),
        np.array([[1, "b"], [2.5, None]], dtype=object),
        np.array([[True, False], [True, True]]),
        pd.DataFrame({"n": [1, 2, 3], "s": ["a", None, "c"], "flag": [True, True, True]}),
        pd.DataFrame({"n": pd.array([1, None, 3], dtype="Int64"), "c": pd.Categorical(["x", "y", "x"])}),
        pd.DataFrame(
            {"c": pd.Categorical(["low", "high"], ["low", "mid", "high"], ordered=True), 7: [0.5, 1.5]}
        ),
        pd.DataFrame({"none": pd.Series([None, None], dtype=object), "n": [1.0, np.nan]}),
    ],
    ids=["floats", "ints", "texts", "objects", "booleans", "frame", "extension", "ordered", "missing"],
)
def test_a_distance_survives_a_file_of_explanations(background):
    distance = learn_distance(None, background)
    result = faithkit.Explanations.vectors([[0.0]], shared={"distance": distance.to_shared()})
    assert find_foreign_type(result.shared) is None
    again = shared_distance(pickle.loads(pickle.dumps(result)).shared["distance"])
    x, y = distance.coordinates(background), again.coordinates(background)
    assert np.array_equal(x, y, equal_nan=True)
    assert (distance.between(x[:, None], x[None]) == again.between(y[:, None], y[None])).all()
    assert (again.name, again.encoder.names) == (distance.name, distance.encoder.names)


def test_a_users_function_gets_rows_as_they_are():
    calls = []

    def years(a, b):
        calls.append((type(a), a["age"]))
        return abs(a["age"] - b["age"])

    people = pd.DataFrame({"age": [20, 60], "job": ["cook", "smith"]})
    distance = learn_distance(years, people)
    x = distance.coordinates(people)
    assert distance.between(x[:, None], x[None]).tolist() == [[0, 40], [40, 0]]
    assert distance_search.find_nearest_rows(distance, x, x, 1).tolist() == [[0], [1]]
    assert calls[0] == (pd.Series, 20)


@one_test
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: -1, "gave -1 for two rows; expected a number of at least 0"),
        (lambda a, b: float("nan"), "gave nan"),
        (lambda a, b: "far", "gave 'far'"),
        (lambda a, b: None, "gave None"),
    ],
    ids=["negative", "nan", "text", "none"],
)
def test_a_users_function_must_return_distances(function, message):
    distance = learn_distance(function, np.zeros((2, 1)))
    x = distance.coordinates(np.zeros((2, 1)))
    with pytest.raises(faithkit.errors.InputError, match=message):
        distance.between(x, x)
