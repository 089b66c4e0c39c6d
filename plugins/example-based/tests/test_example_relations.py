"""When examples apply: nearest, within and in-ball against double loops, at boundaries, and on logs."""

import pickle
import tracemalloc
from unittest import mock

import attrs
import brute
import numpy as np
import pandas as pd
import pytest
from brute_distances import Distances, in_order, nearest, rows_of
from faithkit_example_based import distance_search
from faithkit_example_based.distances import learn_distance
from faithkit_example_based.relations import nearest_distances
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from looping import one_test
from mixed_tables import FirstColumns, tables

import faithkit
from faithkit.explanations.relations import holds_bits


def build_relation(name, **params):
    return faithkit.plugin.registry().create("relation", name, params)


def explain(name, frame, background, **params):
    explainer = faithkit.plugin.registry().create("explainer", name, params)
    return explainer.fit(faithkit.Predictor(FirstColumns()), background).explain(frame, None)


def build_slow_distances(explanations, background):
    distance = explanations.shared["distance"]
    return Distances(distance["name"], background, distance["scale"])


def assert_holds(relation, X, explanations, expected):
    """Both ways to ask give the expected matrix."""
    sample = faithkit.plugin.Sample(X, explanations)
    assert relation.holds(sample, explanations).tolist() == expected
    bits = faithkit.plugin.pack_bits(np.array(expected, dtype=bool).reshape(len(expected), len(X)))
    with mock.patch.object(distance_search, "MIN_SCREENED_ROWS", 0):
        assert (holds_bits(relation, faithkit.plugin.Sample(X, explanations), explanations) == bits).all()


@given(tables(), st.integers(1, 3))
@settings(max_examples=4)
def test_nearest_is_the_double_loop(frame, k):
    X, background = frame.iloc[:6], frame.iloc[3:].reset_index(drop=True)
    ordered = in_order(rows_of(background))
    assume(len(ordered) >= k)
    explanations = explain("nearest-neighbor", X, background, k=k)
    d = build_slow_distances(explanations, background)
    own = [nearest(d, x, ordered, k) for x in rows_of(X)]
    assert_holds(
        build_relation("nearest"), X, explanations, [[numbers == other for other in own] for numbers in own]
    )


@given(tables(), st.integers(1, 3), st.integers(0, 5))
@settings(max_examples=4)
def test_within_is_the_double_loop_also_at_the_boundary(frame, k, which):
    X, background = frame.iloc[:6], frame.iloc[3:].reset_index(drop=True)
    ordered = in_order(rows_of(background))
    assume(len(ordered) >= k)
    explanations = explain("nearest-neighbor", X, background, k=k)
    d, rows = build_slow_distances(explanations, background), rows_of(X)
    far = [[max(d(x, ordered[p]) for p in numbers) for x in rows] for numbers in explanations.values.tolist()]
    tau = sorted(value for line in far for value in line)[which]
    expected = [[value <= tau for value in line] for line in far]
    assert_holds(build_relation("within", tau=tau), X, explanations, expected)


@given(tables(), st.booleans())
@settings(max_examples=4)
def test_in_ball_is_the_double_loop_and_the_ball_is_open(frame, refine):
    X, background = frame.iloc[:8], frame.iloc[2:].reset_index(drop=True)
    assume(len(set(FirstColumns().predict(background).tolist())) > 1)
    explanations = explain("nearest-counterfactual", X, background, refine=refine)
    d, rows = build_slow_distances(explanations, background), rows_of(X)
    pairs = zip(rows, rows_of(explanations.values), strict=True)
    expected = [[d(x, other) < d(x, end) for other in rows] for x, end in pairs]
    assert_holds(build_relation("in-ball"), X, explanations, expected)


