"""Pools: rows that are predicted and not explained, against loops straight from the definitions."""

from itertools import permutations

import brute_unequal
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from looping import one_test
from nearly import assert_nearly

from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import FunctionRelation, Relation, SameExplanation
from faithkit.inputs.predictions.labels import Labels, encode
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.baselines.permutation import permutation_p_value
from faithkit.measure.counting import pool as pools
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pool import Pool
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate


class Near(Relation):
    """A number holds for the instances that lie within a radius of it."""

    instance_only = True

    def __init__(self, radius):
        self.radius = radius

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return np.abs(explanations.values[:, :1] - sample.X[:, 0][None, :]) <= self.radius


@st.composite
def cases(draw):
    n, more, k = draw(st.integers(2, 7)), draw(st.integers(1, 7)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.integers(0, 8, n + more).astype(float)
    centres = x[:n] + rng.integers(-1, 3, n)  # some explanations do not hold for their own row
    return x, centres, rng.integers(0, k, n + more), k, draw(st.sampled_from([0.0, 1.0, 3.0]))


def count_with_pool(case):
    x, centres, labels, k, radius = case
    n = len(centres)
    sample = Sample(x[:n, None], Explanations.vectors(centres[:, None]))
    return count(Near(radius), sample, labels[:n], k, Pool.of(x[n:, None], labels[n:]))


def prepare_loops(case):
    x, centres, labels, _, radius = case
    n = len(centres)
    holds = [
        [bool(abs(centres[i] - x[j]) <= radius) if i < n else False for j in range(len(x))]
        for i in range(len(x))
    ]
    return holds, labels.tolist(), [1] * len(x), list(range(len(x))), n


@settings(max_examples=10)
@given(case=cases())
def test_pieces_and_their_order_change_nothing(case):
    x, centres, labels, k, radius = case
    n = len(centres)
    whole = count_with_pool(case)
    turned = (np.append(x[:n], x[n:][::-1]), centres, np.append(labels[:n], labels[n:][::-1]), k, radius)
    expected = JackknifeEstimate.of(whole).statistics
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "PIECE_ROWS", 1)
        again = count_with_pool(turned)
        assert_nearly(JackknifeEstimate.of(again).statistics, expected)


# rows 0 and 1 have the first explanation and one label, and it holds for one of them
INSIDE_AND_OUTSIDE = (
    np.array([0.0, 5.0, 1.0, 4.0, 0.5]),
    np.array([0.0, 0.0, 5.0]),
    np.array([0, 0, 1, 0, 1]),
    2,
    1.0,
)


@given(case=cases())
@example(case=INSIDE_AND_OUTSIDE)
def test_few_trials_are_assumed_where_one_row_decides_for_many(case):
    holds, labels, _, _, n = prepare_loops(case)
    D = [sum(holds[i][j] for j in range(len(labels)) if j != i) for i in range(n)]
    share = [sum(1 / D[i] for i in range(n) if i != j and holds[i][j]) for j in range(len(labels))]
    result = count_with_pool(case)
    assert result.pair_sums(has_influence=True).influence == pytest.approx(share, abs=1e-12)


def test_chance_is_that_of_an_explained_row_and_any_other():
    case = np.zeros(5), np.zeros(2), np.array([0, 1, 1, 1, 0]), 2, 1.0
    # row 0 meets labels 1, 1, 1, 0: a quarter; row 1 meets 0, 1, 1, 0: a half
    assert count_with_pool(case).chance() == pytest.approx((1 / 4 + 2 / 4) / 2)


def test_a_relation_that_reads_explanations_is_not_asked_about_rows_that_have_none():
    sample = Sample(np.zeros((2, 1)), Explanations.of(["a", "b"]))

    class Same(Relation):
        name = "same-word"

        def key(self, explanations):
            return explanations.values

        def holds(self, sample, explanations):
            return explanations.values[:, None] == sample.explanations.values[None, :]

    with pytest.raises(
        InputError, match="same-word reads the explanations of the rows that it is asked about"
    ):
        count(Same(), sample, np.array([0, 1]), 2, Pool.of(np.zeros((1, 1)), np.array([0])))


