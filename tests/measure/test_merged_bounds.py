"""Merging never promises too much: exactly on small laws, and in simulations of large ones."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from brute_merging import blocks_of, merged_share
from looping import one_test
from scipy import stats

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation
from faithkit.measure.counting.count import count
from faithkit.measure.difference import JackknifeEstimate, subtract_measures
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.merging import match_rows

ACCIDENT = 0.001  # as in test_coverage: bounds are never loosened, a miss must be no accident
MISSES, COVERAGE = 0.025, 0.93


def measure(explanations, labels):
    return JackknifeEstimate.of(
        count(SameExplanation(), Sample(None, explanations), labels, int(labels.max()) + 1)
    )


# --- exactly: every sample of a small law, with its probability -----------------------------------------


def form_near_blocks(vectors):
    """Return groups as they are, and rows that are alone in near pairs."""
    groups = {}
    for row, vector in enumerate(vectors):
        groups.setdefault(vector, []).append(row)
    alone = [rows[0] for rows in groups.values() if len(rows) == 1]
    blocks = {}
    for row, pair in zip(alone, match_rows(np.array(vectors)[alone].reshape(len(alone), 2)), strict=True):
        if pair >= 0:
            blocks.setdefault(int(pair), []).append(row)
    return [*(rows for rows in groups.values() if len(rows) > 1), *blocks.values()]


def compute_means(masses, shares, n, blocks):
    """Return E[M], E[x] and m of explanations with these masses and distributions of labels."""
    identities = [(float(u), float(u * u % 3)) for u in range(len(masses))]
    left_out = merged = 0.0
    for us in product(range(len(masses)), repeat=n):
        explanations = [identities[u] for u in us]
        groups = [[i for i in range(n) if us[i] == u] for u in set(us)]
        parts = [rows for rows in groups if len(rows) > 1], blocks(explanations)
        chance = np.prod([masses[u] for u in us])
        for ys in product(range(shares.shape[1]), repeat=n):
            p = chance * np.prod([shares[u, y] for u, y in zip(us, ys, strict=True)])
            left_out += p * merged_share(parts[0], ys)
            merged += p * merged_share(parts[1], ys)
    return left_out, merged, float(masses @ (shares**2).sum(axis=1))


@one_test
@pytest.mark.parametrize("blocks", [blocks_of, form_near_blocks], ids=["one block", "pairs"])
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_of_merged_shares_lies_between_leave_one_out_and_the_measure(seed, blocks):
    rng = np.random.default_rng(seed)
    m, n = ((3, 3), (2, 4), (4, 3))[seed]
    masses, shares = rng.dirichlet(np.ones(m)), rng.dirichlet(np.full(2, 0.4), size=m)
    left_out, merged, measure = compute_means(masses, shares, n, blocks)
    assert left_out - 1e-12 <= merged <= measure + 1e-12


def test_over_each_rows_own_others_a_block_would_exceed_the_measure_where_weights_differ():
    """Two rows: a heavy one of 0.6 against 0.4, and a light one that is certain."""
    weights, shares = np.array([8.0, 1.0]), np.array([[0.6, 0.4], [1.0, 0.0]])
    measure = weights @ (shares**2).sum(axis=1) / weights.sum()
    own = most = 0.0
    for ys in product((0, 1), repeat=2):
        p = shares[0, ys[0]] * shares[1, ys[1]]
        most += p * merged_share([[0, 1]], ys, weights)
        own += p * (ys[0] == ys[1])  # each row's only other is the other one
    assert own > measure + 0.02
    assert most <= measure


# --- in simulation: labels drawn from known shares ------------------------------------------------------


def _logistic(score):
    share = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - share, share])


def _vectors(shares):
    def draw(rng, n):
        x = rng.normal(size=(n, 3))
        return Explanations.vectors(x), shares(x)

    return draw


def _rounded(rng, n):
    x = rng.normal(size=(n, 2)).round(1)
    return Explanations.vectors(x), _logistic(2 * x[:, 0])


def _words(times, share):
    def draw(rng, n):
        codes = rng.integers(0, times * n, n)
        right = np.where(codes % 2, share, 1 - share)
        return Explanations.of(codes.tolist()), np.column_stack([1 - right, right])

    return draw


def _ten(x):
    scores = np.exp(2 * x @ np.random.default_rng(0).normal(size=(3, 10)))
    return scores / scores.sum(axis=1, keepdims=True)


def _checkers(x):
    right = np.floor(1.5 * x).sum(axis=1) % 2 * 0.8 + 0.1
    return np.column_stack([1 - right, right])


def _smooth(x):
    return _logistic(2 * x[:, 0])


def _certain(x):
    return np.eye(2)[(x[:, 0] > 0).astype(int)]


def _even(x):
    return np.full((len(x), 2), 0.5)


VECTORS = {
    "smooth": _smooth,
    "a checkerboard": _checkers,
    "certain": _certain,
    "even": _even,
    "ten labels": _ten,
}
# (rng, n) -> explanations, and how often each label goes with them
LAWS = {name: _vectors(shares) for name, shares in VECTORS.items()}
LAWS["a grid"] = _rounded
LAWS |= {
    f"{times} n words of {share}": _words(times, share)
    for times, share in ((20, 0.5), (20, 0.9), (20, 0.995), (3, 0.7), (1000, 0.95))
}


@cache
def measure_of(name):
    _, shares = LAWS[name](np.random.default_rng(1), 200_000)
    return float((shares**2).sum(axis=1).mean())


def draw_limits(draw, n, runs):
    rng, ends = np.random.default_rng([n, 7]), []
    for _ in range(runs):
        explanations, shares = draw(rng, n)
        labels = (rng.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
        ends.append(compute_interval(measure(explanations, labels).statistics))
    return np.array(ends)


CELLS = [(name, n, 100) for name in LAWS for n in (10, 200)] + [
    pytest.param(name, 1000, 100, marks=pytest.mark.simulation) for name in LAWS
]


@pytest.mark.simulation
@pytest.mark.parametrize(("name", "n", "runs"), CELLS)
def test_lower_ends_miss_seldom_and_intervals_cover(name, n, runs):
    low, high = draw_limits(LAWS[name], n, runs).T
    truth = measure_of(name)
    misses = int((low > truth + 2e-3 * (truth < 1)).sum())  # the measure of vectors is itself an average
    assert stats.binom.sf(misses - 1, runs, MISSES) > ACCIDENT
    assert stats.binom.cdf(int((high >= truth - 2e-3).sum()) - misses, runs, COVERAGE) > ACCIDENT


def test_lower_ends_are_sharp_where_explanations_tell_the_label():
    low = draw_limits(LAWS["certain"], 1000, 5)[:, 0]
    assert low.mean() > 0.93
    assert draw_limits(LAWS["1000 n words of 0.95"], 1000, 5)[:, 0].mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.slow
def test_random_vectors_get_what_chance_gives_and_no_more():
    """Two hundred seeds: the lower end exceeds one half no more often than one in forty."""
    rng, above = np.random.default_rng(0), 0
    for _ in range(200):
        result = measure(Explanations.vectors(rng.normal(size=(60, 4))), rng.integers(0, 2, 60))
        low, high = compute_interval(result.statistics)
        above += low > 0.5
        assert (high, result.statistics.compared) == (1.0, 1.0)
    assert stats.binom.sf(above - 1, 200, MISSES) > ACCIDENT


# --- comparisons ---------------------------------------------------------------------------------------


def _compare(rng, n, first, second):
    """Two explainers that name one of many words each, right with these chances; words are Zipf's."""
    labels = rng.integers(0, 2, n)
    sides = []
    for right in (first, second):
        words = np.minimum(rng.zipf(1.3, n), 500)
        named_labels = np.where(rng.random(n) < right, labels, 1 - labels)
        sides.append(measure(Explanations.of((2 * words + named_labels).tolist()), labels))
    truth = [right**2 + (1 - right) ** 2 for right in (first, second)]
    return subtract_measures(*sides), truth[0] - truth[1]


@pytest.mark.slow
def test_differences_of_partly_checked_explainers_cover_the_truth_and_find_it():
    rng, runs = np.random.default_rng(3), 150
    covered = significant = 0
    for _ in range(runs):
        difference, truth = _compare(rng, 500, 0.95, 0.7)
        covered += difference.low <= truth <= difference.high
        significant += difference.low > 0
    assert stats.binom.cdf(covered, runs, 0.95) > ACCIDENT
    assert significant > 0.9 * runs


@pytest.mark.slow
def test_of_two_explainers_alike_a_difference_is_found_seldom():
    rng, runs = np.random.default_rng(4), 200
    wrong = sum(_compare(rng, 200, 0.85, 0.85)[0].p_value < 0.05 for _ in range(runs))
    assert stats.binom.sf(wrong - 1, runs, 0.05) > ACCIDENT