def test_at_just_the_distance_within_holds_and_in_ball_does_not():
    X = np.array([[0.0], [3.0], [3.0000000000000004], [-3.0]])
    explanations = faithkit.Explanations(kind="example", values=X[[1, 1, 1, 1]], instances=X[[0, 0, 0, 0]])
    sample = faithkit.plugin.Sample(X, explanations)
    ball = build_relation("in-ball", distance="euclidean").fit(X, len(X)).holds(sample, explanations)
    assert ball[0].tolist() == [True, False, False, False]
    near = build_relation("within", tau=3.0, distance="euclidean").fit(X, len(X)).holds(sample, explanations)
    assert near[0].tolist() == [True, True, True, False]


def test_within_is_not_reflexive_and_leave_one_out_subtracts_only_where_it_holds():
    X = np.array([[0.0], [1.0], [4.0], [9.0]])
    labels = [0, 1, 0, 0]
    explanations = faithkit.Explanations(kind="example", values=np.array([[0.0], [0.0], [0.0], [0.0]]))
    result = faithkit.score(labels, explanations, X=X, relation="within:tau=1,distance=euclidean")
    near = [[abs(x) <= 1 for x in X.ravel()]] * 4
    value, verified = brute.estimate(near, labels)
    assert (result.sufficiency.value, result.sufficiency.verified) == (pytest.approx(value), verified)
    assert result.local(3).sufficiency.holds_for == 2  # row 3 itself is not among them
    assert result.local(3).sufficiency.value == 0.5


@one_test
@pytest.mark.parametrize("name", ["within", "in-ball"])
def test_missing_explanations_hold_for_nothing_and_disturb_nobody(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    fitted = build_relation(name, **({"tau": 0.7} if name == "within" else {})).fit(X, len(X))
    whole = faithkit.Explanations(kind="example", values=X[::-1].copy(), instances=X)
    gone = np.arange(30) % 4 == 1
    blank = np.where(gone[:, None], np.nan, whole.values)
    partly_missing = attrs.evolve(whole, values=blank, missing=gone)
    sample = faithkit.plugin.Sample(X, whole)
    expected = np.where(gone[:, None], False, fitted.holds(sample, whole))
    assert (fitted.holds(sample, partly_missing) == expected).all()
    assert (fitted.packed(sample, partly_missing) == faithkit.plugin.pack_bits(expected)).all()
    none = attrs.evolve(whole, missing=np.ones(30, dtype=bool))
    assert not fitted.packed(sample, none).any()


def test_a_quantile_is_the_distance_within_which_that_share_has_another_prototype():
    line = np.array([[0.0], [1.0], [3.0], [7.0], [7.0]])  # nearest others: 1, 1, 2, 4
    explanations = faithkit.Explanations(kind="example", values=np.zeros((3, 1)))
    X = np.array([[1.0], [2.0], [4.5]])
    for tau, holds in (
        ("q0.5", [True, False, False]),
        ("q0.75", [True, True, False]),
        ("q1", [True, True, False]),
    ):
        fitted = build_relation("within", tau=tau, distance="euclidean").fit(line, len(line))
        assert fitted.holds(faithkit.plugin.Sample(X, explanations), explanations)[0].tolist() == holds


def test_nearest_distances_are_to_prototypes_other_than_the_row_itself():
    line = np.array([[0.0], [1.0], [3.0], [7.0]])
    distance = learn_distance("euclidean", line)
    result = nearest_distances(distance, np.repeat(line, 2, axis=0), line[[1, 3]])
    assert sorted(result) == [1.0, 2.0, 6.0, 6.0]  # of 1 and 7, which are prototypes, to each other


@one_test
@pytest.mark.parametrize(
    "tau", [-0.1, float("nan"), float("inf"), "0.5", "q", "q1.5", "q-0.1", "quantile:0.1", None, True]
)
def test_tau_is_a_distance_or_a_quantile(tau):
    with pytest.raises(
        faithkit.errors.ParameterError, match="tau must be a finite number of at least 0, or a quantile"
    ):
        build_relation("within", tau=tau)


def test_tau_can_be_written_on_the_command_line():
    assert faithkit.plugin.registry().create("relation", "within", {"tau": "q0.25"}).tau == "q0.25"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    result = faithkit.evaluate(
        lambda X: X[:, 0] > 0,
        X,
        explainer="nearest-neighbor:prototypes=10",
        background=X[:40],
        relation="within:tau=q0.5",
    )
    assert 0 < result.sufficiency.verified <= 1


@one_test
@pytest.mark.parametrize("name", ["nearest-neighbor:k=2,prototypes=15", "nearest-counterfactual"])
def test_what_a_worker_sends_back_is_enough_for_a_score(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "n": rng.normal(size=120).round(1),
            "job": rng.choice(["cook", "smith", None], 120),
            "yes": rng.random(120) < 0.5,
        }
    )
    model = FirstOfFrame()
    X, background = frame.iloc[60:], frame.iloc[:60]
    result = faithkit.evaluate(model, X, explainer=name, background=background)
    log = attrs.evolve(pickle.loads(pickle.dumps(result.rows.explanations)), instances=X)
    again = faithkit.score(model.predict(X), log, X=X)
    assert again.sufficiency == result.sufficiency
    assert again.consistency == result.consistency


