"""Numbers, scores and tolerances of rows with weights or clusters, against loops from the definitions."""

from functools import partial

import brute_unequal
import numpy as np
import pytest
from matrices import Matrix

import faithkit
from faithkit.errors import InputError
from faithkit.inputs.predictions.labels import encode
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.measure.difference import Side
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.pool import Pool
from faithkit.measure.relations import SameExplanation
from faithkit.measure.unequal import deletion, holding
from faithkit.measure.unequal.design import Design
from faithkit.measure.unequal.divided import count_divided

WEIGHTS = {
    "real": lambda rng, n: rng.random(n) + 0.01,
    "whole": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "some zero": lambda rng, n: np.append(rng.integers(0, 3, n - 2), [1, 1]).astype(float),
    "equal": lambda rng, n: np.ones(n),
}
OUTCOMES = {
    "numbers": (Outcome("numbers"), brute_unequal.divided),
    "within": (
        Outcome("numbers", 1.0),
        partial(brute_unequal.estimate, agree=lambda one, other: float(abs(one - other) <= 1.0 + 1e-9)),
    ),
}
CASES = [
    (outcome, weights, clustered, grouping, pooled)
    for outcome in OUTCOMES
    for weights in WEIGHTS
    for clustered in (True, False)
    for grouping, pooled in ((True, 0), (False, 0), (False, 6))
    if clustered or weights != "equal"
]


def made(seed, weights, clustered, n=24):
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 9, n) if clustered else np.arange(n)
    values = np.round(rng.normal(3, 2, n), int(rng.integers(0, 3)))
    return rng.random((5, 5)) < 0.5, rng.integers(0, 5, n), values, WEIGHTS[weights](rng, n), clusters


def counted(case, grouping, pooled, outcome):
    matrix, owned, values, weights, clusters = case
    n = len(values) - pooled
    sample = Sample(owned[:n], Explanations(kind="number", values=owned[:n]))
    relation = SameExplanation() if grouping else OnInstances(matrix)
    labels = encode(values, outcome)
    mine, theirs = labels.codes[:n], labels.codes[n:]
    labels = type(labels)(mine, labels.values, outcome)
    pool = Pool.of(owned[n:], theirs) if pooled else None
    agreement = labels.agreement_with(theirs) if pooled else labels.agreement
    design = Design.of(weights, clusters, len(values))
    return count_divided(relation, sample, mine, labels.k, design, pool, agreement)


class OnInstances(Matrix):
    """A matrix between explanations and instances, of which X has the numbers."""

    instance_only = True

    def holds(self, sample, explanations):
        return self.matrix[np.ix_(explanations.values.astype(int), np.asarray(sample.X).astype(int))]


def truth(case, grouping):
    matrix, owned, values, weights, clusters = case
    holds = np.equal.outer(owned, owned) if grouping else matrix[np.ix_(owned, owned)]
    return holds.tolist(), values.tolist(), weights.tolist(), clusters.tolist()


@pytest.mark.parametrize(("kind", "weights", "clustered", "grouping", "pooled"), CASES)
def test_value_and_errors_are_those_of_the_double_loop(kind, weights, clustered, grouping, pooled):
    outcome, estimate = OUTCOMES[kind]
    for seed in range(3):
        case = made(seed, weights, clustered)
        facts = Side.of(counted(case, grouping, pooled, outcome)).facts
        slow, explained = truth(case, grouping), len(case[1]) - pooled
        assert (facts.value, facts.verified) == pytest.approx(estimate(*slow, explained), abs=1e-10)
        errors = brute_unequal.standard_errors(*slow, explained, estimate)
        assert (facts.se or 0, facts.se_disagreement or 0) == pytest.approx(errors, abs=1e-8)


@pytest.mark.parametrize("kind", OUTCOMES)
@pytest.mark.parametrize("grouping", [True, False])
def test_series_and_small_blocks_give_what_pairs_give(kind, grouping, monkeypatch):
    case = made(5, "real", True, n=80)
    slow = Side.of(counted(case, grouping, 0, OUTCOMES[kind][0]))
    monkeypatch.setattr(deletion, "DIRECT", 0)
    monkeypatch.setattr(holding, "PAIRS", 1)
    fast = Side.of(counted(case, grouping, 0, OUTCOMES[kind][0]))
    assert fast.value == pytest.approx(slow.value, abs=1e-9)
    assert fast.disagreement == pytest.approx(slow.disagreement, abs=1e-9)


def of_numbers(n=60, seed=0):
    rng = np.random.default_rng(seed)
    groups, clusters = rng.integers(0, 6, n), rng.integers(0, 30, n)
    return groups, groups + rng.normal(size=n), rng.random(n) + 0.1, clusters


def test_one_hot_scores_are_labels():
    groups, _, weights, clusters = of_numbers()
    labels = groups % 3
    drawn = {"weights": weights, "clusters": clusters, "permutations": 99}
    one = faithkit.score(np.eye(3)[labels], groups, outcome="scores", **drawn).consistency
    two = faithkit.score(labels, groups, **drawn).consistency
    assert (one.value, one.se) == pytest.approx((two.value, two.se), abs=1e-12)
    assert (one.by_chance, one.p_value) == pytest.approx((two.by_chance, two.p_value), abs=1e-12)


