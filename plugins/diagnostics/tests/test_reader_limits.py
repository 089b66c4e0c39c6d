"""The limit of a reader's score: against SciPy, and in simulation."""

import math

import numpy as np
import pytest
from diagnostics.readers import Hedging, Table
from faithkit_diagnostics.reader.diagnostic import Reader, score_limit
from looping import one_test
from scipy.stats import binomtest

import faithkit


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


def misses(q, n, times):
    """Return how often `low` is above m; explanation u has label 1 with probability q[u]."""
    rng, m, above = np.random.default_rng(7), float(np.mean(q**2 + (1 - q) ** 2)), 0
    for seed in range(times):
        seen = rng.integers(0, len(q), n)
        labels = (rng.random(n) < q[seen]).astype(int)
        result = faithkit.score(labels, seen[:, None])
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
    assert misses(q, n, times) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / times)


@pytest.mark.slow
def test_rows_that_are_cases_seen_again_are_not_taken_for_more():
    """Sixty customers, each of them logged one to eight times in the same words."""
    rng, q, times, above = np.random.default_rng(5), np.array([0.5, 0.7, 0.95]), 200, 0
    for seed in range(times):
        kind, who = rng.integers(0, 3, 60), np.repeat(np.arange(60), rng.integers(1, 9, 60))
        labels = (rng.random(60) < q[kind]).astype(int)[who]
        result = faithkit.score(labels, kind[who][:, None], clusters=who)
        above += result.diagnose(Reader(Table(), seed)).low > np.mean(q**2 + (1 - q) ** 2)
    assert above / times <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / times)