class FirstOfFrame:
    """Labels by the first column's sign."""

    def predict(self, X):
        return np.where(X["n"] > 0, "plus", "minus")


def test_the_explainers_distance_is_used_and_another_can_be_asked_for():
    X = np.array([[0.0, 0.0], [1.0, 100.0], [2.0, 0.0], [0.5, 10.0]])
    model = faithkit.Predictor(lambda X: X[:, 0] > 0.75)
    fitted = faithkit.plugin.registry().create(
        "explainer", "nearest-counterfactual", {"distance": "euclidean"}
    )
    explanations = fitted.fit(model, X).explain(X, None)
    assert explanations.values[0].tolist() == [2.0, 0.0]
    sample = faithkit.plugin.Sample(X, explanations)
    own = build_relation("in-ball").fit(X, len(X)).holds(sample, explanations)
    named = (
        build_relation("in-ball", distance="euclidean").fit(X * [1, 7], len(X)).holds(sample, explanations)
    )
    assert own[0].tolist() == named[0].tolist() == [True, False, False, False]
    other = build_relation("in-ball", distance="gower").fit(X, len(X)).holds(sample, explanations)
    assert other[0].tolist() == [True, False, False, True]  # (0.25 + 0.1) / 2 < (1 + 0) / 2


def test_a_relation_by_a_users_function_needs_no_background():
    X = np.array([[0.0], [3.0], [11.0]])

    def last_digit(a, b):
        return abs(a[0] % 10 - b[0] % 10)

    explanations = faithkit.Explanations(kind="example", values=X[[0, 0, 0]], instances=X)
    near = build_relation("within", tau=1, distance=last_digit)
    assert near.holds(faithkit.plugin.Sample(X, explanations), explanations)[0].tolist() == [
        True,
        False,
        True,
    ]


def test_relations_say_what_was_asked_for():
    composed = build_relation("nearest") & build_relation(
        "within", tau="q0.5", distance="gower"
    ) | ~build_relation("in-ball")
    assert str(composed) == "((nearest & within:tau=q0.5,distance=gower) | ~in-ball)"


def test_relations_compose():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    result = faithkit.evaluate(
        lambda X: X[:, 0] > 0, X, explainer="nearest-neighbor:prototypes=8", background=X[:50]
    )
    both = build_relation("nearest") & ~build_relation("within", tau=1.0)
    inside = build_relation("nearest") & build_relation("within", tau=1.0)
    counts = [
        result.evidence.population.count(r).tally.counts.sum()
        for r in (build_relation("nearest"), both, inside)
    ]
    assert counts[0] == counts[1] + counts[2]
    assert min(counts) > 0


def test_memory_does_not_grow_with_explanations_times_instances():
    rng = np.random.default_rng(0)
    X, centres = rng.normal(size=(8000, 6)), rng.normal(size=(1500, 6))
    explanations = faithkit.Explanations(kind="example", values=centres, instances=centres[::-1])
    for relation in (build_relation("within", tau=1.0), build_relation("in-ball")):
        relation.fit(X, len(X))
        sample = faithkit.plugin.Sample(
            X, attrs.evolve(explanations.take(np.zeros(8000, dtype=int)), instances=X)
        )
        relation.packed(sample, explanations.take(slice(0, 10)))
        tracemalloc.start()
        relation.packed(sample, explanations)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 24 * 2**20  # 1.5 MB are the answer; all distances would be 96 MB


