"""Measures by predicted label: sums and errors are those of a double loop, and intervals contain the truth."""

import brute_labels
import numpy as np
import pytest
from brute_merging import blocks_of
from looping import one_test
from matrices import Matrix, count_of, counted, grouped

import faithkit
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation
from faithkit.measure.by_label import frequent_labels, measure_labels
from faithkit.measure.counting.count import count
from faithkit.measure.intervals import compute_interval
from faithkit.measure.jackknife.summary import JackknifeEstimate

SEEDS = range(4)
N_LABELS = 3


def draw_rows(seed):
    """Draw labels and explanations of a few rows; return also the labels that several of them have."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 14))
    labels, owned = rng.integers(0, N_LABELS, n), rng.integers(0, int(rng.integers(1, 7)), n)
    return rng, labels, owned, [label for label in range(N_LABELS) if (labels == label).sum() > 1]


def label_statistics(counts, labels):
    return [JackknifeEstimate.of(counts, label=label).statistics for label in labels]


def compare_names(names):
    return [[name == other and name is not None for other in names] for name in names]


def measure_by_loops(case, **options):
    """Return x_y and R_y, each with its standard error."""
    units = options.pop("units", None)
    errors = brute_labels.standard_errors(*case, **options, units=units)
    return list(zip(brute_labels.shares(*case, **options), errors, strict=True))


def linear_error(case, units):
    """Return the standard error of x_y where units leave together, relative to the label's number of rows."""
    x, n = brute_labels.shares(*case)[0], (case[1] == case[2]).sum()
    owned = np.array([(case[1][rows] == case[2]).sum() for rows in units])
    lost = n * x - (n - owned) * np.array([brute_labels.shares(*case, gone=rows)[0] for rows in units])
    J, deviations = len(units), lost - owned * lost.sum() / n
    return np.sqrt(J / (J - 1) * (deviations**2).sum()) / n


def assert_same(statistics, x, R):
    assert (statistics.estimate, statistics.se or 0.0) == pytest.approx(x, abs=1e-9)
    assert (statistics.disagreement, statistics.se_disagreement or 0.0) == pytest.approx(R, abs=1e-9)


@one_test
@pytest.mark.parametrize("seed", SEEDS)
def test_groups_and_the_block_of_lone_rows_are_those_of_a_double_loop(seed):
    _, labels, owned, repeated = draw_rows(seed)
    names = [None if name == 4 else str(name) for name in owned]  # None is no explanation
    counts = count(SameExplanation(), Sample(None, Explanations.of(names)), labels, N_LABELS)
    blocks = blocks_of(names)
    merged = [
        next((place for place, rows in enumerate(blocks) if row in rows), None) for row in range(len(names))
    ]
    for label, statistics in zip(repeated, label_statistics(counts, repeated), strict=True):
        x, _ = measure_by_loops((compare_names(merged), labels, label))
        _, R = measure_by_loops((compare_names(names), labels, label))
        assert_same(statistics, x, R)
        n = statistics.n
        assert (n, statistics.units.trials) == ((labels == label).sum(), n / 2)


