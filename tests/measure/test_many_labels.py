"""A tally of many labels is kept where it has owners, and every number is that of the two whole tables."""

import contextlib
from unittest import mock

import brute
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from matrices import Matrix, counted
from nearly import assert_nearly
from pages import json_of, page_of

import faithkit
from faithkit.arrays import bitsets
from faithkit.arrays.bitsets import column_sums, pack_bits
from faithkit.errors import InputError
from faithkit.explanations.relations import SameExplanation
from faithkit.measure.agreement import same_label
from faithkit.measure.agreement.same_label import ScopeLabels
from faithkit.measure.baselines.permutation import permutation_p_value
from faithkit.measure.counting import bits, tally
from faithkit.measure.difference import subtract_measures
from faithkit.measure.estimate import estimate
from faithkit.measure.estimators import LeaveOneOut, Majority, PlugIn, VerifiedOnly
from faithkit.measure.jackknife.summary import JackknifeEstimate

# what keeps tables whole, and when a label is common: at 0 and 1 none is, unless everybody has it
NO_TABLES = {(bits, "DENSE"): 0, (tally, "PART_ENTRIES"): 4}
ALL_RARE = {(same_label, "ALWAYS_COMMON"): 0, (same_label, "COMMON"): 1, (same_label, "BATCH_SIZE"): 3}
SOME_RARE = {(same_label, "ALWAYS_COMMON"): 0, (same_label, "COMMON"): 3}
SMALL_BLOCKS = {(bits, "BATCH_BYTES"): 16, (bitsets, "TABLE_BYTES"): 1}
REGIMES = [
    NO_TABLES | ALL_RARE,
    NO_TABLES | SOME_RARE,
    NO_TABLES | ALL_RARE | SMALL_BLOCKS,
    NO_TABLES,
    ALL_RARE,
]


@contextlib.contextmanager
def patch_limits(changed):
    with contextlib.ExitStack() as stack:
        for (module, name), value in changed.items():
            stack.enter_context(mock.patch.object(module, name, value))
        yield


@st.composite
def samples(draw, least=2, most=12):
    """Draw a matrix, the explanation of each row, and labels, of which most occur once or twice."""
    n, m, k = draw(st.integers(least, most)), draw(st.integers(1, 6)), draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = rng.random((m, m)) < draw(st.sampled_from([0.2, 0.5, 0.9]))
    labels = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.5])), 0, rng.integers(0, k, n))
    return matrix, rng.integers(0, m, n), labels, k


def make_relations(matrix):
    """Return a relation that compares pairs, and one that is counted by grouping."""
    return [Matrix(matrix), SameExplanation()]


def compare_pairs(relation, owned):
    if relation.groups:
        return [[bool(a == b) for b in owned] for a in owned]
    return [[bool(relation.matrix[a, b]) for b in owned] for a in owned]


regimes = st.sampled_from(REGIMES)


@given(samples(), regimes)
def test_counts_equal_the_double_loop(case, regime):
    matrix, owned, labels, k = case
    for relation in make_relations(matrix):
        with patch_limits(regime):
            count = counted(relation, owned, labels, k)
        N, A = brute.counts(compare_pairs(relation, owned), labels.tolist())
        assert count.owners.totals[count.owned].tolist() == N
        assert count.owners.alike[count.owner_index].tolist() == A
        assert count.owners.n == len(owned)


@given(samples(), regimes)
def test_the_counts_of_all_labels_equal_the_double_loop(case, regime):
    matrix, owned, labels, k = case
    for relation in make_relations(matrix):
        with patch_limits(regime):
            count = counted(relation, owned, labels, k)
            rows = count.label_counts(np.arange(len(count.explanations)))
            whole = count.tally
        pairs = np.array(compare_pairs(relation, owned))
        expected = [[int((pairs[i] & (labels == y)).sum()) for y in range(k)] for i in range(len(owned))]
        assert rows[count.owned].tolist() == expected
        assert whole.counts.tolist() == rows.tolist()
        is_inside = count.owners.own[count.owner_index]
        assert whole.owners[is_inside, count.owned, count.labels].min() > 0
        assert whole.n == len(owned)


def optimist(tally):
    """Score what cannot be checked as right, and more if there are several labels."""
    several = (tally.counts > 0).sum(axis=1)[:, None] > 1
    return np.where(tally.others > 0, tally.agreeing.clip(0) / tally.others.clip(1), 1.0) * (1 + several) / 2


