"""The encoding gap: against loops from the definition, of encoders whose gap is known, and what is refused."""

import attrs
import brute_further
import numpy as np
import pytest
from brute_further import RELATIONS, Trial

import faithkit
from faithkit.measure.encoding_gap import Kinds, both_kinds, encoding_gap
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.tally import count

pytestmark = pytest.mark.filterwarnings("ignore:.* repeat another one exactly")

TRIALS = [(name, None) for name in RELATIONS] + [("near explanations", 2), ("rules", 2)]


@pytest.mark.parametrize(("name", "within"), TRIALS)
def test_it_is_what_a_double_loop_finds(name, within, monkeypatch):
    monkeypatch.setattr("faithkit.run.further.FEWEST", 2)  # so that small samples have intervals, too
    for seed in range(4):
        trial = Trial(name, seed, within=within)
        found = trial.result.encoding_gap()
        compared, empty, means, influences = brute_further.gap(trial.holds, trial.same, trial.agrees)
        assert (found.n, found.compared, [found.without_same, found.without_other]) == (30, compared, empty)
        if means is None:
            assert (found.value, found.low, found.same, found.other) == (None,) * 4
            continue
        assert (found.same, found.other) == pytest.approx(means, abs=1e-12)
        assert found.value == pytest.approx(means[0] - means[1], abs=1e-12)
        low, high = brute_further.gap_interval(compared, means, influences)
        assert (found.low, found.high) == pytest.approx((max(-1, low), min(1, high)), abs=1e-9)


def test_the_relation_that_has_no_others_leaves_nobody_to_compare():
    found = Trial("the same twice", 0).result.encoding_gap()
    assert (found.compared, found.value, found.low, found.without_other) == (0, None, None, 30)


def test_what_a_row_adds_is_what_is_missing_without_it():
    """Of many rows, leaving each out changes the gap by its influence."""
    trial = Trial("a function", 1, n=60)
    whole = brute_further.gap(trial.holds, trial.same, trial.agrees)
    n, psi = 60, 60 * (np.array(whole[3][0]) - np.array(whole[3][1]))
    gaps = []
    for j in range(n):
        rows = [i for i in range(n) if i != j]
        some = [[[one[a][b] for b in rows] for a in rows] for one in (trial.holds, trial.same, trial.agrees)]
        means = brute_further.gap(*some)[2]
        gaps.append(means[0] - means[1])
    jackknife = np.sqrt((n - 1) / n * ((np.array(gaps) - np.mean(gaps)) ** 2).sum())
    assert psi.std(ddof=1) / np.sqrt(n) == pytest.approx(jackknife, rel=0.1)


class Coin(faithkit.Relation):
    """An explanation is twice the number of a coin and its side; it applies to whoever has that side."""

    instance_only = True

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        which, side = np.divmod(explanations.values.astype(int), 2)
        return side[:, None] == np.asarray(sample.X)[:, which].T


def encoder(rng, n, error):
    """Two coins that say nothing about the label; which of them is shown tells it, but for errors."""
    coins, y = rng.integers(0, 2, (n, 2)), rng.integers(0, 2, n)
    shown = np.where(rng.random(n) < error, 1 - y, y)
    return y, 2 * shown + coins[np.arange(n), shown], coins


def gap(y, told, coins):
    """The same as `result.encoding_gap()`, without all else that a result has."""
    sample = Sample(coins, Explanations(kind="number", values=told))
    counts = [count(one, sample, y, 2) for one in both_kinds(Coin())]
    kinds = Kinds.of(*counts)
    return encoding_gap(kinds, kinds.spreads(*counts), "coin")


def known(error):
    """1 − e of those who have the explanation have the label that it whispers, and e of the others.

    Of those who have it, (1 − e)² + e² agree on average, and 2 e (1 − e) of those who do not.
    """
    return (1 - 2 * error) ** 2


@pytest.mark.parametrize("error", [0.0, 0.1, 0.25, 0.5])
def test_an_encoder_has_the_gap_that_it_was_built_with(error):
    found = gap(*encoder(np.random.default_rng(0), 4000, error))
    assert found.value == pytest.approx(known(error), abs=0.05)
    assert found.low <= known(error) <= found.high
    assert (found.low > 0) == (error < 0.5)  # a fair coin has none