def test_a_constant_explanation_gets_nothing():
    _, values, weights, clusters = of_numbers()
    for drawn in ({"weights": weights}, {"clusters": clusters}, {"weights": weights, "clusters": clusters}):
        assert faithkit.score(values, ["same"] * 60, **drawn).consistency.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("scale", "shift"), [(1e9, 0.0), (1.0, 1e9), (-1e-7, 5.0)])
def test_shifting_and_scaling_numbers_changes_nothing(scale, shift):
    groups, values, weights, clusters = of_numbers()
    one, two = (
        faithkit.score(numbers, groups, weights=weights, clusters=clusters).consistency
        for numbers in (values, scale * values + shift)
    )
    assert (one.value, one.low, one.high) == pytest.approx((two.value, two.low, two.high), abs=1e-6)


def test_the_order_of_rows_changes_no_bit():
    rows, order = of_numbers(), np.random.default_rng(9).permutation(60)
    one, two = (
        faithkit.score(values, groups, weights=weights, clusters=clusters, permutations=49).consistency
        for groups, values, weights, clusters in (rows, [column[order] for column in rows])
    )
    assert one == two


def test_explanations_that_tell_much_are_above_chance_and_random_ones_are_not():
    groups, values, weights, clusters = of_numbers(n=400)
    good, bad = (
        faithkit.score(values, said, weights=weights, clusters=clusters, permutations=199).consistency
        for said in (groups, np.random.default_rng(1).integers(0, 6, 400))
    )
    assert good.p_value == 0.005
    assert good.finding == "above chance"
    assert bad.p_value > 0.01
    assert bad.low < 0.01


def test_rows_of_one_cluster_are_no_others():
    groups, values, _, _ = of_numbers(n=200)
    twice = np.repeat(values, 2), np.repeat(groups, 2)
    plain = faithkit.score(values, groups).consistency
    apart = faithkit.score(*twice, clusters=np.repeat(np.arange(200), 2)).consistency
    assert apart.value == pytest.approx(plain.value, abs=1e-9)
    assert apart.se == pytest.approx(plain.se, rel=1e-6)
    alike = faithkit.score(*twice).consistency
    assert alike.value > plain.value


def test_one_row_is_measured_against_other_clusters_by_weight():
    """Row 0 meets rows 2 and 3: numbers 4 and 2 of weights 1 and 3, of which its own is 1."""
    values, weights, clusters = [1.0, 9.0, 4.0, 2.0, 3.0], [1, 1, 1, 3, 1], ["a", "a", "b", "c", "d"]
    result = faithkit.score(values, ["x"] * 4 + ["y"], weights=weights, clusters=clusters, outcome="numbers")
    everybody = brute_unequal.estimate(
        [[True] * 5] * 5, values, weights, clusters, agree=lambda one, other: 1 - (one - other) ** 2 / 2
    )
    expected = 1 - (1 * 4.5 + 3 * 0.5) / 4 / (1 - everybody[0])
    found = result.local(0).consistency
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert (found.numbers.least, found.numbers.most) == (2.0, 4.0)


def test_witnesses_are_of_two_clusters():
    values, clusters = [1.0, 100.0, 3.0, 4.0], ["a", "a", "b", "c"]
    worst = faithkit.score(values, ["x"] * 4, clusters=clusters, outcome="numbers").violations(1)[0]
    assert {clusters[row] for row in worst.rows} in ({"a", "b"}, {"a", "c"})
    assert 1 in worst.rows


def test_numbers_that_do_not_vary_where_rows_count_are_refused():
    with pytest.raises(InputError, match="there is nothing to explain"):
        faithkit.score([1.5, 1.5, 2.5], ["a", "a", "b"], weights=[1, 1, 0])


def test_a_part_of_the_rows_has_its_own_variance():
    groups, values, weights, clusters = of_numbers(n=120)
    side = np.arange(120) % 2
    result = faithkit.score(values, groups, weights=weights, clusters=clusters)
    found = result.by(side)
    mine = side == 1
    alone = faithkit.score(values[mine], groups[mine], weights=weights[mine], clusters=clusters[mine])
    assert found[1].consistency.value == pytest.approx(alone.consistency.value, abs=1e-12)


# --- rows that are alone, put together ---------------------------------------------------------------------


def merged_truth(said, values, weights, clusters, left=None):
    """x = 1 − B/U: in each block two clusters disagree, over the most others, and what is lost wholly."""
    rows = [i for i in range(len(values)) if clusters[i] != left]
    shared = {one: {clusters[i] for i in rows if said[i] == one} for one in set(said)}
    blocks = {}
    for i in rows:
        blocks.setdefault(said[i] if len(shared[said[i]]) > 1 else "alone", []).append(i)
    widest = (max(values) - min(values)) ** 2 / 2
    W, B = sum(weights[i] for i in rows), 0.0
    for block in blocks.values():
        size = {c: sum(weights[i] for i in block if clusters[i] == c) for c in {clusters[i] for i in block}}
        whole = sum(size.values())
        most = whole - min(size.values())
        pairs = [(i, j) for i in block for j in block if clusters[i] != clusters[j]]
        reach = sum(weights[i] * weights[j] for i, j in pairs) / most if pairs else 0.0
        B += sum(weights[i] * weights[j] * (values[i] - values[j]) ** 2 / 2 for i, j in pairs) / (most or 1)
        B += (whole - reach) * widest
    everybody = [[True] * len(values)] * len(values)
    M, V = brute_unequal.estimate(
        everybody, values, weights, clusters, left=left, agree=lambda one, other: 1 - (one - other) ** 2 / 2
    )
    return 1 - B / W / (V - M)


