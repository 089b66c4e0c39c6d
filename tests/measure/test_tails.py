"""The share of the variance that few predictions have is that of all of them, sorted."""

import numpy as np
import pytest

import faithkit
from faithkit.measure import tails

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


@pytest.mark.parametrize(("some", "at_once"), [(50, 2**17), (50, 70), (2**16, 2**17)])
@pytest.mark.parametrize("y", CASES.values(), ids=CASES)
def test_the_share_is_that_of_the_sorted_squares(y, some, at_once, monkeypatch):
    monkeypatch.setattr(tails, "SOME", some)
    monkeypatch.setattr(tails, "AT_ONCE", at_once)
    counted = faithkit.score(y, ["same"] * len(y), outcome="numbers").counts["consistency"]
    squares = np.sort((y - y.mean()) ** 2)[::-1]
    few = int(np.ceil(len(y) / 100))
    expected = squares[:few].sum() / squares.sum() if len(y) >= 100 else None
    assert tails.tail_share(counted) == (None if expected is None else pytest.approx(expected))


def test_of_rows_with_weights_it_is_the_share_of_the_weighted_squares():
    weights = np.arange(3000) % 3
    counted = faithkit.score(NORMAL, ["same"] * 3000, outcome="numbers", weights=weights).counts[
        "consistency"
    ]
    agreement, slots = counted.agreement, counted.slots
    repeated = np.sort(np.repeat(agreement.squares[slots.label], slots.times))[::-1]
    few = int(np.ceil(len(repeated) / 100))
    assert tails.tail_share(counted) == pytest.approx(repeated[:few].sum() / repeated.sum())
