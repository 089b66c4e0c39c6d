"""Permutation tests of rows with weights or clusters: whatever predictions are, for every relation."""

import numpy as np
import pytest
from looping import one_test

import faithkit

RNG = np.random.default_rng(2)
N = 60
X = RNG.normal(size=(N, 2))
LABELS = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
DRAWN = {
    "weights": {"weights": RNG.random(N) + 0.1},
    "clusters": {"clusters": np.arange(N) // 2},
    "both": {"weights": RNG.random(N) + 0.1, "clusters": np.arange(N) // 3},
}
OTHERWISE = {
    "one-hot scores": {"predictions": np.eye(3)[LABELS], "outcome": "scores"},
    "numbers far apart": {"predictions": 10.0 * LABELS, "agree": "within:1"},
}


def near(x, explanation):
    return abs(x[0] - explanation[0]) < 0.5


@one_test
@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("otherwise", OTHERWISE)
def test_predictions_that_say_what_labels_say_have_the_p_values_of_labels(drawn, otherwise):
    asked = {"relation": faithkit.relation(near), "permutations": 19, **DRAWN[drawn]}
    labels = faithkit.score(LABELS, X.round(1), X, **asked)
    given = dict(OTHERWISE[otherwise])
    result = faithkit.score(given.pop("predictions"), X.round(1), X, **given, **asked)
    assert labels.sufficiency.p_value == result.sufficiency.p_value
    assert labels.sufficiency.value == pytest.approx(result.sufficiency.value, abs=1e-12)


def test_numbers_that_the_relation_tells_are_significant_and_others_are_not():
    asked = {"relation": faithkit.relation(near), "permutations": 99, **DRAWN["both"]}
    told = faithkit.score(X[:, 0], X.round(1), X, **asked).sufficiency
    unrelated = faithkit.score(RNG.normal(size=N), X.round(1), X, **asked).sufficiency
    assert told.p_value == 0.01
    assert unrelated.p_value > 0.05