@pytest.mark.parametrize("kind", ["weights", "clusters", "both"])
@pytest.mark.parametrize("seed", range(6))
def test_rows_that_are_alone_form_a_block_in_which_what_is_lost_disagrees_wholly(seed, kind):
    rng = np.random.default_rng([seed, len(kind)])
    n = 20
    said = [f"rule {number}" for number in rng.integers(0, 14, n)]
    values = np.round(rng.normal(size=n), 2) + 0.001
    weights = np.ones(n) if kind == "clusters" else rng.random(n) + 0.2
    clusters = np.arange(n) if kind == "weights" else rng.integers(0, 12, n)
    drawn = [None if kind == "clusters" else weights, None if kind == "weights" else clusters]
    found = faithkit.score(values, said, weights=drawn[0], clusters=drawn[1]).consistency
    merged, rows = found.moments.merged, (said, values.tolist(), weights.tolist(), clusters.tolist())
    assert merged.how == "one block"
    assert merged.value == pytest.approx(merged_truth(*rows), abs=1e-9)
    C = len(set(rows[3]))
    left = np.array([merged_truth(*rows, left=one) for one in sorted(set(rows[3]))])
    expected = np.sqrt((C - 1) / C * ((left - left.mean()) ** 2).sum())
    assert merged.se == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("kind", ["words", "vectors"])
@pytest.mark.parametrize("seed", range(4))
def test_merged_one_hot_scores_are_merged_labels(kind, seed):
    rng = np.random.default_rng(seed)
    n, labels = 80, rng.integers(0, 3, 80)
    said = [f"rule {one}" for one in rng.integers(0, 60, n)] if kind == "words" else rng.normal(size=(n, 2))
    drawn = {"weights": rng.random(n) + 0.2, "clusters": rng.integers(0, 50, n)}
    one = faithkit.score(np.eye(3)[labels], said, outcome="scores", **drawn).consistency.moments.merged
    two = faithkit.score(labels, said, **drawn).consistency.moments.merged
    assert one.how == two.how
    assert (one.value, one.reach, one.se) == pytest.approx((two.value, two.reach, two.se), abs=1e-11)


@pytest.mark.parametrize("clustered", [False, True])
def test_weights_that_hardly_differ_give_what_equal_numbers_get(clustered):
    """Errors are estimated without a pair here and without a row there, which is the same in the limit only.

    At 2,000 rows the ratio of both has a standard deviation of 0.034 (five samples), so the mean of five has 0.015.
    """
    ratios = []
    for seed in range(5):
        rng, n = np.random.default_rng(seed), 2000
        vectors = rng.normal(size=(n, 2))
        values = vectors[:, 0] + 0.3 * rng.normal(size=n)
        plain = faithkit.score(values, vectors).consistency
        rows = np.repeat(np.arange(n), 2) if clustered else np.arange(n)
        weights = np.where(rows == 0, 1 + 1e-12, 1.0)
        drawn = {"clusters": rows} if clustered else {"weights": weights}
        nearly = faithkit.score(values[rows], vectors[rows], **drawn).consistency
        assert plain.merging == nearly.merging == "pairs"
        assert nearly.estimate == pytest.approx(plain.estimate, abs=1e-9)
        ratios.append(nearly.moments.merged.se / plain.moments.merged.se)
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)


# --- what the lower end promises ---------------------------------------------------------------------------


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["weights", "clusters"])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_near_numbers_stay_below_the_measure_even_if_weights_tell_the_number(kind, share):
    """Large numbers are drawn less often, and weigh as much more."""
    rng = np.random.default_rng([7, len(kind), int(10 * share)])
    least, lows = [], []
    for _ in range(60):
        vectors = rng.random((300, 2))
        noise = rng.normal(size=300)
        values = np.sqrt(12 * share) * (vectors[:, 0] - 0.5) + np.sqrt(1 - share) * noise
        if kind == "weights":
            weights = np.exp(0.2 * values)
            kept = rng.random(300) < weights.min() / weights
            found = faithkit.score(values[kept], vectors[kept], weights=weights[kept]).consistency
        else:
            rows = np.repeat(np.arange(150), 2)
            found = faithkit.score(values[rows], vectors[rows], clusters=rows).consistency
        least.append(found.moments.estimate)
        lows.append(found.low)
    assert np.mean(least) < share + 4 * np.std(least) / np.sqrt(len(least))
    assert np.mean(np.array(lows) > share + 1e-9) < 0.1
