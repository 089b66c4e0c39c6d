"""Predictions that are numbers: the share of their variance that explanations account for."""

import json
import warnings
from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from looping import one_test
from pages import page_of
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import faithkit
from faithkit.cli import main

GROUPS, EACH = 12, 25


@pytest.fixture(scope="module")
def balanced():
    """Equal groups, so that pooled and averaged variances are the same."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(GROUPS), EACH)
    return group.tolist(), group % 4 + rng.normal(size=len(group))


def compute_sums_of_squares(group, y):
    """Within groups, and in all, from SciPy's F: F = ((T − W)/(G − 1)) / (W/(n − G))."""
    total = float(((y - y.mean()) ** 2).sum())
    parts = [y[np.array(group) == g] for g in sorted(set(group))]
    F, n, G = stats.f_oneway(*parts).statistic, len(y), len(parts)
    return total / (1 + F * (G - 1) / (n - G)), total


def test_leave_one_out_is_epsilon_squared_and_plug_in_eta_squared_of_the_analysis_of_variance(balanced):
    group, y = balanced
    within, total = compute_sums_of_squares(group, y)
    n, G = len(y), GROUPS
    epsilon_squared = 1 - (within / (n - G)) / (total / (n - 1))
    eta_squared = 1 - within / total
    consistency = faithkit.score(y, group).consistency
    assert consistency.value == pytest.approx(epsilon_squared, abs=1e-12)
    omega_squared = (total - within - (G - 1) * within / (n - G)) / (total + within / (n - G))
    assert consistency.value * total / (total + within / (n - G)) == pytest.approx(omega_squared, abs=1e-12)
    plug_in = faithkit.score(y, group, estimator="plug-in").consistency.value
    assert 1 - (1 - plug_in) * n / (n - 1) == pytest.approx(eta_squared, abs=1e-12)


def test_a_constant_explanation_gets_exactly_nothing(balanced):
    consistency = faithkit.score(balanced[1], ["same"] * len(balanced[1])).consistency
    assert (consistency.value, consistency.estimate, consistency.low, consistency.by_chance) == (0, 0, 0, 0)
    assert consistency.finding == "not above chance"


def test_random_explanations_get_nothing_within_the_error():
    rng = np.random.default_rng(1)
    estimates = [
        faithkit.score(rng.normal(size=400), rng.integers(0, 8, 400).tolist()).consistency for _ in range(12)
    ]
    assert np.mean([estimate.value for estimate in estimates]) == pytest.approx(0, abs=3 * 0.01 / np.sqrt(12))
    assert all(estimate.low == 0 for estimate in estimates)


def test_a_regression_tree_is_explained_by_its_own_leaves():
    X, y = load_diabetes(return_X_y=True)
    tree = DecisionTreeRegressor(max_leaf_nodes=20, random_state=0).fit(X, y)
    result = faithkit.score(tree.predict(X), tree.apply(X).tolist())
    assert result.setup.outcome.kind == "numbers"
    checked = np.bincount(tree.apply(X))[tree.apply(X)] > 1
    assert result.consistency.agree == 1
    assert result.consistency.value == checked.mean()


def test_regressors_are_known_also_behind_a_pipeline():
    X, y = load_diabetes(return_X_y=True)
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, y.round())
    result = faithkit.evaluate(model, X, explainer=lambda X: np.sign(X[:, [2, 8]]).tolist())
    assert str(result.setup.outcome) == "numbers"
    assert 0 < result.consistency.low < result.consistency.high < 1


def test_several_outputs_are_added_up():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 5, 300)
    Y = rng.normal(size=(300, 2)) + np.column_stack([group, -3 * group])
    value = faithkit.score(Y, group.tolist()).consistency.value
    left = sum(
        len(part) * part.var(axis=0, ddof=1).sum() for part in (Y[group == g] for g in range(5))
    ) / len(Y)
    assert value == pytest.approx(1 - left / Y.var(axis=0, ddof=1).sum(), abs=1e-12)


