"""Matching: nearest first, by ranks, and by contents alone."""

import numpy as np
import pytest
from looping import one_test
from scipy.stats import rankdata

from faithkit.measure.jackknife.merging import divide_rows, match_rows


def _compute_distances(vectors):
    ranks = np.column_stack([rankdata(column) for column in vectors.T])
    return ((ranks[:, None] - ranks) ** 2).sum(axis=2)


def _find_partners(pair):
    """Return every row's partner, None for a row without one."""
    rows = range(len(pair))
    return [next((j for j in rows if j != i and pair[i] == pair[j] >= 0), None) for i in rows]


@one_test
@pytest.mark.parametrize("n", [2, 3, 40, 101])
def test_no_two_rows_are_nearer_to_each_other_than_both_are_to_their_partners(n):
    """Greedy matching by distance is the one that nobody wants to leave."""
    vectors = np.random.default_rng(n).standard_cauchy(size=(n, 3))
    distance, partners = _compute_distances(vectors), _find_partners(match_rows(vectors))
    assert partners.count(None) == n % 2
    own = [np.inf if j is None else distance[i, j] for i, j in enumerate(partners)]
    assert not any(distance[i, j] < min(own[i], own[j]) for i in range(n) for j in range(i))


@one_test
@pytest.mark.parametrize("n", [257, 500, 501])
def test_of_many_rows_at_most_one_has_no_partner_and_all_pairs_are_near(n):
    vectors = np.random.default_rng(0).normal(size=(n, 2))
    pair = match_rows(vectors)
    assert (pair < 0).sum() == n % 2
    assert set(np.bincount(pair[pair >= 0])) == {2}
    distance = _compute_distances(vectors)
    matched = [distance[i, j] for i, j in enumerate(_find_partners(pair)) if j is not None]
    assert np.mean(matched) < 0.05 * distance.mean()


def test_neither_the_order_of_rows_nor_the_scale_of_a_column_changes_who_is_matched():
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(600, 3)).round(1)
    vectors = vectors[np.unique(vectors, axis=0, return_index=True)[1]]
    pairs = match_rows(vectors)
    expected = {frozenset(map(tuple, vectors[pairs == p])) for p in range(len(vectors) // 2)}
    order = rng.permutation(len(vectors))
    shuffled = match_rows(vectors[order])
    assert {
        frozenset(map(tuple, vectors[order][shuffled == p])) for p in range(len(vectors) // 2)
    } == expected
    assert (match_rows(vectors * [1e300, 1e-300, 1.0]) == pairs).all()


def test_rows_of_one_cluster_are_never_matched():
    vectors = np.random.default_rng(3).normal(size=(60, 2))
    clusters = np.arange(60) // 20
    pair = match_rows(vectors, clusters)
    assert all(j is None or clusters[i] != clusters[j] for i, j in enumerate(_find_partners(pair)))
    assert (match_rows(vectors, np.zeros(60, dtype=int)) < 0).all()


@one_test
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_have_a_rank(value):
    vectors = np.array([[value, 0.0], [1.0, 5.0], [value, 0.1], [1.1, 5.0]])
    assert match_rows(vectors).tolist() == [0, 1, 0, 1]


def test_blocks_hold_near_rows_and_at_most_as_many_as_they_may():
    values = np.random.default_rng(4).permutation(100.0 + np.arange(100))
    block = divide_rows(values[:, None], 16)
    assert np.bincount(block).max() <= 16
    assert all(np.ptp(values[block == b]) == (block == b).sum() - 1 for b in set(block.tolist()))