def compute_estimates(relation, owned, labels, k):
    """Return the estimate of each estimator."""
    count = counted(relation, owned, labels, k)
    facts = JackknifeEstimate.of(count).statistics
    estimators = (LeaveOneOut(), PlugIn(), Majority(), VerifiedOnly())
    return [estimate(count, facts, estimator, 0.9, p_value=None) for estimator in estimators]


@given(samples(), regimes)
@settings(max_examples=10)
def test_every_estimate_equals_what_whole_tables_give(case, regime):
    matrix, *rows = case
    for relation in make_relations(matrix):
        with patch_limits(regime):
            estimates = compute_estimates(relation, *rows)
        assert_nearly(estimates, compute_estimates(relation, *rows))


@given(samples(), regimes)
def test_every_jackknife_value_equals_brute_force_and_those_of_whole_tables(case, regime):
    matrix, owned, labels, k = case
    for relation in make_relations(matrix):
        whole = counted(relation, owned, labels, k)
        with patch_limits(regime):
            count = counted(relation, owned, labels, k)
            side = JackknifeEstimate.of(count)
            share = count.pair_sums(has_influence=True).influence if not relation.groups else None
        expected = brute.pseudo_values(compare_pairs(relation, owned), labels.tolist())
        assert side.disagreement == pytest.approx([v - m for m, v in expected], abs=1e-9)
        if not relation.groups:
            assert side.value == pytest.approx([m for m, _ in expected], abs=1e-9)
        same = JackknifeEstimate.of(whole)
        assert_nearly((side.value, side.disagreement), (same.value, same.disagreement))
        if share is not None:
            assert_nearly(share, whole.pair_sums(has_influence=True).influence)


@given(samples(), samples(), regimes)
def test_differences_equal_those_of_whole_tables(case, other, regime):
    _, owned, labels, k = case
    second = np.resize(other[1], len(owned))

    def compute():
        return subtract_measures(
            *(JackknifeEstimate.of(counted(SameExplanation(), codes, labels, k)) for codes in (owned, second))
        )

    with patch_limits(regime):
        result = compute()
    assert_nearly(result, compute())


def score_items(**options):
    rng = np.random.default_rng(0)
    labels = [f"item {i}" for i in rng.integers(0, 20, 40)]
    return faithkit.score(labels, np.round(rng.normal(size=(40, 1)), 1), permutations=2, **options)


def collect_answers(options):
    """Return all that a result says of its rows."""
    result = score_items(**options)
    return (
        json_of(result),
        result.contradictions(9),
        [result.local(i) for i in range(3)],
        result.by(np.arange(40) % 2).to_dict(),
        faithkit.plan(0.1, pilot=result),
    )


@one_test
@pytest.mark.parametrize(
    ("options", "regime"),
    [
        ({"estimator": "majority"}, REGIMES[0]),
        ({"estimator": optimist, "relation": "near-explanation:tau=0.2"}, REGIMES[2]),
    ],
    ids=["grouping", "another relation"],
)
@pytest.mark.usefixtures("no_next_steps", "few_control_draws")
def test_results_do_not_depend_on_the_size_of_tables(options, regime):
    expected = collect_answers(options)
    with patch_limits(regime):
        assert_nearly(collect_answers(options), expected)


@pytest.mark.usefixtures("no_pictures")
def test_pages_do_not_depend_on_the_size_of_tables():
    expected = page_of(score_items(relation="near-explanation:tau=0.2"))
    with patch_limits(NO_TABLES | ALL_RARE):
        assert page_of(score_items(relation="near-explanation:tau=0.2")) == expected


# --- estimators that need the whole ----------------------------------------------------------------------


def by_frequency(tally):
    return np.broadcast_to(tally.counts.sum(axis=0) / max(1, tally.counts.sum()), tally.owners.shape)


def by_number_of_labels(tally):
    return np.full(tally.owners.shape, 1 / tally.counts.shape[1])


def by_number_of_explanations(tally):
    return np.full(tally.owners.shape, 1 / tally.counts.shape[0])


@one_test
@pytest.mark.parametrize("estimator", [by_frequency, by_number_of_labels, by_number_of_explanations])
@pytest.mark.parametrize("relation", [None, "near-explanation:tau=0.5"])
def test_an_estimator_of_the_whole_tally_gets_it_however_large_its_parts_may_be(estimator, relation):
    labels, phi = np.arange(60) % 7, np.arange(60.0)[:, None] % 11
    expected = faithkit.score(labels, phi, relation=relation, estimator=estimator).consistency.value
    with patch_limits(NO_TABLES):
        result = faithkit.score(labels, phi, relation=relation, estimator=estimator)
    assert result.consistency.value == pytest.approx(expected, abs=1e-12)


