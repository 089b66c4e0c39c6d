"""The share of all disagreement that few rows have is that of all of them, sorted."""

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit.measure import heavy_tails as tails

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=3000)

CASES = {
    "all different": NORMAL,
    "heavy": np.exp(2 * NORMAL),
    "each twice": np.repeat(NORMAL[:1500], 2),
    "few values": np.round(NORMAL) + 0.5,
    "large ones where nobody looks": np.where(np.arange(3000) % 60 == 1, 50.0, 0.01) * NORMAL,
    "large ones where everybody looks": np.where(np.arange(3000) % 60 == 0, 50.0, 0.01) * NORMAL,
    "less than one in a hundred": NORMAL[:99],
}


@one_test
@pytest.mark.parametrize("at_once", [2**17, 70])
@pytest.mark.parametrize("y", CASES.values(), ids=CASES)
def test_of_one_explanation_the_share_is_that_of_the_sorted_squares(y, at_once, monkeypatch):
    monkeypatch.setattr(tails, "BATCH_SIZE", at_once)
    counted = faithkit.score(y, ["same"] * len(y), outcome="numbers").evidence.counts["consistency"]
    # half the squared distance from others is, in the mean, half of that from the mean and half of the variance
    assert tails.tail_share(counted) == (
        pytest.approx(tail_share_of((y - y.mean()) ** 2 + y.var())) if len(y) >= 100 else None
    )


def tail_share_of(apart):
    """Of what all rows disagree by, what the 1 % have that disagree most."""
    return np.sort(apart)[::-1][: int(np.ceil(len(apart) / 100))].sum() / apart.sum()


def mean_distances(y, words, weights):
    """How far each row is from others with its word, by weight; from all others where it is alone."""
    distance = (y[:, None] - y[None]) ** 2 / 2
    others = (words[:, None] == words[None]) & ~np.eye(len(y), dtype=bool) & (weights > 0)
    is_alone = ~others.any(axis=1)
    others[is_alone] = ~np.eye(len(y), dtype=bool)[is_alone]
    shares = others * weights
    return (shares * distance).sum(axis=1) / shares.sum(axis=1)


def test_a_row_is_taken_against_those_that_share_its_explanation_and_a_lone_one_against_all():
    y, words = NORMAL[:400], np.random.default_rng(1).integers(0, 300, 400)
    counted = faithkit.score(y, words.tolist(), outcome="numbers").evidence.counts["consistency"]
    assert tails.tail_share(counted) == pytest.approx(
        tail_share_of(mean_distances(y, words, np.ones(400))), rel=1e-2
    )


def test_rows_of_a_large_weight_count_as_often():
    weights = np.arange(600) % 3
    y, words = NORMAL[:600], np.arange(600) % 7
    result = faithkit.score(y, words.tolist(), outcome="numbers", weights=weights)
    expected = tail_share_of(np.repeat(mean_distances(y, words, weights), weights))
    assert tails.tail_share(result.evidence.counts["consistency"]) == pytest.approx(expected)
