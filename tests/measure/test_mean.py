"""The mean of scores over rows: its error and its interval, against what is known of special cases."""

import numpy as np
import pytest
from looping import one_test
from scipy.stats import binomtest, sem

import faithkit
from faithkit.measure.counting.design import Design
from faithkit.measure.mean import Mean

SCORES = np.array([0.2, 0.4, 0.4, 0.6, 0.8, 0.4, 0.2, 1.0])


def test_the_mean_of_scores_and_its_standard_error_are_the_usual_ones_in_any_order():
    result = Mean.of(SCORES)
    assert (result.value, result.se) == pytest.approx((SCORES.mean(), sem(SCORES)))
    assert Mean.of(SCORES[::-1]) == result
    assert 0 < result.low < result.value < result.high < 1


@one_test
@pytest.mark.parametrize("scores", [[0, 0, 1, 1, 1], [1, 1, 1], [0, 0], [1]])
def test_the_interval_of_zeros_and_ones_is_clopper_and_pearsons(scores):
    exact = binomtest(sum(scores), len(scores)).proportion_ci(0.9, method="exact")
    result = Mean.of(scores, confidence=0.9)
    assert (result.low, result.high) == pytest.approx((exact.low, exact.high))


def test_scores_that_vary_little_narrow_the_interval_and_constant_scores_do_not():
    little, none, much = (Mean.of(scores) for scores in ([0.4, 0.6] * 50, [0.5] * 100, [0.0, 1.0] * 50))
    assert little.high - little.low < 0.05 < none.high - none.low == much.high - much.low
    assert none.se is None


def test_rows_without_a_score_are_left_out():
    assert Mean.of([np.nan, 0.5, 1.0]) == Mean.of([0.5, 1.0])
    assert Mean.of([np.nan]) == Mean(None, None, None, None, 0)


def test_scores_from_another_minimum_shift_the_mean_and_its_interval():
    plain, moved = Mean.of(SCORES), Mean.of(2 * SCORES - 1, minimum=-1)
    assert (moved.value, moved.low, moved.high) == pytest.approx(
        tuple(2 * end - 1 for end in (plain.value, plain.low, plain.high))
    )
    assert moved.se == pytest.approx(2 * plain.se)


def test_a_cluster_counts_as_one_row_and_a_weight_as_several():
    times = np.repeat(SCORES, 5)
    clustered = Mean.of(times, design=Design.of(None, np.repeat(np.arange(8), 5), 40))
    assert (clustered.value, clustered.se) == pytest.approx((SCORES.mean(), sem(SCORES)))
    assert clustered.high - clustered.low > Mean.of(times).high - Mean.of(times).low
    weighted = Mean.of([1.0, 0.0], design=Design.of([3, 1], None, 2))
    assert weighted.value == 0.75


def test_an_interval_of_weighted_rows_assumes_three_quarters_of_their_effective_number():
    weighted = Mean.of([1.0, 0.0] * 20, design=Design.of([3, 1] * 20, None, 40))
    n_trials = 0.75 * 80**2 / (20 * 3**2 + 20 * 1**2)
    expected = binomtest(18, int(n_trials)).proportion_ci(0.95, "exact")  # 18 of 24, for the mean is 3/4
    assert (weighted.low, weighted.high) == pytest.approx((expected.low, expected.high))


@one_test
@pytest.mark.parametrize("n", [20, 100])
def test_the_interval_covers_the_mean(n):
    rng = np.random.default_rng(n)
    means = [Mean.of(rng.binomial(5, 0.9, n) / 5) for _ in range(400)]
    assert np.mean([mean.low <= 0.9 <= mean.high for mean in means]) > 0.92


def test_a_result_asks_for_one_score_of_each_row():
    result = faithkit.score([0, 0, 1], ["a", "a", "b"], confidence=0.9)
    assert result.mean([0.5, 1.0, 0.0]) == Mean.of([0.5, 1.0, 0.0], confidence=0.9)
    with pytest.raises(faithkit.errors.InputError, match="2 scores for 3 rows: give one for each"):
        result.mean([0.5, 1.0])


def test_rows_with_the_weight_zero_count_no_more_than_absent_rows():
    design = Design.of([1, 2, 1, 3, 0, 0], None, 6)
    result = Mean.of([1.0, 0.0, 0.5, 1.0, 0.2, 0.9], design=design)
    assert result == Mean.of([1.0, 0.0, 0.5, 1.0], design=Design.of([1, 2, 1, 3], None, 4))
    assert Mean.of([np.nan] * 4 + [0.2, 0.9], design=design).n == 0