def test_an_estimator_gets_every_owner_once_and_the_labels_that_occur():
    parts = []

    class Recording:
        whole = False

        def scores(self, tally):
            parts.append(tally)
            return np.full(tally.owners.shape, 0.5)

    labels, words = np.arange(30) % 6, np.arange(30) // 5
    with patch_limits(NO_TABLES):
        result = faithkit.score(labels, words.tolist(), estimator=Recording())
    assert result.consistency.value == 0.5
    assert sum(part.n for part in parts) == 30
    assert len(parts) > 2
    for part in parts:
        assert part.counts.any(axis=0).all()
        assert part.counts.shape[1] < 6


# --- what is too large ------------------------------------------------------------------------------------


def test_a_tally_too_large_for_memory_is_refused_with_its_size():
    result = faithkit.score(np.arange(20), np.arange(20.0)[:, None] // 2)
    with (
        mock.patch.object(tally, "MAX_ENTRIES", 100),
        pytest.raises(InputError, match="10 explanations × 20 labels"),
    ):
        _ = result.evidence.tallies
    assert result.evidence.tallies["consistency"].counts.shape == (10, 20)


def test_a_contradiction_lists_the_most_frequent_of_many_predictions():
    labels = [0] * 50 + [1] * 2 + list(range(2, 400))
    (worst,) = faithkit.score(labels, ["same"] * len(labels)).contradictions()
    assert len(worst.predictions) == 100
    assert (worst.predictions[0], worst.predictions[1]) == (50, 2)
    assert worst.holds_for == len(labels) == sum(worst.predictions.values()) + worst.unlisted
    payload = worst.to_dict()
    assert (len(payload["predictions"]), payload["unlisted"]) == (100, 300)


def test_no_report_lists_hundreds_of_labels():
    labels = [7] * 3 + [3] * 50 + list(range(400, 800))
    (worst,) = faithkit.score(labels, ["same"] * len(labels)).contradictions()
    expected = ", ".join(f"1 gets {label}" for label in range(400, 407))
    assert worst.scope == f"453 instances: 3 get 7, 50 get 3, {expected} and 393 get something else"


# --- the parts -----------------------------------------------------------------------------------------------


@given(st.integers(1, 80), st.integers(1, 12), st.integers(0, 2**32 - 1), regimes)
def test_label_sets_count_what_is_there(n, k, seed, regime):
    rng = np.random.default_rng(seed)
    labels, matrix = rng.integers(0, k, n), rng.random((5, n)) < 0.4
    row, label = rng.integers(0, 5, 30), rng.integers(0, k, 30)
    with patch_limits(regime):
        sets = ScopeLabels(labels, k)
        bits = pack_bits(matrix)
        sums, table = sets.sums(bits, row, label), sets.table(bits)
    expected = [[int(matrix[u, labels == y].sum()) for y in range(k)] for u in range(5)]
    assert table.tolist() == expected
    assert sums.tolist() == [expected[u][y] for u, y in zip(row, label, strict=True)]


@given(st.integers(1, 90), st.integers(1, 70), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_column_sums_equal_the_double_loop_whatever_the_tables(m, n, k, seed):
    rng = np.random.default_rng(seed)
    matrix, labels = rng.random((m, n)) < 0.4, rng.integers(0, k, n)
    weights = rng.integers(-(2**40), 2**40, (m, k, 2))
    expected = [sum((weights[u, labels[j]] for u in range(m) if matrix[u, j]), np.zeros(2)) for j in range(n)]
    for size in (1, 2**25):
        with mock.patch.object(bitsets, "TABLE_BYTES", size):
            result = column_sums(pack_bits(matrix), weights, labels)
        assert result.tolist() == np.array(expected).tolist()


@one_test
@pytest.mark.parametrize("relation", [Matrix(np.tri(9, dtype=bool)), SameExplanation()])
def test_a_p_value_does_not_depend_on_how_labels_are_kept(relation):
    rng = np.random.default_rng(0)
    owned, labels = rng.integers(0, 9, 40), rng.integers(0, 20, 40)
    whole = counted(relation, owned, labels, 20)
    expected = permutation_p_value(whole, JackknifeEstimate.of(whole).statistics, 20)
    for regime in REGIMES:
        with patch_limits(regime):
            again = counted(relation, owned, labels, 20)
            assert permutation_p_value(again, JackknifeEstimate.of(again).statistics, 20) == expected