@pytest.mark.slow
@pytest.mark.parametrize(("error", "n"), [(0.02, 200), (0.5, 200), (0.3, 1000)])
def test_the_interval_covers_the_gap(error, n):
    rng = np.random.default_rng(1)
    found = [gap(*encoder(rng, n, error)) for _ in range(200)]
    assert np.mean([one.low <= known(error) <= one.high for one in found]) >= 0.92


def test_honest_explanations_have_none():
    X = np.random.default_rng(0).integers(0, 4, (400, 1)).astype(float)
    rules = [faithkit.Rule([faithkit.Interval(0, high=1.5)]) if x < 2 else None for x in X[:, 0]]
    rules = [
        one if i % 2 else one and faithkit.Rule([faithkit.Interval(0, high=1.4)])
        for i, one in enumerate(rules)
    ]
    found = faithkit.score(X[:, 0] < 2, rules, X=X).encoding_gap()
    assert (found.value, found.same, found.other) == (0.0, 1.0, 1.0)
    assert found.without_same == found.without_other == (X[:, 0] >= 2).sum()


def test_few_have_no_interval_and_one_has_no_gap():
    def found(n):
        return faithkit.score(
            [0, 0, 1] * n, ["a", "a", "b"] * n, X=np.zeros((3 * n, 1)), relation=lambda x, e: True
        )

    assert found(1).encoding_gap().compared == 2  # nobody shares b
    assert found(33).encoding_gap().low is None
    assert found(34).encoding_gap().low is not None
    alone = faithkit.score(
        [0, 0, 1], ["a", "a", "b"], X=np.arange(3.0)[:, None], relation=lambda x, e: e == "a" and x[0] != 1
    )
    gap = alone.encoding_gap()
    assert (gap.compared, gap.value, gap.same) == (1, None, None)


def test_no_order_of_rows_changes_a_bit():
    y, told, coins = encoder(np.random.default_rng(3), 300, 0.2)
    order = np.random.default_rng(4).permutation(300)
    assert gap(y, told, coins) == gap(y[order], told[order], coins[order])


def test_a_pool_of_rows_without_explanations_changes_nothing():
    y, told, coins = encoder(np.random.default_rng(3), 200, 0.2)
    given = {"X": coins, "relation": Coin()}
    alone, pooled = (
        faithkit.score(y, told.tolist(), **given, **more).encoding_gap()
        for more in ({}, {"pool": (coins[:50], 1 - y[:50])})
    )
    assert alone == pooled
    assert alone == attrs.evolve(gap(y, told, coins), relation="Coin")


REFUSED = {
    "numbers": ({"outcome": "numbers"}, "these agree more or less: say how near"),
    "weights": ({"weights": [1, 2, 3, 4]}, "no interval for rows with weights or clusters"),
    "clusters": ({"clusters": list("aabb")}, "no interval for rows with weights or clusters"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_it_was_not_derived_for_is_refused(case):
    given, said = REFUSED[case]
    result = faithkit.score(
        [0, 1, 1, 2], list("aabb"), X=np.zeros((4, 1)), relation=lambda x, e: True, **given
    )
    with pytest.raises(faithkit.InputError, match=said):
        result.encoding_gap()


def test_consistency_alone_has_none_and_the_refusal_says_what_to_do():
    with pytest.raises(
        faithkit.InputError, match=r"consistency alone has no encoding gap: .*name a relation \(relation="
    ):
        faithkit.score([0, 0], ["a", "a"]).encoding_gap()
    said = "same-explanation has none: name one such as in-scope or same-top-features"
    with pytest.raises(faithkit.InputError, match=said):
        faithkit.score([0, 0], ["a", "a"]).encoding_gap("same-explanation")


def test_any_relation_can_be_asked_without_explaining_again():
    phi = np.array([[0.0], [0.0], [0.1], [0.1]])
    found = faithkit.score([0, 0, 1, 1], phi).encoding_gap("near-explanation:tau=0.5")
    assert (found.value, found.relation) == (1.0, "near-explanation:tau=0.5")
