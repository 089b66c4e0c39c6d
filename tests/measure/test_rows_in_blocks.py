"""Rows in blocks: what double loops over the rows of each block give, for every outcome and relation."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from looping import one_test
from scipy import stats

import faithkit
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate

RNG = np.random.default_rng(11)
N = 40
BLOCK = np.append(RNG.integers(0, 11, N - 2), [11, 12])  # two blocks have one row each
EXPLANATIONS = RNG.integers(0, 3, N).tolist()
X = RNG.normal(size=(N, 1)).round(2)
SIGNAL = X[:, 0] + 0.3 * np.array(EXPLANATIONS) + 0.2 * BLOCK
PROBABILITIES = np.column_stack([1 / (1 + np.exp(-SIGNAL)), 1 / (1 + np.exp(SIGNAL))])


def is_near(x, value):
    return abs(x[0] - value[0]) < 0.6


def half_square(a, b):
    return float(((np.asarray(a) - np.asarray(b)) ** 2).sum()) / 2


OUTCOMES = {
    "labels": ((SIGNAL > 1).tolist(), {}, lambda a, b: float(a != b)),
    "scores": (PROBABILITIES, {"outcome": "scores"}, half_square),
    "numbers": (SIGNAL, {"outcome": "numbers"}, half_square),
    "bounded numbers": (SIGNAL, {"outcome": "numbers", "range": (-9, 9)}, half_square),
    "tolerance": (
        SIGNAL.round(1),
        {"outcome": "numbers", "agree": "within:0.5"},
        lambda a, b: float(abs(a - b) > 0.5 + 1e-9),
    ),
}


def mean_disagreement(rows, holds, apart):
    """The compared rows, and the sum of their mean disagreement with the others of their block."""
    compared = total = 0.0
    for i in rows:
        others = [j for j in rows if j != i and BLOCK[j] == BLOCK[i] and holds(i, j)]
        if others:
            compared += 1
            total += sum(apart(i, j) for j in others) / len(others)
    return compared, total


def measure_by_loops(rows, outcome, measure):
    """The estimate, the disagreement, and the share of compared rows."""
    predictions, options, distance = OUTCOMES[outcome]

    def apart(i, j):
        return distance(predictions[i], predictions[j])

    def holds(i, j):
        return EXPLANATIONS[i] == EXPLANATIONS[j] if measure == "consistency" else is_near(X[j], X[i])

    compared, total = mean_disagreement(rows, holds, apart)
    variance, unchecked = 1.0, 1.0
    if outcome.endswith("numbers"):
        all_compared, all_apart = mean_disagreement(rows, lambda i, j: True, apart)
        variance = all_apart / all_compared
        if "range" in options:
            unchecked = 18**2 / (4 if measure == "consistency" else 2) / variance
    disagreement, share = total / variance / len(rows), compared / len(rows)
    return 1 - disagreement - unchecked * (1 - share), disagreement, share


def score_measure(outcome, measure, **options):
    predictions, outcome_options, _ = OUTCOMES[outcome]
    if measure == "consistency":
        return faithkit.score(
            predictions, EXPLANATIONS, blocks=BLOCK, **outcome_options, **options
        ).consistency
    options |= {"relation": faithkit.relation(is_near), "blocks": BLOCK, **outcome_options}
    return faithkit.score(predictions, X, X, **options).sufficiency


@one_test
@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("measure", ["consistency", "sufficiency"])
def test_estimates_and_errors_are_those_of_leaving_out_every_block(outcome, measure):
    blocks = np.unique(BLOCK)
    estimate, disagreement, share = measure_by_loops(range(N), outcome, measure)
    without = np.array(
        [
            measure_by_loops([i for i in range(N) if BLOCK[i] != block], outcome, measure)[:2]
            for block in blocks
        ]
    )
    se = np.sqrt((len(blocks) - 1) / len(blocks) * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    measured = score_measure(outcome, measure).statistics
    assert (measured.estimate, measured.disagreement) == pytest.approx((estimate, disagreement), abs=1e-9)
    assert (measured.verified, measured.value) == pytest.approx((share, share - disagreement), abs=1e-9)
    assert (measured.se, measured.se_disagreement) == pytest.approx(se, abs=1e-9)


def test_the_value_and_chance_are_means_over_separate_runs_of_each_block():
    labels = np.array(OUTCOMES["labels"][0])
    members = [np.flatnonzero(block == BLOCK) for block in np.unique(BLOCK)]
    parts = [(len(rows), faithkit.score(labels[rows], np.array(EXPLANATIONS)[rows])) for rows in members]
    value = sum(n * (part.consistency.value or 0.0) for n, part in parts) / N
    n_comparable = sum(n for n, _ in parts if n > 1)
    chance = sum(n * part.chance for n, part in parts if n > 1) / n_comparable
    n_checked = sum(part.consistency.checked for _, part in parts)
    by_chance = sum(part.consistency.checked * part.chance for n, part in parts if n > 1) / N
    measured = score_measure("labels", "consistency")
    assert measured.value == pytest.approx(value, abs=1e-12)
    assert measured.chance == pytest.approx(chance, abs=1e-12)
    assert (measured.checked, measured.by_chance) == (n_checked, pytest.approx(by_chance, abs=1e-12))


def test_blocks_without_weight_change_nothing():
    weights, labels = np.where(BLOCK % 3 == 0, 0.0, 1.0 + np.arange(N) % 2), np.array(OUTCOMES["labels"][0])
    whole, part = (
        faithkit.score(
            labels[rows], np.array(EXPLANATIONS)[rows], blocks=BLOCK[rows], weights=weights[rows]
        ).consistency
        for rows in (np.arange(N), np.flatnonzero(weights))
    )
    for name in ("value", "estimate", "chance", "by_chance", "se"):
        assert getattr(whole, name) == pytest.approx(getattr(part, name), abs=1e-12), name


def test_a_constant_explanation_gets_chance_and_of_numbers_nothing():
    labels, numbers = np.array(OUTCOMES["labels"][0]), SIGNAL
    has_others = np.bincount(BLOCK)[BLOCK] > 1
    constant = faithkit.score(labels[has_others], ["same"] * int(has_others.sum()), blocks=BLOCK[has_others])
    assert constant.consistency.estimate == pytest.approx(constant.chance, abs=1e-12)
    of_numbers = faithkit.score(numbers, ["same"] * N, blocks=BLOCK, outcome="numbers").consistency
    assert (of_numbers.estimate, of_numbers.chance) == (pytest.approx(0, abs=1e-12), 0)


def lower_limit(x, variance, trials):
    """L of the theory page, for 95 %."""
    if x >= 1:
        return 0.025 ** (1 / trials)
    effective = x * (1 - x) / variance
    n = max(trials, effective)
    limit = stats.beta.ppf(0.025, n * x, n * (1 - x) + 1)
    z = stats.norm.ppf(0.975)
    return limit if effective >= trials else max(0, min(limit, x - z * math.sqrt(variance)))


def test_blocks_are_the_units_of_the_interval_and_rows_those_of_its_correction():
    measured = score_measure("labels", "consistency")
    moments, shares = measured.statistics, np.bincount(BLOCK) / N
    z, effective, largest = stats.norm.ppf(0.975), 1 / (shares**2).sum(), shares.max()
    factor = (stats.t.ppf(0.975, effective - 1) / z) ** 2
    x, R = moments.estimate, moments.disagreement
    low = lower_limit(x, factor * moments.se**2 + (x * largest) ** 2, effective)
    least = lower_limit(R, factor * moments.se_disagreement**2 + (R * largest) ** 2, effective)
    high = 1 - least + 2 * (z * z + 1) * R * (1 - R) / N
    assert (measured.low, measured.high) == pytest.approx((low, min(1, high)), abs=1e-9)


def test_of_a_label_the_rows_of_the_correction_are_its_own():
    labels = np.array(OUTCOMES["labels"][0])
    counts = faithkit.score(labels, EXPLANATIONS, blocks=BLOCK).evidence.counts["consistency"]
    for label in (False, True):
        units = JackknifeEstimate.of(counts, label=int(label)).statistics.units
        assert units.compared == pytest.approx((labels == label).sum())


@one_test
@pytest.mark.parametrize("measure", ["consistency", "sufficiency"])
@pytest.mark.parametrize("outcome", ["labels", "numbers"])
def test_the_order_of_rows_changes_nothing(outcome, measure):
    order = np.random.default_rng(3).permutation(N)
    predictions, options, _ = OUTCOMES[outcome]
    first, second = (
        faithkit.score(
            np.asarray(predictions)[rows],
            Explanations(kind="value", values=X[rows], identity=np.array(EXPLANATIONS)[rows]),
            X[rows],
            blocks=BLOCK[rows],
            relation=faithkit.relation(is_near),
            permutations=19,
            **options,
        ).measures[measure]
        for rows in (np.arange(N), order)
    )
    assert second.p_value == first.p_value
    for name in ("estimate", "se", "low", "high"):
        assert getattr(second, name) == pytest.approx(getattr(first, name), abs=1e-12), name


@one_test
@pytest.mark.parametrize("grouping", [True, False])
def test_the_p_value_is_the_share_of_permutations_within_blocks(grouping):
    block = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    explanations = np.array([0, 0, 1, 1, 0, 0, 1, 0, 1, 1])
    labels = np.array([0, 0, 1, 0, 1, 1, 0, 0, 1, 1])

    def mean(y):
        total = 0.0
        for i in range(10):
            is_other = (block == block[i]) & (explanations == explanations[i]) & (np.arange(10) != i)
            others = np.flatnonzero(is_other)
            total += sum(y[i] == y[j] for j in others) / max(1, len(others))
        return total / 10

    permuted = [set(permutations(labels[block == b].tolist())) for b in range(3)]  # all equally likely
    means = [mean([label for part in parts for label in part]) for parts in product(*permuted)]
    exact = np.mean(np.array(means) >= mean(labels) - 1e-12)
    times = 1000
    options = {"blocks": block, "permutations": times}
    if grouping:
        estimate = faithkit.score(labels, explanations.tolist(), **options).consistency
    else:
        options["relation"] = faithkit.relation(lambda x, value: x[0] == value[0])
        X = explanations[:, None]
        estimate = faithkit.score(labels, X, X, **options).sufficiency
    assert estimate.p_value == pytest.approx(
        exact, abs=2.8 * math.sqrt(exact * (1 - exact) / times) + 1 / times
    )


def test_a_missing_explanation_holds_for_no_row_of_its_block():
    explanations = ["a", None, "a", None, "b", "b"]
    result = faithkit.score([0, 0, 1, 1, 1, 1], explanations, blocks=[0, 0, 0, 1, 1, 1])
    assert (result.n_explanations, result.unexplained) == (4, 2)
    assert (result.consistency.value, result.consistency.checked) == (2 / 6, 4)


# --- how often intervals miss ------------------------------------------------------------------------------

RUNS = 1000
STATED = 0.027


def draw_blocks(law, n_blocks, size, rng):
    """The sizes of blocks, and the probability of the label 1 for each block and explanation."""
    sizes = np.full(n_blocks, size)
    if law == "uneven":
        sizes = rng.integers(2, 2 * size - 1, n_blocks)
    shape = n_blocks, 1 if law == "one explanation" else 2
    if law == "rare":
        return sizes, np.where(rng.random(shape) < 0.05, 0.5, 0.995)
    return sizes, rng.beta(*{"near-pure": (20, 1), "useless": (50, 50)}.get(law, (1, 1)), size=shape)


def compute_truth(law, size):
    sizes, q = draw_blocks(law, 400_000, size, np.random.default_rng(1))
    return float((sizes * (q**2 + (1 - q) ** 2).mean(axis=1)).sum() / sizes.sum())


@pytest.mark.simulation
@pytest.mark.parametrize("law", ["uneven", "mixed", "near-pure", "useless", "rare", "one explanation"])
@pytest.mark.parametrize(("n_blocks", "size"), [(10, 30), (20, 10), (100, 4)])
def test_each_end_misses_the_measure_of_new_blocks_no_more_often_than_stated(law, n_blocks, size):
    rng, m = np.random.default_rng([5, n_blocks]), compute_truth(law, size)
    misses = np.zeros(2)
    for _ in range(RUNS):
        sizes, q = draw_blocks(law, n_blocks, size, rng)
        block = np.repeat(np.arange(n_blocks), sizes)
        explanations = rng.integers(0, q.shape[1], len(block))
        labels = (rng.random(len(block)) < q[block, explanations]).astype(np.int64)
        sample = Sample(None, Explanations(kind="number", values=explanations))
        design = Design.of(None, None, len(block), block=block)
        counted = count(SameExplanation(), sample, labels, 2, design=design)
        low, high = compute_interval(JackknifeEstimate.of(counted).statistics)
        misses += low > m + 1e-12, high < m - 1e-12
    assert (misses / RUNS <= STATED + 2 * math.sqrt(STATED * (1 - STATED) / RUNS)).all(), misses / RUNS
