"""Numbers, scores and tolerances of rows with weights or clusters, against loops from the definitions."""

from functools import partial

import brute_unequal
import numpy as np
import pytest
from matrices import Matrix

import faithkit
from faithkit.errors import InputError
from faithkit.inputs.labels import encode
from faithkit.inputs.outcome import Outcome
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
    result = faithkit.score(values, ["x"] * 4 + ["y"], weights=weights, clusters=clusters)
    everybody = brute_unequal.estimate(
        [[True] * 5] * 5, values, weights, clusters, agree=lambda one, other: 1 - (one - other) ** 2 / 2
    )
    expected = 1 - (1 * 4.5 + 3 * 0.5) / 4 / (1 - everybody[0])
    found = result.local(0).consistency
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert (found.numbers.least, found.numbers.most) == (2.0, 4.0)


def test_witnesses_are_of_two_clusters():
    values, clusters = [1.0, 100.0, 3.0, 4.0], ["a", "a", "b", "c"]
    worst = faithkit.score(values, ["x"] * 4, clusters=clusters).violations(1)[0]
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
