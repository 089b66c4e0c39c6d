"""Quiet logs: no day is refused, and an alarm is ever raised in at most 5 % of the logs.

Days of few rows and few explanations are often equal. When a monitor refused such days, those that remained were
unusual: half of these logs raised a false alarm within two years.
"""

from collections import Counter

import numpy as np
import pytest
from faithkit_monitor import Monitor
from faithkit_monitor.scoring import Agreement, Scores, split_reference
from faithkit_monitor.sequence import ChangeDetector, Sequence
from faithkit_monitor.tallies import Tallies, digests

CELLS = [(why, label) for why in ("income", "debt") for label in ("granted", "refused")]
SHARES = [0.475, 0.025, 0.025, 0.475]
DIGESTS = dict(zip(("income", "debt"), digests(["income", "debt"]), strict=True))


def draw_counts(rng, rows):
    """Return how many rows have each cell."""
    return rng.multinomial(rows, SHARES)


def to_columns(counts):
    """Return predictions and explanations as Python takes them."""
    rows = [cell for cell, count in zip(CELLS, counts, strict=True) for _ in range(count)]
    return [label for _, label in rows], [why for why, _ in rows]


def to_tallies(counts):
    cells = {(DIGESTS[why], label): count for (why, label), count in zip(CELLS, counts.tolist(), strict=True)}
    return Tallies(+Counter(cells), None)


def watch_days(rng, rows, days, reference_rows):
    """Yield the counts of a day, the watch after it and the alarm, without a state; first the reference's."""
    counts = draw_counts(rng, reference_rows)
    yield counts, None, None
    pool, _, calibration = split_reference(to_tallies(counts), 0, {"kind": "labels", "within": None})
    expected, watch = Sequence(0.025).after(calibration.values), ChangeDetector.new(0.025)
    for day in range(days):
        counts = draw_counts(rng, rows)
        batch = to_tallies(counts)
        seed = int(batch.fingerprint(f"day {day}"), 16)
        watch = watch.after(Scores.of(batch, pool, seed, Agreement()).values)
        yield counts, watch, watch.alarm(expected)


@pytest.mark.parametrize("rows", [5, 20, 50])
def test_a_monitor_counts_all_quiet_days_also_those_that_equal_another(tmp_path, rows):
    (reference, _, _), *days = watch_days(np.random.default_rng(rows), rows, 60, reference_rows=500)
    monitor = Monitor.create(tmp_path / "state", *to_columns(reference))
    for number, (counts, _, _) in enumerate(days):
        monitor = monitor.add(*to_columns(counts), name=f"day {number}")
    assert len(monitor.looks) == 60
    assert len({look.fingerprint for look in monitor.looks}) < 60  # some are equal
    for look, (_, watch, alarm) in zip(monitor.looks, days, strict=True):
        assert (look.so_far, look.low, look.high) == pytest.approx(watch.whole.now)
        assert alarm is None is look.alarm


@pytest.mark.simulation
@pytest.mark.parametrize(("rows", "logs"), [(5, 50), (5, 200), (20, 200), (50, 200)])
def test_a_quiet_log_hardly_ever_raises_an_alarm(rows, logs):
    """In two years of daily looks, after a reference of 10,000 rows."""
    alarms = 0
    for seed in range(logs):
        days = watch_days(np.random.default_rng([59, rows, seed]), rows, 730, reference_rows=10_000)
        alarms += any(alarm is not None for _, _, alarm in days)
    print(f"{rows} rows a day: an alarm was ever raised in {alarms / logs:.3f} of {logs} logs")
    assert alarms / logs <= 0.05 + 2 * (0.05 * 0.95 / logs) ** 0.5
