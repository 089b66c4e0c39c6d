"""The change detector: where windows begin, what they cost, and how often it is wrong or late."""

import os

import numpy as np
import pytest
from faithkit_monitor.sequence import ChangeDetector, Sequence
from looping import one_test

MAJORITY = np.array([0.99, 0.95, 0.9, 0.7, 0.55])  # of the predictions that five explanations go with
MEAN = float(np.mean(MAJORITY**2 + (1 - MAJORITY) ** 2))
FLIPPED = 0.1 / (MEAN - float(np.mean(2 * MAJORITY * (1 - MAJORITY))))  # what lowers the mean by 0.1


def draw_scores(rng, n, flipped=0.0):
    majority = MAJORITY[rng.integers(0, 5, n)]
    agrees = (rng.random(n) < majority) ^ (rng.random(n) < flipped)
    return np.where(agrees, majority, 1 - majority)


def test_every_window_has_seen_the_looks_since_it_began_and_no_others():
    rng, watch, batches = np.random.default_rng(0), ChangeDetector.new(0.05), []
    for looks in range(1, 40):
        batches.append(draw_scores(rng, 5))
        watch = watch.after(batches[-1])
        assert watch.whole == Sequence(0.025).after(np.concatenate(batches))
        for level, window in enumerate(watch.windows):
            start = (looks - 1) // 2**level * 2**level
            assert window == Sequence(window.alpha).after(np.concatenate(batches[start:]))
        # a level is there as soon as a window of it can begin after the first look
        assert len(watch.windows) == sum(2**level < looks for level in range(10))


def test_all_windows_that_ever_begin_share_one_half_of_alpha():
    watch, nothing, spent = ChangeDetector.new(0.05), np.array([]), 0.025
    for looks in range(3000):
        watch = watch.after(nothing)
        spent += sum(window.alpha for level, window in enumerate(watch.windows) if looks % 2**level == 0)
        if looks > 100:
            assert 0.04 < spent < 0.05
    assert watch.whole.alpha == 0.025


@one_test
@pytest.mark.parametrize(("later", "change"), [(0.2, "lower"), (0.95, "higher")])
def test_an_alarm_says_since_when_and_where_the_mean_is_now(later, change):
    rng, watch = np.random.default_rng(1), ChangeDetector.new(0.025)
    expected = Sequence(0.025).after((rng.random(4000) < 0.6).astype(float))
    for look in range(60):
        share = 0.6 if look < 48 else later
        watch = watch.after((rng.random(100) < share).astype(float))
        if look < 48:
            assert watch.alarm(expected) is None
    result = watch.alarm(expected)
    assert (result.change, result.since) == (change, 48)
    assert result.low < later < result.high


def test_a_stream_that_is_at_odds_with_itself_is_told_where_nothing_else_is_known():
    watch = ChangeDetector.new(0.05).after(np.ones(500)).after(np.zeros(500))
    assert watch.alarm(Sequence(0.025)).change == "changed"


def watch_stream(rng, looks, rows, expected, changed=None):
    """Yield a watch after every look at a stream that changes after `changed` rows."""
    watch = ChangeDetector.new(0.025)
    for look in range(looks):
        flipped = FLIPPED if changed is not None and look * rows >= changed else 0.0
        watch = watch.after(draw_scores(rng, rows, flipped))
        yield watch, watch.alarm(expected)


STREAMS = 40


@pytest.mark.simulation
@pytest.mark.parametrize("part", range(50 if os.environ.get("FAITHKIT_STREAMS") else 1))
def test_a_stream_that_does_not_change_is_hardly_ever_missed_and_hardly_ever_alarming(part):
    """Streams of 5,000 rows, looked at every 50: at most 5 % may ever go wrong in any way.

    A build tries 40 of them; with FAITHKIT_STREAMS=1 it is 2,000, of which the documentation speaks.
    """
    rng, missed, alarming = np.random.default_rng([2, part]), 0, 0
    for _ in range(STREAMS):
        expected = Sequence(0.025).after(draw_scores(rng, 2500))
        outside, alarmed = not expected.low <= MEAN <= expected.high, False
        for watch, alarm in watch_stream(rng, 100, 50, expected):
            parts = (watch.whole, *watch.windows)
            outside = outside or any(not part.low <= MEAN <= part.high for part in parts)
            alarmed = alarmed or alarm is not None
        missed, alarming = missed + outside, alarming + alarmed
    print(f"ever missed {missed / STREAMS:.4f}, ever alarmed {alarming / STREAMS:.4f}")
    assert alarming <= missed <= 0.05 * STREAMS


def measure_delays(rng, changed, streams, calibrating=2500):
    """Return after how many rows a drop of 0.1 is noticed; those that never are count as endless."""
    delays = []
    for _ in range(streams):
        expected = Sequence(0.025).after(draw_scores(rng, calibrating))
        looks = watch_stream(rng, changed // 50 + 200, 50, expected, changed)
        noticed = next((look for look, (_, alarm) in enumerate(looks, 1) if alarm is not None), np.inf)
        delays.append(noticed * 50 - changed)
    return np.array(delays)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("changed", "usual", "nearly_all"), [(0, 450, 800), (5000, 1600, 2400), (20000, 2200, 3200)]
)
def test_a_drop_of_a_tenth_is_noticed_soon_also_after_a_long_quiet_time(changed, usual, nearly_all):
    result = measure_delays(np.random.default_rng(3), changed, streams=12)
    print(f"drop after {changed}: median {np.median(result):.0f}, nine in ten {np.quantile(result, 0.9):.0f}")
    assert np.all(result > 0)
    assert np.median(result) <= usual
    assert np.quantile(result, 0.9) <= nearly_all
