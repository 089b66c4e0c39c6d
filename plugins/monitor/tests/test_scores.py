"""Scores and draws: by brute force over rows, and the same whatever the order of the rows."""

import hashlib
from collections import Counter

import numpy as np
import pytest
from faithkit_monitor.scoring import Agreement, Scores, split_reference
from faithkit_monitor.sequence import ChangeDetector, Sequence
from faithkit_monitor.tallies import Tallies
from looping import one_test
from monitor.streams import columns, log

import faithkit

LABELS = {"kind": "labels", "within": None}


def count_cells(frame):
    return Tallies.of(faithkit.plugin.count_rows(*columns(frame)))


def split(reference, seed):
    return split_reference(reference, seed, LABELS)


def test_a_rows_score_is_the_share_of_the_pools_rows_like_it_that_agree():
    batch = log(80, seed=1)
    batch.loc[:9, "why"] = "nobody has this"
    batch.loc[10:19, "label"] = "unheard of"
    batch.loc[20:29, "why"] = None
    pool = log(500, seed=2)
    expected = []
    for label, why in batch.itertuples(index=False):
        alike = pool.loc[pool["why"] == why, "label"]
        expected.append((alike == label).mean() if len(alike) else 0.0)
    counts = {}
    for (explanation, label), count in count_cells(pool).cells.items():
        counts.setdefault(explanation, {})[label] = count
    result = Scores.of(count_cells(batch), counts, 0, Agreement())
    assert sorted(result.values) == pytest.approx(sorted(expected))
    assert result.agreement == pytest.approx(np.mean(expected))
    assert result.unverified == 20


@one_test
@pytest.mark.parametrize("order", ["shuffled", "by label", "by explanation"])
def test_the_order_of_rows_decides_nothing(order):
    reference, batch = log(400, seed=3), log(300, seed=4)
    orders = {
        "shuffled": lambda frame: frame.sample(frac=1, random_state=0),
        "by label": lambda frame: frame.sort_values("label"),
        "by explanation": lambda frame: frame.sort_values("why"),
    }
    first, second = (
        split(count_cells(reference), seed=5),
        split(count_cells(orders[order](reference)), seed=5),
    )
    assert first[0] == second[0]
    assert first[2].values.tolist() == second[2].values.tolist()
    scores = [
        Scores.of(count_cells(frame), first[0], 6, Agreement()) for frame in (batch, orders[order](batch))
    ]
    assert scores[0].values.tolist() == scores[1].values.tolist()


def test_equal_rows_are_drawn_apart_each_by_a_coin_of_its_own():
    frame = log(20_000, seed=7)
    pool, _, calibration = split(count_cells(frame), seed=0)
    drawn = Counter({(name, label): n for name, labels in pool.items() for label, n in labels.items()})
    assert drawn.total() + len(calibration.values) == 20_000
    for cell, count in count_cells(frame).cells.items():  # a coin, within five standard deviations
        assert abs(drawn[cell] - count / 2) < 2.5 * count**0.5


def test_another_seed_is_another_draw():
    pools = [split(count_cells(log(400, seed=3)), seed)[0] for seed in range(5)]
    assert all(pools[0] != pool for pool in pools[1:])


def test_scores_come_in_an_order_that_tells_nothing():
    """Equal rows are spread: runs of equal scores are as many as in a shuffled list."""
    frame = log(5000, seed=8).sort_values(["why", "label"])
    pool = split(count_cells(frame), seed=0)[0]
    scores = Scores.of(count_cells(frame), pool, 9, Agreement()).values
    rng = np.random.default_rng(0)
    runs = (np.diff(scores) != 0).sum()
    shuffled = [(np.diff(rng.permutation(scores)) != 0).sum() for _ in range(200)]
    assert abs(runs - np.mean(shuffled)) < 5 * np.std(shuffled)
    halves = scores[:2500].mean() - scores[2500:].mean()
    assert abs(halves) < 5 * scores.std() / 2500**0.5


def test_the_order_of_one_batch_tells_nothing_about_that_of_another():
    """Two batches with the same rows but one: their scores are not in one order."""
    frame = log(1000, seed=10)
    pool = split(count_cells(log(1000, seed=11)), seed=0)[0]
    whole, part = count_cells(frame), count_cells(frame.iloc[1:])
    scores = [Scores.of(t, pool, int(t.fingerprint(), 16), Agreement()).values[:999] for t in (whole, part)]
    assert abs(np.corrcoef(*scores)[0, 1]) < 5 / 999**0.5


def test_rows_that_are_written_alike_are_not_the_same():
    """Cells, counts and names cannot be taken for one another, whatever letters are in them."""
    first, second = b"x" * 16, b"y" * 16
    different = [
        (Counter({(first, "a"): 1, (second, "a"): 1}), ""),
        (Counter({(first, "a"): 2}), ""),
        (Counter({(first, "a"): 1, (b"", "a"): 1}), ""),
        (Counter({(first, "a1;16:" + "y" * 16 + "1:a"): 1}), ""),
        (Counter({(first, "a"): 2}), "date=2026-11-14"),
        (Counter({(first, "a"): 21}), ""),
        (Counter({(first, "a"): 1, (first, ""): 1}), ""),
    ]
    assert len({Tallies(cells, None).fingerprint(name) for cells, name in different}) == len(different)


def test_fingerprints_and_draws_are_the_same_in_every_version():
    """A state is read by later versions: these bytes are its format."""
    cells = Counter({(b"x" * 16, "yes"): 2, (b"", "no"): 1})
    content = b"0:" + b"0:2:no1;" + b"16:" + b"x" * 16 + b"3:yes2;"
    result = Tallies(cells, None)
    assert result.fingerprint() == hashlib.blake2b(content, digest_size=16).hexdigest()
    no, yes = (
        splitmix64(int.from_bytes(hashlib.blake2b(cell, digest_size=8, key=b"7").digest(), "little"))
        for cell in (b"0:2:no", b"16:" + b"x" * 16 + b"3:yes")
    )
    assert result.rows(seed=7)[2].tolist() == [next(no), next(yes), next(yes)]


def splitmix64(state):
    """Yield the generator's numbers, as Vigna's C code has it."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        yield z ^ (z >> 31)


@pytest.mark.slow
@pytest.mark.parametrize("explanations", [4, 300])
def test_no_alarm_is_raised_by_rows_like_those_of_the_reference(explanations):
    """From drawing the pool to the last look: also where the pool lacks many explanations."""
    rng, alarms = np.random.default_rng(0), 0

    def draw_rows(n):
        why = rng.integers(0, explanations, n)
        return Tallies.of(faithkit.plugin.count_rows(rng.random(n) < why / explanations, why))

    for seed in range(40):
        pool, _, calibration = split(draw_rows(600), seed)
        expected, watch = Sequence(0.025).after(calibration.values), ChangeDetector.new(0.025)
        for _ in range(30):
            batch = draw_rows(60)
            watch = watch.after(Scores.of(batch, pool, int(batch.fingerprint(), 16), Agreement()).values)
            if watch.alarm(expected) is not None:
                alarms += 1
                break
    assert alarms <= 2


def test_an_unexplained_row_is_no_part_of_the_pool():
    frame = log(400, seed=12)
    frame.loc[::2, "why"] = None
    pool, _, calibration = split(count_cells(frame), seed=0)
    assert sum(count for labels in pool.values() for count in labels.values()) < 130
    assert 60 < calibration.unverified < 140