def test_probabilities_are_scores_and_are_not_divided():
    rng = np.random.default_rng(0)
    P, group = rng.dirichlet([1, 1, 1], 200), rng.integers(0, 4, 200)
    result = faithkit.score(P, group.tolist())
    assert result.setup.outcome.kind == "scores"
    left = sum(len(p) * p.var(axis=0, ddof=1).sum() for p in (P[group == g] for g in range(4))) / 200
    assert result.consistency.value == pytest.approx(1 - left, abs=1e-12)
    assert result.chance == pytest.approx(1 - P.var(axis=0, ddof=1).sum(), abs=1e-12)
    for decimals in (2, 3, 6):
        rounded = faithkit.score(P.round(decimals), group.tolist())
        assert rounded.setup.outcome.kind == "scores"
        assert rounded.consistency.value == pytest.approx(1 - left, abs=0.01)


def test_one_hot_scores_give_what_labels_give():
    labels, group = np.arange(90) % 3, (np.arange(90) // 2 % 7).tolist()
    by_scores, by_labels = faithkit.score(np.eye(3)[labels], group), faithkit.score(labels, group)
    for name in ("value", "estimate", "low", "high", "se", "agree"):
        result = getattr(by_scores.consistency, name)
        assert result == pytest.approx(getattr(by_labels.consistency, name), abs=1e-12)
    assert by_scores.chance == pytest.approx(by_labels.chance, abs=1e-12)


def test_a_tolerance_counts_near_numbers_as_one_label():
    near = faithkit.score([10.0, 10.4, 12.0], ["a", "a", "a"], agree="within:0.5").consistency
    assert near.value == pytest.approx(1 / 3)
    numbers, words = [1, 1, 2, 3], ["a", "a", "a", "b"]
    exact = faithkit.score(numbers, words, agree="within:0").consistency
    assert exact.value == faithkit.score(numbers, words).consistency.value


KINDS = {
    "whole floats": ([1.0, 2.0], "labels"),
    "floats": ([1.5, 2.0], "numbers"),
    "a column of floats": (pd.Series([0.1, 0.2]), "numbers"),
    "a nullable column": (pd.Series([0.1, 0.2], dtype="Float64"), "numbers"),
    "an index": (pd.Index([0.1, 0.2]), "numbers"),
    "an array of pandas": (pd.array([0.1, 0.2], dtype="Float64"), "numbers"),
    "an array of Arrow": (pa.array([0.1, 0.2]), "numbers"),
    "words of Arrow": (pa.array(["a", "b"]), "labels"),
    "a deque": (deque([0.1, 0.2]), "numbers"),
    "a generator": ((number / 10 for number in (1, 2)), "numbers"),
    "a generator of words": ((word for word in "ab"), "labels"),
    "decimals": ([Decimal("0.1"), Decimal("0.2")], "numbers"),
    "fractions": ([Fraction(1, 3), Fraction(1)], "numbers"),
    "a list of probabilities": ([[0.5, 0.5], [0.1, 0.9]], "scores"),
    "an array of probabilities": (np.array([[0.5, 0.5], [0.1, 0.9]]), "scores"),
    "tuples of numbers": ([(0.5, 2.5), (0.1, 0.9)], "numbers"),
    "tuples that are labels": ([(1, 2), (3, 4)], "labels"),
    "words": (["0.1", "0.2"], "labels"),
    "truths": ([True, False], "labels"),
    "whole numbers": (np.array([1, 2]), "labels"),
    "rows of other numbers": (np.array([[5.0, 0.5], [0.1, 0.9]]), "numbers"),
}


@one_test
@pytest.mark.parametrize("case", KINDS)
def test_the_kind_of_predictions_follows_from_their_values(case):
    predictions, kind = KINDS[case]
    payload = faithkit.score(predictions, ["a", "b"]).to_dict()["outcome"]
    assert payload == {"kind": kind, "within": None, "range": None, "unasked": True}


@one_test
@pytest.mark.parametrize("kind", ["labels", "numbers"])
def test_an_argument_sets_the_kind_of_predictions(kind):
    assert faithkit.score([1.5, 2.5, 1.5], ["a"] * 3, outcome=kind).setup.outcome.kind == kind


BAD = {
    "NaN": (
        {"predictions": [0.5, np.nan]},
        "1 of 2 predictions are missing or infinite .the first in row 1",
    ),
    "infinite": ({"predictions": [0.5, np.inf]}, "missing or infinite"),
    "infinite beside whole ones": ({"predictions": [1.0, np.inf]}, "missing or infinite"),
    "hidden numbers": (
        {"predictions": np.ma.array([0.5, 1.5], mask=[False, True])},
        "the predictions are a masked array, and 1 of its values are hidden",
    ),
    "complex numbers": ({"predictions": np.array([0.5 + 1j, 1])}, "predictions are complex numbers: give"),
    "durations": ({"predictions": pd.to_timedelta([1, 2], unit="D")}, "predictions are durations: give"),
    "one prediction": (
        {"predictions": [0.5], "explanations": ["a"]},
        "nothing to explain: the only prediction is 0.5",
    ),
    "one value": ({"predictions": [0.5, 0.5]}, "nothing to explain: all 2 predictions are 0.5"),
    "words and floats": (
        {"predictions": ["yes", 0.5]},
        "both numbers, such as 0.5, and words, such as 'yes'",
    ),
    "words as numbers": (
        {"predictions": ["yes", "no"], "outcome": "numbers"},
        "say outcome='labels' .CLI: --outcome labels",
    ),
    "a negative tolerance": ({"predictions": [0.5, 1], "agree": "within:-1"}, "0 or more"),
    "a tolerance that is no number": ({"predictions": [0.5, 1], "agree": "within:much"}, "'within:ε'"),
    "another way to agree": ({"predictions": [0.5, 1], "agree": "near:1"}, "'within:ε'"),
    "a tolerance for labels": (
        {"predictions": [0, 1], "agree": "within:1", "outcome": "labels"},
        "leave one out",
    ),
    "an unknown outcome": ({"predictions": [0.5, 1], "outcome": "ranks"}, "expected 'labels', 'numbers' or"),
    "no probabilities": ({"predictions": np.ones((2, 2)), "outcome": "scores"}, "adds up to 1"),
    "several numbers within": ({"predictions": np.eye(2), "agree": "within:1"}, "one tolerance"),
    "majority": ({"predictions": [0.5, 1], "estimator": "majority"}, "majority takes labels"),
}


@one_test
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_a_line_and_never_a_number(case):
    options, words = BAD[case]
    with pytest.raises(faithkit.errors.InputError, match=words):
        faithkit.score(**{"explanations": ["a", "a"], **options})


def test_a_model_that_says_one_thing_has_nothing_to_explain():
    X = np.arange(6.0).reshape(-1, 1)
    model = DummyRegressor().fit(X, X[:, 0])
    with pytest.raises(faithkit.errors.InputError, match=r"nothing to explain: all 6 predictions are 2\.5"):
        faithkit.evaluate(model, X, explainer=lambda X: ["a"] * len(X))


def test_a_group_that_has_nothing_to_explain_is_left_out_and_named():
    result = faithkit.score([0.5, 1.5, 2.5, 2.5], ["a", "a", "b", "b"])
    with pytest.warns(faithkit.errors.FaithkitWarning, match="group = m: left out"):
        parts = result.by(pd.Series(["f", "f", "m", "m"], name="group"))
    assert list(parts) == ["f"]


def test_a_pool_of_numbers_beside_a_sample_of_labels_is_refused():
    X, rules = np.arange(4.0).reshape(-1, 1), [faithkit.Rule([faithkit.plugin.Interval(0, high=2.0)])] * 4
    with pytest.raises(faithkit.errors.InputError, match="the pool's predictions are numbers"):
        faithkit.score([1.0, 2.0, 1.0, 2.0], rules, X=X, relation="in-scope", pool=(X + 0.5, [1.5, 2, 1, 2]))


def test_numbers_of_any_size_are_measured_and_drawn(request):
    y, words = np.array([1.0, 2.0, 4.0, 8.0, 16.5, 3.0] * 5), ["a", "b"] * 15
    numbers = faithkit.score(y, words).local(0).consistency.numbers
    small, large = (faithkit.score(y * scale, words) for scale in (1e-200, 1e200))
    assert small.local(0).consistency.numbers.sd == pytest.approx(numbers.sd * 1e-200)
    assert large.local(0).consistency.numbers.sd == pytest.approx(numbers.sd * 1e200)
    assert "nan" not in str(small.diagnose("reader"))
    assert "nan" not in str(large.diagnose("reader"))
    request.getfixturevalue("pictures")
    assert page_of(small)
    assert page_of(large)


def test_numbers_whose_difference_overflows_are_measured_as_smaller_ones():
    numbers = np.random.default_rng(0).choice([-1.7, -1.0, 0.5, 1.7], 40)
    words = np.where(numbers > 0, "up", "down").tolist()
    limits = np.array([-1.75, 1.75])
    small, large = (
        faithkit.score(numbers * scale, words, outcome="numbers", range=tuple(limits * scale)).consistency
        for scale in (1.0, 1e308)
    )
    assert (large.estimate, large.low, large.high) == pytest.approx((small.estimate, small.low, small.high))


# --- pools -----------------------------------------------------------------------------------------------------

X = np.arange(40.0)[:, None]
Y = np.arange(40) / 8


@one_test
@pytest.mark.parametrize(
    ("pool", "is_warned_of"),
    [(Y + 0.01, False), (Y + 4, False), (1000 * Y + 1000, True), (-Y - 1, True)],
    ids=["alike", "partly", "other units", "below"],
)
def test_a_pool_none_of_whose_numbers_lies_among_the_samples_is_warned_of(pool, is_warned_of):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        faithkit.score(Y, (Y > 2).tolist(), X=X, relation=lambda x, e: (x[0] > 16) == e, pool=(X + 0.5, pool))
    about_units = [str(warning.message) for warning in caught if "in the same unit?" in str(warning.message)]
    assert len(about_units) == is_warned_of
    if is_warned_of:
        limits = f"({pool.min():g} to {pool.max():g})"
        assert about_units[0].startswith(f"none of the pool's predictions {limits} lies among")


def test_a_pool_is_checked_within_a_tolerance():
    sample, pool = np.arange(0, 40, 4), np.flatnonzero(np.arange(40) % 4)
    rules = [faithkit.Rule([faithkit.plugin.Interval(0, low=x - 2.0, high=x + 2.0)]) for x in X[sample, 0]]
    options = {"X": X[sample], "relation": "in-scope", "agree": "within:0.2", "permutations": 9}
    alone = faithkit.score(Y[sample], rules, **options).sufficiency
    pooled = faithkit.score(Y[sample], rules, **options, pool=(X[pool], Y[pool])).sufficiency
    assert (alone.verified, pooled.verified) == (0, 1)
    # rows at x - 1 and x + 1 are 1/8 away and agree, those at x + 2 are 2/8 away; nothing is at -1
    assert pooled.value == pytest.approx((9 * 2 / 3 + 1 / 2) / 10)
    assert pooled.p_value is not None


def test_rows_that_were_not_drawn_are_a_pool_for_numbers_too():
    command = [
        "evaluate",
        "--data",
        "diabetes",
        "--explainer",
        "tree",
        "--samples",
        "25",
        "--out",
        "-",
        "--format",
        "json",
    ]
    payload = json.loads(CliRunner().invoke(main, command).stdout)
    alone = json.loads(CliRunner().invoke(main, [*command, "--pool", "none"]).stdout)
    assert (payload["pool"], alone["pool"]) == (125, None)
    pooled, unpooled = (result["measures"]["sufficiency"] for result in (payload, alone))
    assert pooled["verified"] > unpooled["verified"]
    assert pooled["high"] - pooled["low"] < unpooled["high"] - unpooled["low"]