@one_test
@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (Near(1), True),
        (SameExplanation(), False),
        (Near(1) & Near(2), True),
        (~Near(1), True),
        (Near(1) | SameExplanation(), False),
        (~SameExplanation(), False),
        (FunctionRelation(lambda x, pi: True), True),
    ],
)
def test_a_composed_relation_reads_what_its_parts_read(relation, expected):
    assert relation.instance_only is expected


@pytest.mark.simulation
@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("radius", [0.05, 0.4, 2.0])
def test_intervals_with_a_pool_cover(n, radius):
    """Numbers with a wavy label; the truth is what two million pairs say."""
    rng = np.random.default_rng(7)

    def draw(size):
        x = rng.normal(size=size)
        return x, (np.sin(3 * x) + rng.normal(scale=0.7, size=size) > 0).astype(np.int64)

    x, y = draw(2000)
    z, labels = draw(20_000)
    holds = np.abs(x[:, None] - z[None, :]) <= radius
    D = holds.sum(axis=1)
    agree = (holds & (y[:, None] == labels[None, :])).sum(axis=1)
    target = np.divide(agree, D, out=np.zeros(len(x)), where=D > 0).mean()
    hits, times = 0, 300
    for _ in range(times):
        x, y = draw(n + 1000)
        sample = Sample(x[:n, None], Explanations.vectors(x[:n, None]))
        result = count(Near(radius), sample, y[:n], 2, Pool.of(x[n:, None], y[n:]))
        low, high = compute_interval(JackknifeEstimate.of(result).statistics)
        hits += low <= target <= high
    assert hits / times >= 0.93


def test_labels_are_shuffled_among_explained_rows_and_the_pool_keeps_its_own():
    """Few enough shuffles to try all: the share of those that agree as well, by the double loop."""
    case = (
        np.array([0.0, 1.0, 2.0, 6.0, 7.0, 0.0, 1.0, 7.0]),
        np.array([0.0, 1.0, 2.0, 6.0, 7.0]),
        np.array([0, 0, 0, 1, 1, 0, 0, 1]),
        2,
        1.0,
    )
    holds, labels, *alike, n = prepare_loops(case)
    observed, _ = brute_unequal.estimate(holds, labels, *alike, n)
    means = [
        brute_unequal.estimate(holds, [*moved, *labels[n:]], *alike, n)[0]
        for moved in permutations(labels[:n])
    ]
    expected = np.mean([mean >= observed - 1e-12 for mean in means])
    result = count_with_pool(case)
    assert permutation_p_value(
        result, JackknifeEstimate.of(result).statistics, 1000, seed=0
    ) == pytest.approx(expected, abs=0.03)


@given(case=cases(), seed=st.integers(0, 999), clustered=st.booleans())
def test_weights_and_clusters_of_a_pool_count_too(case, seed, clustered):
    x, centres, labels, k, radius = case
    n, rng = len(centres), np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(x)).astype(float)
    clusters = rng.integers(0, len(x), len(x)) if clustered else np.arange(len(x))
    if len(set(clusters[:n].tolist())) < 2 or np.ptp(weights) == 0:
        return
    sample = Sample(x[:n, None], Explanations.vectors(centres[:, None]))
    design, pool = Design.of(weights, clusters, len(x)), Pool.of(x[n:, None], labels[n:])
    counts = count(Near(radius), sample, labels[:n], k, design=design, pool=pool)
    facts = JackknifeEstimate.of(counts).statistics
    slow = prepare_loops(case)[0], labels.tolist(), weights.tolist(), clusters.tolist(), n
    assert (facts.value, facts.verified) == pytest.approx(brute_unequal.estimate(*slow), abs=1e-12)
    assert counts.chance() == pytest.approx(brute_unequal.chance(*slow[1:]), abs=1e-9)
    assert facts.units.trials <= facts.units.effective


# --- numbers: the divisor is what a constant explanation leaves ---------------------------------------------

