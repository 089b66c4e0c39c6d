"""The confidence sequence: by its formula, term by term, and by what it promises."""

import math

import numpy as np
import pytest
from faithkit_monitor.sequence import Sequence
from looping import one_test

RNG = np.random.default_rng(0)
SCORES = {
    "one row": [0.3],
    "ones": [1.0] * 40,
    "zeros": [0.0] * 40,
    "halves": [0.5] * 40,
    "coins": RNG.integers(0, 2, 300).astype(float),
    "shares": RNG.random(300),
    "nearly perfect": (RNG.random(300) < 0.99).astype(float),
    "a jump": [1.0] * 100 + [0.0] * 100,
}


def compute_by_formula(scores, alpha):
    """Write the sequence down as the paper does, one score after the other."""
    mean, variance, total, squares = 0.5, 0.25, 0.0, 0.0
    weight = weighted = slack = 0.0
    low, high, now = 0.0, 1.0, (0.5, 0.0, 1.0)
    for t, x in enumerate(scores, start=1):
        bet = min(math.sqrt(2 * math.log(2 / alpha) / (variance * t * math.log(1 + t))), 0.5)
        weight, weighted = weight + bet, weighted + bet * x
        slack += (x - mean) ** 2 * (-math.log(1 - bet) - bet)
        total += x
        mean = (0.5 + total) / (t + 1)
        squares += (x - mean) ** 2
        variance = (0.25 + squares) / (t + 1)
        radius = (math.log(2 / alpha) + slack) / weight
        centre = weighted / weight
        now = centre, max(0.0, centre - radius), min(1.0, centre + radius)
        low, high = max(low, now[1]), min(high, now[2])
    return low, high, *now


@one_test
@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-6])
@pytest.mark.parametrize("name", SCORES)
def test_the_interval_is_that_of_the_formula(name, alpha):
    result = Sequence(alpha).after(np.array(SCORES[name]))
    assert (result.low, result.high, *result.now) == pytest.approx(
        compute_by_formula(SCORES[name], alpha), abs=1e-12
    )
    assert result.n == len(SCORES[name])


@one_test
@pytest.mark.parametrize("name", SCORES)
def test_in_how_many_batches_scores_come_leaves_no_trace(name):
    scores, result = np.array(SCORES[name]), Sequence(0.05)
    for part in np.array_split(scores, 7):
        result = result.after(part)
    assert result == Sequence(0.05).after(scores)


def test_a_long_batch_is_read_in_parts_that_leave_no_trace(monkeypatch):
    scores = RNG.random(1000)
    whole = Sequence(0.05).after(scores)
    monkeypatch.setattr("faithkit_monitor.sequence._BATCH", 64)
    assert Sequence(0.05).after(scores) == whole


def test_before_the_first_score_nothing_is_known():
    start = Sequence(0.05)
    assert (start.low, start.high) == start.now[1:] == (0, 1)
    assert start.after(np.array([])) == start


def test_an_interval_never_grows():
    result = Sequence(0.05)
    for part in np.array_split(RNG.random(500), 50):
        later = result.after(part)
        assert later.low >= result.low
        assert later.high <= result.high
        result = later


def test_scores_of_two_means_leave_no_interval():
    assert Sequence(0.05).after(np.array(SCORES["a jump"] * 2)).is_empty


@one_test
@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [((0.2, 0.5), (0.4, 0.6), True), ((0.2, 0.5), (0.5, 0.6), True), ((0.2, 0.4), (0.5, 0.6), False),
     ((0.5, 0.6), (0.2, 0.4), False), ((0.6, 0.5), (0.0, 1.0), False), ((0.0, 1.0), (0.6, 0.5), False)],
)  # fmt: skip
def test_two_sequences_meet_where_one_mean_is_in_both(first, second, meet):
    first, second = (Sequence(0.05, low=low, high=high) for low, high in (first, second))
    assert first.meets(second) is meet


def test_after_a_change_the_interval_now_is_of_the_weighted_mean():
    scores = np.array(SCORES["a jump"] * 2)
    mean, low, high = Sequence(0.05).after(scores).now
    assert low < mean < high
    assert mean > scores.mean()  # the first ones weigh more


def test_width_after_3000_scores():
    """As the table of the documentation says."""
    widths = []
    for _ in range(20):
        result = Sequence(0.05).after(draw_scores(3000))
        widths.append(result.high - result.low)
    assert 0.03 < np.mean(widths) < 0.038


def draw_scores(n):
    """Score rows of five explanations whose majorities are larger or smaller."""
    majority = np.array([0.99, 0.95, 0.9, 0.7, 0.55])[RNG.integers(0, 5, n)]
    return np.where(RNG.random(n) < majority, majority, 1 - majority)
