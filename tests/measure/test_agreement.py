"""Agreement of numbers, score vectors and numbers with a tolerance, against plain double loops."""

from fractions import Fraction

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import NearExplanation, SameExplanation
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.agreement.within_tolerance import Within
from faithkit.measure.baselines.permutation import permutation_p_value
from faithkit.measure.counting.count import count
from faithkit.measure.counting.pool import Pool
from faithkit.measure.difference import JackknifeEstimate


def _encode(values):
    numbers, codes, times = np.unique(values, return_inverse=True, return_counts=True)
    return codes, numbers, times


def _encode_divided(values):
    codes, numbers, times = _encode(values)
    return codes, Squares.of_numbers(numbers[:, None], times)


def _encode_within(values, epsilon=0.5):
    codes, numbers, _ = _encode(values)
    return codes, Within(numbers, epsilon)


def _compare(values, divisor):
    """How far two predictions agree, for every pair."""
    return 1 - (values[:, None] - values[None]) ** 2 / 2 / divisor


KINDS = {
    "numbers": (_encode_divided, lambda y: _compare(y, np.var(y, ddof=1))),
    "within": (_encode_within, lambda y: (np.abs(y[:, None] - y[None]) <= 0.5 + 1e-9).astype(float)),
    "labels": (lambda y: (_encode(y)[0], SAME_LABEL), lambda y: (y[:, None] == y[None]).astype(float)),
}
RELATIONS = {
    "equality": (SameExplanation(), lambda e: np.abs(e[:, None] - e[None]) == 0),
    "near": (NearExplanation(tau=0.3), lambda e: np.abs(e[:, None] - e[None]) <= 0.3 + 1e-12),
}


def _compute_by_pairs(y, e, agree, holds):
    """M and V by definition: rows of `holds` are explanations, columns instances."""
    compared = holds(e) & ~np.eye(len(y), dtype=bool)
    others = compared.sum(axis=1)
    shares = (compared * agree(y)).sum(axis=1) / np.maximum(others, 1)
    return shares.mean(), (others > 0).mean()


def _draw(seed, n=24):
    rng = np.random.default_rng(seed)
    e = rng.integers(0, 6, n) / 5
    y = np.round(e + rng.normal(size=n), 1)
    return y, e


@one_test
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_value_and_errors_are_those_of_a_double_loop_that_leaves_out_each_row(kind, relation, seed):
    y, e = _draw(seed)
    encode, agree = KINDS[kind]
    relation_object, holds = RELATIONS[relation]
    codes, agreement = encode(y)
    sample = Sample(None, Explanations.vectors(e[:, None]))
    counted = count(relation_object, sample, codes, len(np.unique(y)), agreement=agreement)
    side = JackknifeEstimate.of(counted)
    value, verified = _compute_by_pairs(y, e, agree, holds)
    assert (side.statistics.value, side.statistics.verified) == pytest.approx((value, verified), abs=1e-12)
    n = len(y)
    left = [np.arange(n) != j for j in range(n)]
    without = np.array([_compute_by_pairs(y[rows], e[rows], agree, holds) for rows in left])
    psi = n * value - (n - 1) * without[:, 0]
    assert (side.statistics.se or 0.0) == pytest.approx(np.std(psi, ddof=1) / np.sqrt(n), abs=1e-12)
    psi_q = n * (verified - value) - (n - 1) * (without[:, 1] - without[:, 0])
    assert side.disagreement == pytest.approx(psi_q, abs=1e-10)
    if relation == "near":
        assert side.value == pytest.approx(psi, abs=1e-10)


def test_rows_that_are_near_are_not_merged_for_together_they_agree_more_than_apart():
    y = np.array([0.0, 2.0, 1.0, 1.0])
    codes, agreement = _encode_within(y, 1.0)
    sample = Sample(None, Explanations.of(["a", "b", "c", "d"]))
    facts = JackknifeEstimate.of(count(SameExplanation(), sample, codes, 3, agreement=agreement)).statistics
    assert facts.merging is None
    assert (facts.estimate, facts.compared) == (0, 0)