@one_test
@pytest.mark.parametrize(
    ("name", "params", "explanations", "message"),
    [
        ("within", {"tau": 1.0}, faithkit.Explanations.of(["a"]), "reads examples.*of kind 'value'"),
        ("in-ball", {}, faithkit.Explanations.of(["a"], instances=np.zeros((1, 1))), "reads examples"),
        ("nearest", {}, faithkit.Explanations.of(["a"]), "reads examples"),
        (
            "nearest",
            {},
            faithkit.Explanations(kind="example", values=np.zeros((1, 1))),
            "needs the prototypes",
        ),
        ("in-ball", {}, faithkit.Explanations(kind="example", values=np.zeros((1, 1))), r"instances=X"),
        (
            "within",
            {"tau": 1.0},
            faithkit.Explanations(kind="example", values=np.zeros((1, 1))),
            "has no distance yet",
        ),
    ],
)
def test_what_is_lacking_is_said(name, params, explanations, message):
    relation = build_relation(name, **params)
    with pytest.raises(faithkit.errors.InputError, match=message):
        relation.holds(faithkit.plugin.Sample(np.zeros((1, 1)), explanations), explanations)


def test_a_quantile_without_a_background_or_with_one_row_is_an_error():
    line = np.array([[0.0], [1.0]])
    result = explain("nearest-neighbor", line, line)
    with pytest.raises(faithkit.errors.InputError, match="quantile over a background"):
        build_relation("within", tau="q0.5").holds(faithkit.plugin.Sample(line, result), result)
    alone = faithkit.Explanations(kind="example", values=np.zeros((1, 1)))
    with pytest.raises(faithkit.errors.InputError, match="needs two distinct rows"):
        build_relation("within", tau="q0.5").fit(np.zeros((3, 1)), 3).holds(
            faithkit.plugin.Sample(line[:1], alone), alone
        )


def test_more_than_one_example_has_no_ball():
    X = np.eye(3)
    explanations = explain("nearest-neighbor", X, X, k=2)
    with pytest.raises(
        faithkit.errors.InputError, match="one example per row, and these explanations have 2"
    ):
        build_relation("in-ball").key(explanations)


def test_a_log_without_instances_says_so():
    explanations = faithkit.Explanations(kind="example", values=np.zeros((2, 1)), relation="in-ball")
    result = faithkit.score([0, 1], explanations)
    assert result.sufficiency is None
    assert "explained instances" in result.why_no_sufficiency


def test_nearest_takes_a_function_only():
    with pytest.raises(faithkit.errors.ParameterError, match="the explainer's function"):
        build_relation("nearest", distance="gower")


def test_examples_that_are_not_the_nearest_of_their_own_row_are_not_faithful():
    rng = np.random.default_rng(0)
    prototypes, X = np.arange(10.0)[:, None] * 10, rng.uniform(0, 90, (200, 1))
    nearest = np.abs(X - prototypes.T).argmin(axis=1)
    other = (nearest + 2) % 10  # of the same prediction: even and odd prototypes alternate
    labels = nearest % 2 == 0
    told = (
        faithkit.plugin.registry()
        .create("explainer", "nearest-neighbor", {})
        .fit(None, prototypes)
        .explain(X, None)
    )
    said = {"honest": nearest, "others": other, "one": np.where(np.arange(200) < 1, other, nearest)}
    verdicts = {}
    for name, numbers in said.items():
        result = faithkit.score(labels, attrs.evolve(told, values=numbers.reshape(told.values.shape)), X)
        verdicts[name] = result.verdict.name, [objection.name for objection in result.objections]
    assert verdicts["honest"][0] == "faithful"
    assert verdicts["others"] == ("not faithful", ["own row"])
    assert verdicts["one"] == ("faithful", ["own row"])  # one of 200 is said, and decides nothing