@one_test
@pytest.mark.parametrize("seed", SEEDS)
def test_matched_vectors_are_left_out_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    values = rng.permutation(np.repeat(np.arange(6), [1, 1, 1, 1, 3, 2]))
    labels = rng.integers(0, 2, len(values))
    # of the four that are alone, 0 and 1 are near, and 2 and 3
    result = faithkit.score(labels, np.column_stack([values // 2, values]).astype(float))
    assert result.consistency.merging == "pairs"
    names = np.where(values < 4, values // 2, values).tolist()
    pairs = [np.flatnonzero(np.isin(values, pair)).tolist() for pair in ((0, 1), (2, 3))]
    units = pairs + [[row] for row in np.flatnonzero(values >= 4).tolist()]
    repeated = [label for label in (0, 1) if (labels == label).sum() > 2]
    outcome = label_statistics(result.evidence.counts["consistency"], repeated)
    for label, statistics in zip(repeated, outcome, strict=True):
        x, _ = measure_by_loops((compare_names(names), labels, label))
        x = x[0], linear_error((compare_names(names), labels, label), units)
        _, R = measure_by_loops((compare_names(values.tolist()), labels, label))
        assert_same(statistics, x, R)


@one_test
@pytest.mark.parametrize("seed", SEEDS)
def test_any_relation_is_that_of_a_double_loop(seed):
    rng, labels, owned, repeated = draw_rows(seed)
    matrix = rng.random((7, 7)) < 0.5
    holds = matrix[np.ix_(owned, owned)]
    result = label_statistics(counted(Matrix(matrix), owned, labels, N_LABELS), repeated)
    for label, statistics in zip(repeated, result, strict=True):
        assert_same(statistics, *measure_by_loops((holds, labels, label)))
        influence = brute_labels.influence(holds, labels, label)
        assert statistics.units.trials == pytest.approx(statistics.n / max(2, influence))


@one_test
@pytest.mark.parametrize("seed", SEEDS)
def test_the_mean_over_labels_is_the_measure(seed):
    rng, labels, owned, _ = draw_rows(seed)
    counts = counted(Matrix(rng.random((7, 7)) < 0.5), owned, labels, N_LABELS)
    repeated = np.flatnonzero(np.bincount(labels) > 0).tolist()
    result = label_statistics(counts, repeated)
    mean = sum(statistics.n * statistics.estimate for statistics in result) / len(labels)
    assert mean == pytest.approx(JackknifeEstimate.of(counts).statistics.value)


def test_a_label_that_always_agrees_has_no_standard_error_and_half_as_many_trials_as_rows():
    counts = faithkit.score([0] * 40 + [1] * 8, ["a"] * 20 + ["b"] * 20 + ["c"] * 8).evidence.counts[
        "consistency"
    ]
    for label in measure_labels(counts, [0, 1]):
        assert (label.estimate, label.se, label.high) == (1.0, None, 1.0)
        assert label.low == pytest.approx(0.025 ** (2 / label.n))


@one_test
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "no other row has this label"),
        (
            {"clusters": ["ann", "ann", "bob", "bob", "eve", "eve"]},
            "no row of another cluster has this label",
        ),
        ({"weights": [1, 1, 1, 1, 0, 0]}, "its rows have the weight 0"),
    ],
)
def test_a_label_of_one_independent_row_has_no_number_but_a_reason(options, reason):
    labels = ["yes"] * 4 + (["odd"] * 2 if options else ["odd", "no"])
    odd = faithkit.score(labels, ["a"] * 6, **options).by_label()["consistency"]["odd"]
    assert (odd.estimate, odd.low, odd.high, odd.se, odd.p_value) == (None,) * 5
    assert odd.why_not == reason


def test_chance_is_the_share_of_the_label_among_the_others():
    counts = faithkit.score(["a"] * 3 + ["b"] * 2, ["x"] * 5).evidence.counts["consistency"]
    assert [label.chance for label in measure_labels(counts, [0, 1])] == [2 / 4, 1 / 4]


@one_test
@pytest.mark.parametrize(
    "drawn",
    [
        {},
        {"weights": np.linspace(1, 3, 40)},
        {"clusters": np.arange(40) // 3},
        {"weights": np.linspace(1, 3, 40), "blocks": np.arange(40) % 4},
    ],
    ids=["equal", "weights", "clusters", "blocks"],
)
def test_an_explanation_for_all_rows_gets_the_chance_of_every_label(drawn):
    result = faithkit.score([0] * 30 + [1] * 10, ["x"] * 40, **drawn)
    labels = measure_labels(result.evidence.counts["consistency"], [0, 1])
    assert result.consistency.estimate == pytest.approx(result.chance, abs=1e-12)
    assert [label.estimate for label in labels] == pytest.approx([label.chance for label in labels])
    assert [label.finding for label in labels] == ["not above chance"] * 2


def test_p_values_are_corrected_for_the_number_of_labels():
    table = np.array([[12, 3, 2], [3, 11, 2], [3, 3, 12]])
    counts = count_of(grouped(table))
    alone = [measure_labels(counts, [label])[0].p_value for label in range(3)]
    together = [label.p_value for label in measure_labels(counts, [0, 1, 2])]
    assert min(together) == pytest.approx(3 * min(alone))
    assert max(together) >= max(alone)


def test_the_most_frequent_labels_come_first_and_the_others_are_counted():
    counts = faithkit.score([0, 1, 1, 2, 2, 2, 3], ["x"] * 7).evidence.counts["consistency"]
    assert frequent_labels(counts, 3) == ([2, 1, 0], 1)
    assert frequent_labels(counts, 9) == ([2, 1, 0, 3], 0)


# q[u, y]: how often explanation u of mass p[u] comes with label y
LAWS = {
    "rare label, told well": ([0.9, 0.1], [[0.99, 0.01], [0.2, 0.8]]),
    "rare label, not told": ([0.5, 0.5], [[0.95, 0.05], [0.95, 0.05]]),
    "rare label, told by some": ([0.6, 0.3, 0.1], [[0.97, 0.03], [0.85, 0.15], [0.3, 0.7]]),
    "balanced, near-pure": ([0.25] * 4, [[0.99, 0.01], [0.98, 0.02], [0.01, 0.99], [0.02, 0.98]]),
    "balanced, vague": ([0.2] * 5, [[0.6, 0.4], [0.4, 0.6], [0.5, 0.5], [0.7, 0.3], [0.3, 0.7]]),
    "three labels": ([0.5, 0.3, 0.2], [[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.1, 0.2, 0.7]]),
    "many explanations": ([1 / 40] * 40, [[0.9, 0.1]] * 30 + [[0.3, 0.7]] * 10),
}
MOST_MISSES = 0.022  # of either end, as part of the theory states for 30 to 400 rows
RUNS = 2000


@pytest.mark.simulation
@pytest.mark.parametrize("n", [30, 100, 400])
@pytest.mark.parametrize("name", LAWS)
def test_each_end_of_a_label_misses_as_rarely_as_stated(name, n):
    masses, shares = (np.asarray(part) for part in LAWS[name])
    joint = masses[:, None] * shares
    truths = (joint * shares).sum(axis=0) / joint.sum(axis=0)  # E q_y² / E q_y
    rng = np.random.default_rng([n, len(name)])
    above, below, runs = np.zeros((3, len(truths)))
    for table in rng.multinomial(n, joint.ravel(), size=RUNS).reshape(RUNS, *joint.shape):
        repeated = np.flatnonzero(table.sum(axis=0) > 1).tolist()
        result = label_statistics(count_of(grouped(table[table.any(axis=1)])), repeated)
        ends = np.array([compute_interval(statistics) for statistics in result])
        runs[repeated] += 1
        above[repeated] += ends[:, 0] > truths[repeated]
        below[repeated] += ends[:, 1] < truths[repeated]
    for misses in (above, below):
        assert (misses <= runs * MOST_MISSES + 2 * np.sqrt(runs * MOST_MISSES * (1 - MOST_MISSES))).all(), (
            misses / runs
        )
