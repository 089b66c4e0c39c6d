"""Exceedance: against loops from the definition, on populations where it is known, and what is refused."""

import brute_further
import numpy as np
import pytest
from brute_further import RELATIONS, Trial
from matrices import counted

import faithkit
from faithkit.measure.exceedance import exceedance
from faithkit.measure.relations import SameExplanation

pytestmark = pytest.mark.filterwarnings("ignore:.* repeat another one exactly")

TRIALS = [(name, None) for name in RELATIONS] + [("near explanations", 2), ("rules", 2)]


@pytest.mark.parametrize(("name", "within"), TRIALS)
def test_it_is_what_a_double_loop_finds(name, within):
    for seed in range(3):
        trial = Trial(name, seed, within=within)
        for measure, holds in (("consistency", trial.same), ("sufficiency", trial.holds)):
            for level in (0.5, 0.8, 1.0):
                found = trial.result.exceedance(level, measure)
                told = found.checked, found.share, found.surely, found.low, found.high
                assert told == pytest.approx(brute_further.exceedance(holds, trial.agrees, level), abs=1e-12)
                assert (found.n, found.level, found.measure) == (30, level, measure)


def drawn(rng, q, n):
    """Explanations that are equally frequent, and labels of which 1 has the probability that each gives."""
    owned = rng.integers(0, len(q), n)
    return counted(SameExplanation(), owned, (rng.random(n) < np.asarray(q)[owned]).astype(int), 2)


def known(q, level):
    """The share of instances whose label has a probability under the level, given their explanation."""
    return sum(p * (p < level) + (1 - p) * (1 - p < level) for p in q) / len(q)


POPULATIONS = {
    "few others each": (np.linspace(0.5, 1.0, 40), 100),
    "many others each": (np.linspace(0.5, 1.0, 10), 1000),
    "all pure": (np.ones(20), 200),
    "all coins": (np.full(20, 0.5), 200),
}


@pytest.mark.parametrize("population", POPULATIONS)
def test_its_ends_hold_on_average_where_it_is_known(population):
    q, n = POPULATIONS[population]
    rng = np.random.default_rng(0)
    found = [exceedance(drawn(rng, q, n), 0.8) for _ in range(100)]
    low, high = (np.mean([getattr(one, end) for one in found]) for end in ("low", "high"))
    assert low <= known(q, 0.8) <= high


@pytest.mark.parametrize("q", [0.79, 0.8])
def test_where_an_end_is_cut_it_is_off_by_less_than_the_limits_may_be_wrong(q):
    """An estimate of 0 that cannot be negative is too large on average: by at most δ = 0.05."""
    rng = np.random.default_rng(0)
    found = [exceedance(drawn(rng, np.full(10, q), 400), 0.8) for _ in range(100)]
    low, high = (np.mean([getattr(one, end) for one in found]) for end in ("low", "high"))
    share = known([q], 0.8)
    assert low <= share + 0.05 * (1 - share)
    assert high >= share - 0.05 * share


def test_the_share_that_a_sample_shows_is_biased():
    q, n = POPULATIONS["few others each"]
    rng = np.random.default_rng(0)
    shown = np.mean([exceedance(drawn(rng, q, n), 0.8).share for _ in range(100)])
    assert shown < known(q, 0.8) - 0.1


def test_noise_alone_puts_those_with_one_other_under_the_level_and_none_of_them_surely():
    rng = np.random.default_rng(0)
    found = [exceedance(drawn(rng, np.full(300, 0.9), 100), 0.8) for _ in range(50)]
    assert np.mean([one.share for one in found]) > known([0.9], 0.8) + 0.05  # of 0.1
    assert np.mean([one.surely for one in found]) < 0.02


def test_where_nothing_is_checked_nothing_is_known():
    found = faithkit.score([0, 1, 1], ["a", "b", None]).exceedance(0.5)
    assert (found.checked, found.share, found.surely, found.low, found.high) == (0, None, None, 0.0, 1.0)


def test_a_single_dissent_shows_that_not_all_agree():
    found = faithkit.score([0] * 9 + [1], ["a"] * 10).exceedance(1)
    assert (found.share, found.surely, found.high) == (1.0, 1.0, 1.0)


def test_the_limits_have_the_confidence_of_the_result():
    labels, words = [0, 1] * 4, ["a"] * 8  # 3 of 7 agree: P(Bin(7, 0.8) ≤ 3) = 0.0333
    for confidence, surely in ((0.95, 1.0), (0.97, 0.0)):
        assert faithkit.score(labels, words, confidence=confidence).exceedance(0.8).surely == surely


def test_a_pool_says_more_about_every_instance():
    X, labels = np.zeros((4, 1)), [0, 0, 1, 1]
    pool = (np.zeros((200, 1)), np.zeros(200, dtype=int))
    alone = faithkit.score(labels, list("abcd"), X=X, relation=lambda x, e: True)
    assert alone.exceedance(0.8, "sufficiency").surely == 0.0
    more = faithkit.score(labels, list("abcd"), X=X, relation=lambda x, e: True, pool=pool)
    assert more.exceedance(0.8, "sufficiency").surely == 0.5


@pytest.mark.parametrize(
    "level", [0, -0.1, 1.01, float("nan"), float("inf"), 10**400, "0.8", None, True, [0.8]]
)
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(faithkit.InputError, match=r"above 0 and at most 1, got .*: 0\.8 asks how many"):
        faithkit.score([0, 0], ["a", "a"]).exceedance(level)


@pytest.mark.parametrize("level", [0.5, np.float32(0.5), np.float64(0.5), 1, np.int64(1)])
def test_numbers_of_any_library_are_levels(level):
    assert faithkit.score([0, 0, 1], ["a"] * 3).exceedance(level).level == float(level)


REFUSED = {
    "numbers": ({"outcome": "numbers"}, "these predictions agree more or less: say how near"),
    "weights": ({"weights": [1, 2, 3, 4]}, "where rows have weights or clusters there is none"),
    "clusters": ({"clusters": list("aabb")}, "where rows have weights or clusters there is none"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_local_limits_is_refused(case):
    given, said = REFUSED[case]
    with pytest.raises(faithkit.InputError, match=said):
        faithkit.score([0, 1, 1, 2], ["a", "a", "b", "b"], **given).exceedance(0.8)


def test_scores_are_refused():
    with pytest.raises(faithkit.InputError, match="agree more or less"):
        faithkit.score([[0.2, 0.8], [0.5, 0.5]], ["a", "a"], outcome="scores").exceedance(0.8)


@pytest.mark.parametrize(
    ("measure", "said"), [("sufficiency", "name a relation"), ("accuracy", "no such measure")]
)
def test_a_measure_that_was_not_taken_has_none(measure, said):
    with pytest.raises(faithkit.InputError, match=f"{measure} has no exceedance: .*{said}"):
        faithkit.score([0, 0], ["a", "a"]).exceedance(0.8, measure)
