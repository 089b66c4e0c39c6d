"""The reader's score and its limit: laws with a known answer, SciPy's intervals, and simulation."""

import math

import numpy as np
import pytest
from diagnostics.readers import Hedging, Table
from faithkit_diagnostics.reader.diagnostic import Reader, score_limit
from looping import one_test
from scipy.stats import binomtest

import faithkit


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def draw_labels(q, rng):
    """Draw a label for every row, 1 with probability q, and return the consistency of these explanations."""
    return (rng.random(len(q)) < q).astype(int), float(np.mean(q**2 + (1 - q) ** 2))


def test_a_score_is_twice_the_probability_of_the_truth_minus_the_sum_of_squares():
    result = faithkit.score(["yes"] * 70 + ["no"] * 30, ["same"] * 100).diagnose(Reader(Hedging(0.75)))
    squares = 0.75**2 + 0.25**2
    assert result.score == pytest.approx(0.7 * (2 * 0.75 - squares) + 0.3 * (2 * 0.25 - squares))
    assert result.classifiers == {"Hedging": 5}


def test_a_row_without_an_explanation_scores_nothing_and_is_guessed_as_without_one():
    """A hundred rows like those above, and a hundred without an explanation, of which 40 are "yes"."""
    labels = ["yes"] * 70 + ["no"] * 30 + ["yes"] * 40 + ["no"] * 60
    result = faithkit.score(labels, ["same"] * 100 + [None] * 100).diagnose(Reader(Hedging(0.75)))
    squares = 0.75**2 + 0.25**2
    assert result.score == pytest.approx((0.7 * (2 * 0.75 - squares) + 0.3 * (2 * 0.25 - squares)) / 2)
    assert result.accuracy == result.baseline
    assert result.baseline.value == 0.55


def test_explanations_that_all_are_missing_tell_nothing():
    result = faithkit.score(["yes", "yes", "no"] * 10, [None] * 30).diagnose("reader")
    assert (result.score, result.low) == (0.0, 0.0)
    assert result.accuracy == result.baseline


def test_a_label_that_nobody_learnt_has_probability_0():
    """Ten rows of ten labels, each read by a classifier that learnt from eight others: it scores 0 − 8 · (1/8)²."""
    result = faithkit.score(list("0123456789"), list("abcdefghij")).diagnose("reader")
    assert result.score == pytest.approx(-1 / 8)
    assert (result.accuracy.value, result.baseline.value) == (0.0, 0.0)


SMOOTH = {
    "a slope": lambda z: sigmoid(2 * z[:, 0] + z[:, 1]),
    "a step": lambda z: np.where(z[:, 0] > 0, 0.95, 0.1),
    "a checkerboard": lambda z: np.where((z[:, 0] > 0) ^ (z[:, 1] > 0), 0.97, 0.03),
}


@pytest.mark.simulation
@pytest.mark.parametrize("law", SMOOTH)
def test_the_score_is_near_consistency_where_the_law_is_smooth(law):
    apart = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(2000, 2))
        labels, m = draw_labels(SMOOTH[law](z), rng)
        apart.append(faithkit.score(labels, z).diagnose("reader").score - m)
    assert -0.02 < np.mean(apart) < 0.01  # 0.01: the error of such a mean


def test_the_score_is_at_most_consistency_in_the_mean():
    rng, q, apart = np.random.default_rng(3), np.array([0.2, 0.5, 0.95]), []
    for seed in range(12):
        groups = rng.integers(0, 3, 80)
        labels, m = draw_labels(q[groups], rng)
        apart.append(faithkit.score(labels, groups[:, None]).diagnose(Reader(Table(), seed=seed)).score - m)
    assert np.mean(apart) < 3 * np.std(apart) / np.sqrt(12)
    assert np.mean(apart) > -0.05


def test_random_vectors_tell_no_more_than_the_labels_alone():
    scores, better = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        result = faithkit.score(rng.random(90) < 0.7, rng.normal(size=(90, 2))).diagnose("reader")
        scores.append(result.score)
        better.append(result.accuracy.value - result.baseline.value)
    assert np.mean(scores) < 0.7**2 + 0.3**2 + 0.02
    assert abs(np.mean(better)) < 0.05


def test_a_reader_sees_what_equality_compares_and_not_the_values_behind_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 2))
    labels = np.where(x[:, 0] > 0, "yes", "no")
    hidden = faithkit.score(labels, x, discretizer=lambda explanations: ["same"] * len(explanations))
    diagnosis = hidden.diagnose("reader")
    assert diagnosis.accuracy == diagnosis.baseline
    assert faithkit.score(labels, x).diagnose(Reader("logistic")).accuracy.value > 0.9


def test_trees_are_chosen_where_a_line_tells_nothing():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    result = faithkit.score((x[:, 0] > 0) ^ (x[:, 1] > 0), x).diagnose("reader")
    assert result.classifiers == {"trees": 5}
    assert result.accuracy.value > 0.85


# --- the limit -------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("score", "n", "expected"), [(1.0, 50, 2 * 0.025 ** (1 / 50) - 1), (-1.0, 50, 0.0), (0.0, 2, 0.0)]
)
def test_the_limit_of_a_score_at_its_ends(score, n, expected):
    assert score_limit(score, n, 0.95) == pytest.approx(expected)


def test_the_limit_of_a_score_is_clopper_and_pearsons_of_the_half_way_share():
    low = binomtest(180, 200).proportion_ci(0.9, method="exact").low
    assert score_limit(2 * 0.9 - 1, 200, 0.9) == pytest.approx(2 * low - 1)


def test_shares_have_the_exact_binomial_interval():
    labels = ["yes"] * 70 + ["no"] * 30
    result = faithkit.score(labels, ["same"] * 100, confidence=0.9).diagnose(Reader(Hedging()))
    expected = binomtest(70, 100).proportion_ci(0.9, method="exact")
    for share in (result.accuracy, result.baseline):
        assert share.value == 0.7
        assert (share.low, share.high) == pytest.approx((expected.low, expected.high))


def count_misses(q, n, times):
    """Return how often `low` is above m; explanation u has label 1 with probability q[u]."""
    rng, m, above = np.random.default_rng(7), float(np.mean(q**2 + (1 - q) ** 2)), 0
    for seed in range(times):
        groups = rng.integers(0, len(q), n)
        labels = (rng.random(n) < q[groups]).astype(int)
        result = faithkit.score(labels, groups[:, None])
        above += result.diagnose(Reader(Table(), seed)).low > m
    return above / times


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("q", "n", "times"),
    [
        (np.array([0.5, 0.9]), 60, 60),
        (np.array([0.995]), 100, 250),
        (np.array([0.5, 0.6, 0.9, 1.0]), 200, 250),
    ],
)
def test_the_limit_seldom_misses(q, n, times):
    assert count_misses(q, n, times) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / times)


@pytest.mark.slow
def test_rows_that_are_cases_seen_again_are_not_taken_for_more():
    """Sixty customers, each of them logged one to eight times in the same words."""
    rng, q, times, above = np.random.default_rng(5), np.array([0.5, 0.7, 0.95]), 200, 0
    for seed in range(times):
        kind, customers = rng.integers(0, 3, 60), np.repeat(np.arange(60), rng.integers(1, 9, 60))
        labels = (rng.random(60) < q[kind]).astype(int)[customers]
        result = faithkit.score(labels, kind[customers][:, None], clusters=customers)
        above += result.diagnose(Reader(Table(), seed)).low > np.mean(q**2 + (1 - q) ** 2)
    assert above / times <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / times)