@one_test
@pytest.mark.parametrize("relation", RELATIONS)
def test_one_hot_scores_give_the_measure_of_labels(relation):
    rng = np.random.default_rng(3)
    labels, e = rng.integers(0, 3, 60), rng.integers(0, 12, 60) / 5
    sample, relation_object = Sample(None, Explanations.vectors(e[:, None])), RELATIONS[relation][0]
    scores = Squares.of_scores(np.eye(3), np.bincount(labels))
    by_label, by_score = (
        JackknifeEstimate.of(count(relation_object, sample, labels, 3, agreement=agreement))
        for agreement in (SAME_LABEL, scores)
    )
    expected, result = by_label.statistics, by_score.statistics
    for name in ("value", "verified", "estimate", "compared", "se", "se_disagreement"):
        assert getattr(result, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    assert result.units.trials == pytest.approx(expected.units.trials, abs=1e-12)
    assert by_score.value == pytest.approx(by_label.value, abs=1e-12)


def test_a_constant_explanation_accounts_for_nothing():
    y = np.random.default_rng(0).normal(size=200)
    codes, agreement = _encode_divided(y)
    sample = Sample(None, Explanations.of(["same"] * 200))
    facts = JackknifeEstimate.of(count(SameExplanation(), sample, codes, 200, agreement=agreement)).statistics
    assert facts.value == pytest.approx(0, abs=1e-12)


@one_test
@pytest.mark.parametrize("shift", [0.0, 1e3, -1e9])
@pytest.mark.parametrize("scale", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("relation", RELATIONS)
def test_shifting_and_scaling_numbers_changes_nothing(shift, scale, relation):
    y, e = _draw(1)
    y = np.round(y * 8) / 8  # so that no shift rounds them
    sample, relation_object = Sample(None, Explanations.vectors(e[:, None])), RELATIONS[relation][0]
    results = []
    for numbers in (y, (y + shift) * scale):
        codes, agreement = _encode_divided(numbers)
        facts = JackknifeEstimate.of(
            count(relation_object, sample, codes, len(np.unique(y)), agreement=agreement)
        ).statistics
        results.append([facts.value, facts.verified, facts.se, facts.se_disagreement])
    assert results[0] == pytest.approx(results[1], abs=1e-9)


@one_test
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_shuffled_predictions_have_the_p_values_of_a_plain_loop(kind, relation):
    y, e = _draw(2)
    encode, agree = KINDS[kind]
    relation_object, holds = RELATIONS[relation]
    codes, agreement = encode(y)
    sample = Sample(None, Explanations.vectors(e[:, None]))
    counted = count(relation_object, sample, codes, len(np.unique(y)), agreement=agreement)
    rng = np.random.default_rng(5)
    observed = _compute_by_pairs(y, e, agree, holds)[0]
    means = [_compute_by_pairs(rng.permutation(y), e, agree, holds)[0] for _ in range(150)]
    expected = np.mean([mean >= observed - 1e-12 for mean in means])
    assert permutation_p_value(counted, JackknifeEstimate.of(counted).statistics, 199) == pytest.approx(
        expected, abs=0.1
    )


def divisor_left(numbers, is_explained):
    """Return the share of the divisor without each row, where every row has a number of its own."""
    places = np.arange(len(is_explained), dtype=float)[:, None]
    sample = Sample(places[is_explained], Explanations.of(["all"] * int(is_explained.sum())))
    label = np.arange(len(is_explained))
    pool = None if is_explained.all() else Pool.of(places[~is_explained], label[~is_explained])
    everything = faithkit.relation(lambda x, explanation: True)
    return count(everything, sample, label[is_explained], len(label), pool, numbers).divisor_left()


def _mean_disagreement(explained, pool):
    """Of an explained row with any other, as two loops."""
    everybody = np.concatenate([explained, pool])
    apart = [
        ((point - other) ** 2).sum() / 2
        for i, point in enumerate(explained)
        for j, other in enumerate(everybody)
        if i != j
    ]
    return np.mean(apart)


@one_test
@pytest.mark.parametrize("n_pool", [0, 5])
@pytest.mark.parametrize("outputs", [1, 3])
def test_what_the_divisor_loses_with_a_row_is_what_a_double_loop_without_it_lacks(outputs, n_pool):
    rng = np.random.default_rng(outputs)
    values = rng.normal(size=(8 + n_pool, outputs))
    is_explained = np.arange(len(values)) < 8
    result = Squares.of_numbers(values, is_explained.astype(np.int64), ~is_explained * 1 if n_pool else None)
    explained, pool = result.points[is_explained], result.points[~is_explained]
    assert _mean_disagreement(explained, pool) == pytest.approx(1.0, rel=1e-12)
    without = [_mean_disagreement(np.delete(explained, i, axis=0), pool) for i in range(8)]
    without += [_mean_disagreement(explained, np.delete(pool, i, axis=0)) for i in range(n_pool)]
    assert divisor_left(result, is_explained) == pytest.approx(without, rel=1e-12)


def test_of_two_rows_the_divisor_loses_all_with_either():
    result = Squares.of_numbers(np.array([[1.0], [3.0]]), np.array([1, 1]))
    assert divisor_left(result, np.ones(2, dtype=bool)).tolist() == [0.0, 0.0]


def test_slots_that_each_have_a_label_of_their_own_need_not_name_it():
    row, values = np.array([0, 1, 0, 1, 1]), np.array([0.1, 0.4, 0.5, 0.7, 2.0])
    once, own = np.ones(5, dtype=np.int64), np.arange(5)
    numbers = Squares.of_numbers(values[:, None], once)
    named = numbers.sum_over_slots(row, own, once)
    assert numbers.sum_over_slots(row, None, once, np.array([2, 3])).tolist() == named.tolist()
    in_order, near = np.sort(row), Within(values, 0.3)
    assert (
        near.sum_over_slots(in_order, None, once).tolist()
        == near.sum_over_slots(in_order, own, once).tolist()
    )


# numbers and a tolerance, as decimal fractions
TOLERANCES = {
    "a difference of ε": (["0.1", "0.3", "0.5", "0.7000001"], "0.2"),
    "below 0": (["-0.7", "-0.5", "-0.2", "0", "0.1"], "0.3"),
    "large numbers": (["1000000000.1", "1000000000.3", "1000000000.6"], "0.2"),
    "no tolerance": (["0.1", "0.2", "0.3"], "0"),
    "one is far away": (["0.1", "0.3", "0.6", "100000000000000000000"], "0.2"),
    "two are far away": (["-1e300", "0.1", "0.3", "0.6", "1e300"], "0.2"),
}


@one_test
@pytest.mark.parametrize(("texts", "epsilon"), TOLERANCES.values(), ids=TOLERANCES)
def test_numbers_agree_that_differ_by_at_most_the_tolerance(texts, epsilon):
    result = Within(np.array(texts, dtype=float), float(epsilon))
    exact = [Fraction(text) for text in texts]
    expected = [[abs(number - other) <= Fraction(epsilon) for other in exact] for number in exact]
    labels = np.arange(len(exact))
    assert [(result.disagreement(label, labels) == 0).tolist() for label in labels] == expected
