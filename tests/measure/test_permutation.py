"""The permutation test: the means of given permutations by loops, and what must not change a p-value."""

import brute_unequal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, SameExplanation
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.agreement.within_tolerance import Within
from faithkit.measure.baselines import permutation
from faithkit.measure.baselines.permutation import permutation_p_value, permuted_means
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pool import Pool
from faithkit.measure.jackknife.summary import JackknifeEstimate

N, MISSING = 14, 3
VALUES = np.array([0.0, 0.2, 1.0, 1.1, 3.0])
CLUSTERS = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 5, 6, 6, 6])
BLOCKS, WEIGHTS = np.arange(N) % 2, np.arange(N) / 3
EQUAL = {"weights": np.ones(N), "clusters": np.arange(N), "block": None}
DESIGNS = {
    "equal": EQUAL,
    "weights": EQUAL | {"weights": WEIGHTS},
    "clusters": EQUAL | {"clusters": CLUSTERS},
    "weights and clusters": EQUAL | {"weights": WEIGHTS, "clusters": CLUSTERS},
    "blocks": EQUAL | {"block": BLOCKS},
    "all": {"weights": WEIGHTS, "clusters": CLUSTERS, "block": BLOCKS},
}
AGREEMENTS = {
    "labels": lambda sizes, pool: SAME_LABEL,
    "numbers": lambda sizes, pool: Squares.of_numbers(VALUES[:, None], sizes, pool=pool),
    "within": lambda sizes, pool: Within(VALUES, 0.5),
}


class Kinds(Relation):
    """Explanation u holds for rows of the kind v where matrix[u, v]."""

    instance_only = True

    def __init__(self, matrix):
        self.matrix = matrix

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return self.matrix[explanations.values.ravel().astype(int)][:, sample.X[:, 0].astype(int)]


class Rows:
    """Random rows, of which the last may be a pool."""

    def __init__(self, design, grouping, agreement="labels", n_pool=0, seed=0, vectors=False):
        rng = np.random.default_rng(seed)
        self.matrix = None if grouping else rng.random((6, 6)) < 0.6
        self.kinds, self.labels = rng.integers(0, 6, N), rng.integers(0, len(VALUES), N)
        self.missing, self.n, self.vectors = np.arange(N) == MISSING, N - n_pool, vectors
        self.columns, self.agreement = DESIGNS[design], agreement

    def count(self, order=None, names=None):
        """Count the rows in another order, with other names of their labels."""
        n = self.n
        order = np.append(np.arange(n) if order is None else order, np.arange(n, N))
        labels = (np.arange(len(VALUES)) if names is None else np.asarray(names))[self.labels[order]]
        weights, clusters, block = (x if x is None else x[order] for x in self.columns.values())
        X = self.kinds[order].astype(float)[:, None]
        values = X[:n] if self.vectors else X[:n, 0]
        kind = "vector" if self.vectors else "number"
        explanations = Explanations(kind=kind, values=values, missing=self.missing[order][:n])
        sizes = [np.bincount(part, minlength=len(VALUES)) for part in (labels[:n], labels[n:])]
        return count(
            SameExplanation() if self.matrix is None else Kinds(self.matrix),
            Sample(X[:n], explanations),
            labels[:n],
            len(VALUES),
            Pool.of(X[n:], labels[n:]) if n < N else None,
            AGREEMENTS[self.agreement](*sizes),
            Design.of(weights, clusters, N, block=block),
        )

    @property
    def holds(self):
        """Whether the explanation of each row holds for each row."""
        grouping = self.matrix is None
        matrix = np.eye(6, dtype=bool) if grouping else self.matrix
        holds = matrix[self.kinds][:, self.kinds] & ~self.missing[:, None]
        block = self.columns["block"]
        holds &= ~self.missing | (not grouping)
        return holds if block is None else holds & (block[:, None] == block)


def statistics_of(counted):
    return JackknifeEstimate.of(counted).statistics


def assert_means_are_those_of_loops(rows):
    """Compare three permutations of explained rows, the first of which changes nothing."""
    counted, rng = rows.count(), np.random.default_rng(1)
    n, statistics, holds = rows.n, statistics_of(counted), rows.holds
    if counted.has_classes and statistics.merging is not None:
        key = counted.merging_cache[0].key[counted.owned]
        holds |= (key[:, None] == key) & ~rows.missing
    sources = [np.arange(n), rng.permutation(n), rng.permutation(n)]
    means = list(permuted_means(counted, statistics, np.arange(n), sources))

    def agree(first, second):
        return 1 - counted.agreement.disagreement(first, np.array([second]))[0]

    for mean, source in zip(means, sources, strict=True):
        moved = np.append(source, np.arange(n, N))
        labels, weights = rows.labels[moved], rows.columns["weights"][moved]
        expected, _ = brute_unequal.estimate(holds, labels, weights, rows.columns["clusters"], n, agree)
        assert mean == pytest.approx(expected, abs=1e-9)
    observed = statistics.agreed if counted.design.is_equal else statistics.value
    assert means[0] == pytest.approx(observed, abs=1e-9)


@one_test
@pytest.mark.parametrize("n_pool", [0, 5])
@pytest.mark.parametrize("agreement", AGREEMENTS)
@pytest.mark.parametrize("design", DESIGNS)
def test_the_mean_of_a_relation_under_a_permutation_is_that_of_a_double_loop(design, agreement, n_pool):
    assert_means_are_those_of_loops(Rows(design, False, agreement, n_pool))


@one_test
@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("agreement", AGREEMENTS)
@pytest.mark.parametrize("design", DESIGNS)
def test_the_mean_of_groups_under_a_permutation_is_that_of_a_double_loop(design, agreement, seed, vectors):
    assert_means_are_those_of_loops(Rows(design, True, agreement, seed=seed, vectors=vectors))


@one_test
@pytest.mark.parametrize("limit", ["MAX_VALUES", "TABLE_SIZE", "BATCH_SIZE", "FEW_LABELS"])
@pytest.mark.parametrize("agreement", AGREEMENTS)
@pytest.mark.parametrize("design", ["equal", "weights", "all"])
def test_no_batch_size_changes_a_mean(design, agreement, limit, monkeypatch):
    monkeypatch.setattr(permutation, limit, 1)
    assert_means_are_those_of_loops(Rows(design, False, agreement, n_pool=5))


@settings(max_examples=40)
@given(st.sampled_from([*DESIGNS]), st.booleans(), st.booleans(), st.integers(0, 999), st.integers(0, 999))
def test_neither_the_order_of_rows_nor_the_names_of_labels_change_a_p_value(
    design, grouping, has_pool, seed, order_seed
):
    rows = Rows(design, grouping, n_pool=5 * (has_pool and not grouping), seed=seed)
    rng = np.random.default_rng(order_seed)
    options = [{}, {"order": rng.permutation(rows.n)}, {"names": rng.permutation(len(VALUES))}]
    counts = [rows.count(**option) for option in options]
    p_values = [permutation_p_value(counted, statistics_of(counted), 19) for counted in counts]
    assert p_values == [p_values[0]] * 3
