"""The limits of a reader's score: against a plain loop, against SciPy, and in simulation."""

import math

import numpy as np
import pytest
from readers import Hedging, Table
from scipy.stats import binomtest

import faithkit
from faithkit import Explanations
from faithkit.measure.reader.limits import betting_limit, score_limit
from faithkit.measure.reader.reading import prepared, read
from faithkit.measure.unequal.design import Design


def betting_by_loops(scores, alpha, step):
    """Walk up from 0, m₀ by m₀, as long as somebody who bets against it becomes rich at some time."""
    n, m0 = len(scores), 0.0
    while m0 < 1:
        capital, richest, total, squares = 1.0, 1.0, 0.0, 0.0
        for t, s in enumerate(scores):
            v, mu = (1 + squares) / (t + 1), total / (t + 1)
            bet = min(math.sqrt(2 * math.log(2 / alpha) / (v * n)), 0.75 / (1 + m0))
            capital *= 1 + bet * (s - m0)
            richest = max(richest, capital)
            total, squares = total + s, squares + (s - mu) ** 2
        if richest < 2 / alpha:
            return m0
        m0 += step
    return m0


@pytest.mark.parametrize(
    ("mean", "n", "confidence"),
    [(0.97, 60, 0.95), (0.9, 200, 0.9), (0.6, 120, 0.95), (0.0, 40, 0.95), (1.0, 90, 0.99)],
)
def test_the_betting_limit_is_that_of_a_plain_loop(mean, n, confidence):
    rng = np.random.default_rng(n)
    right = rng.random(n) < (1 + mean) / 2
    scores = np.where(right, 1.0 - 0.02 * rng.random(n), -1.0)
    expected = betting_by_loops(scores.tolist(), 1 - confidence, 0.002)
    assert expected - 0.002 - 1e-9 <= betting_limit(scores, confidence) <= expected + 1e-9


def test_what_somebody_owns_falls_as_the_mean_they_bet_against_grows():
    """So halving finds the largest mean below which all are refuted."""
    s, m = np.meshgrid(np.linspace(-1, 1, 201), np.linspace(0, 1, 201), indexing="ij")
    for stake in (0.01, 0.3, 0.5, 0.7, 5.0):
        assert (np.diff(1 + np.minimum(stake, 0.75 / (1 + m)) * (s - m), axis=1) <= 1e-12).all()


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
    found = faithkit.score(labels, ["same"] * 100, confidence=0.9).reader(Hedging())
    expected = binomtest(70, 100).proportion_ci(0.9, method="exact")
    for share in (found.accuracy, found.baseline):
        assert share.value == 0.7
        assert (share.low, share.high) == pytest.approx((expected.low, expected.high))


def misses(q, n, times):
    """Return how often `low` and `guaranteed` are above m; explanation u has label 1 with probability q[u]."""
    rng, m, above = np.random.default_rng(7), float(np.mean(q**2 + (1 - q) ** 2)), np.zeros(2)
    for seed in range(times):
        seen = rng.integers(0, len(q), n)
        labels = (rng.random(n) < q[seen]).astype(int)
        reader = prepared(Explanations.vectors(seen[:, None]), labels, [0, 1], None, Table(), seed)
        found = read(reader, None, 0.95)
        above += [found.low > m, found.guaranteed > m]
    return above / times


@pytest.mark.parametrize(
    ("q", "n", "times"),
    [
        (np.array([0.5, 0.9]), 60, 60),
        pytest.param(np.array([0.995]), 100, 250, marks=pytest.mark.slow),
        pytest.param(np.array([0.5, 0.6, 0.9, 1.0]), 200, 250, marks=pytest.mark.slow),
    ],
)
def test_the_limits_seldom_miss(q, n, times):
    low, guaranteed = misses(q, n, times)
    error = 3 * math.sqrt(0.025 * 0.975 / times)
    assert low <= 0.025 + error
    assert guaranteed <= 0.025 + error


@pytest.mark.slow
def test_rows_that_are_cases_seen_again_are_not_taken_for_more():
    """Sixty customers, each of them logged one to eight times in the same words."""
    rng, q, times, above = np.random.default_rng(5), np.array([0.5, 0.7, 0.95]), 200, 0
    for seed in range(times):
        kind, who = rng.integers(0, 3, 60), np.repeat(np.arange(60), rng.integers(1, 9, 60))
        labels = (rng.random(60) < q[kind]).astype(int)[who]
        design = Design.of(None, who, len(who))
        rows = Explanations.vectors(kind[who][:, None])
        above += read(prepared(rows, labels, [0, 1], design, Table(), seed), design, 0.95).low > np.mean(
            q**2 + (1 - q) ** 2
        )
    assert above / times <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / times)