RADIUS = 1.5
OUTCOMES = {
    "numbers": Outcome("numbers"),
    "within": Outcome("numbers", 0.5),
    "scores": Outcome("scores"),
}


def compare_predictions(kind, y):
    """Return how much every two predictions disagree."""
    if kind == "within":
        return [[float(abs(a - b) > 0.5 + 1e-9) for b in y] for a in y]
    return [[((a - b) ** 2).sum() / 2 for b in y] for a in y]


def measure_by_loops(kind, x, centres, apart, explained, everybody):
    """M and V over the explained rows, of all rows that are there."""
    every = [apart[i][j] for i in explained for j in everybody if i != j]
    left = sum(every) / len(every)
    divisor = left if kind == "numbers" else 1.0
    value = verified = 0.0
    for i in explained:
        others = [j for j in everybody if j != i and abs(centres[i] - x[j]) <= RADIUS]
        if others:
            verified += 1 / len(explained)
            lost = sum(apart[i][j] for j in others) / len(others)
            value += (1 - lost / divisor) / len(explained)
    return value, verified, 1 - left


def draw_numbers(kind, seed, n, more):
    """Return instances, the centres of explanations, how much predictions disagree, and the count."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 8, n + more).astype(float)
    centres = x[:n] + rng.integers(-1, 3, n)
    y = x + rng.normal(size=n + more).round(1)
    if kind == "scores":
        y = rng.dirichlet([1, 1, 1], n + more)
    result = encode(y, OUTCOMES[kind])
    labels = Labels(result.codes[:n], result.classes, result.outcome)
    pool = Pool.of(x[n:, None], result.codes[n:])
    sample = Sample(x[:n, None], Explanations.vectors(centres[:, None]))
    agreement = labels.agreement_with(pool.codes)
    counted = count(Near(RADIUS), sample, labels.codes, len(labels.classes), pool, agreement)
    points = y if y.ndim > 1 or kind == "within" else y[:, None]
    return x.tolist(), centres.tolist(), compare_predictions(kind, points), counted


@one_test
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", OUTCOMES)
def test_value_and_error_of_numbers_are_those_of_a_loop_that_leaves_out_each_row(kind, seed):
    n, more = 9, 14
    x, centres, apart, counted = draw_numbers(kind, seed, n, more)
    everybody, facts = list(range(n + more)), JackknifeEstimate.of(counted).statistics
    value, verified, chance = measure_by_loops(kind, x, centres, apart, everybody[:n], everybody)
    assert (facts.value, facts.verified) == pytest.approx((value, verified), abs=1e-12)
    assert counted.chance() == pytest.approx(0 if kind == "numbers" else chance, abs=1e-12)

    def without(row):
        left = [other for other in everybody if other != row]
        return measure_by_loops(kind, x, centres, apart, [other for other in left if other < n], left)[0]

    psi = [n * value - (n - 1) * without(row) for row in range(n)]
    changes = [n * (without(row) - value) for row in range(n, n + more)]
    variance = np.var(psi, ddof=1) / n + more * np.var(changes) / n**2
    assert facts.se == pytest.approx(np.sqrt(variance), abs=1e-10)


@one_test
@pytest.mark.parametrize(("kind", "seed"), list(zip(OUTCOMES, range(3), strict=True)))
def test_numbers_are_permuted_among_explained_rows_and_the_pool_keeps_its_own(kind, seed):
    """By all 120 orders of five explained rows."""
    n, more = 5, 7
    x, centres, apart, counted = draw_numbers(kind, seed, n, more)
    everybody, values = range(n + more), []
    for order in permutations(range(n)):
        source = [*order, *everybody[n:]]
        permuted = [[apart[i][j] for j in source] for i in source]
        values.append(measure_by_loops(kind, x, centres, permuted, everybody[:n], everybody)[0])
    expected = np.mean(np.array(values) >= values[0] - 1e-12)
    assert permutation_p_value(counted, JackknifeEstimate.of(counted).statistics, 400) == pytest.approx(
        expected, abs=0.05
    )
