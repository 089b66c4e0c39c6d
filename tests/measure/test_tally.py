"""Counts equal the double loop, whatever the explanations, the relation, the order or the blocks."""

import math
import operator

import brute
import brute_merging
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from matrices import Matrix

from faithkit.arrays import bitsets, grouping
from faithkit.errors import ContractError, InputError
from faithkit.explanations import relations
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import NearExplanation, Relation, SameExplanation
from faithkit.measure.counting import bits
from faithkit.measure.counting.count import count
from faithkit.measure.jackknife.summary import JackknifeEstimate

FINITE = [0.0, -0.0, 1.0, float("nan"), -float("nan"), 1e-320, 0.1, 0.1 + 2**-55]
AWKWARD = st.sampled_from([*FINITE, float("inf")])


def count_rows(counted):
    N = counted.tally.counts.sum(axis=1)[counted.owned]
    A = counted.tally.counts[counted.owned, counted.labels]
    return N.tolist(), A.tolist()


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def make_sample(values, **fields):
    return Sample(None, Explanations.of(values, **fields))


@st.composite
def labelled_vectors(draw):
    n, d, k = draw(st.integers(0, 12)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(st.sampled_from(FINITE), min_size=d, max_size=d), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    return np.array(rows, dtype=dtype).reshape(n, d), np.array(labels, dtype=np.int64), k


@given(labelled_vectors())
def test_counts_of_vectors_equal_the_double_loop(case):
    vectors, labels, k = case
    plain = [tuple(map(float, row)) for row in vectors]
    holds = [[brute.same(a, b) and not all(map(math.isnan, a)) for b in plain] for a in plain]
    counted = count(SameExplanation(), Sample(None, Explanations.vectors(vectors)), labels, k)
    assert count_rows(counted) == tuple(map(list, brute.counts(holds, labels)))


HASHABLES = st.recursive(
    st.one_of(st.integers(0, 2), st.sampled_from(["a", "b"]), AWKWARD, st.booleans()),
    lambda inner: st.lists(inner, max_size=2).map(tuple),
    max_leaves=3,
)


@given(st.lists(st.tuples(HASHABLES, st.integers(0, 4)), max_size=12))
def test_counts_of_hashables_equal_the_double_loop(rows):
    values, labels = [v for v, _ in rows], [y for _, y in rows]
    holds = [[brute.same(a, b) and not is_nan(a) for b in values] for a in values]
    counted = count(SameExplanation(), make_sample(values), np.array(labels, dtype=np.int64), 5)
    assert count_rows(counted) == tuple(map(list, brute.counts(holds, labels)))


@st.composite
def labelled_matrices(draw, least=0, most=9):
    n, k = draw(st.integers(least, most)), draw(st.integers(1, 5))
    m = draw(st.integers(1, max(1, n)))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    matrix = rng.random((m, m)) < draw(st.sampled_from([0.1, 0.5, 0.9]))
    return matrix, rng.integers(0, m, n), rng.integers(0, k, n), k


def compare_pairs(matrix, owned):
    return [[bool(matrix[a, b]) for b in owned] for a in owned]


def counted_matrix(relation, owned, labels, k, missing=None):
    gone = np.zeros(len(owned), dtype=bool) if missing is None else missing
    explanations = Explanations(kind="number", values=np.asarray(owned, dtype=np.int64), missing=gone)
    return count(relation, Sample(None, explanations), labels, k)


@given(labelled_matrices())
def test_counts_of_any_relation_equal_the_double_loop(case):
    matrix, owned, labels, k = case
    counted = counted_matrix(Matrix(matrix), owned, labels, k)
    holds = compare_pairs(matrix, owned)
    assert count_rows(counted) == tuple(map(list, brute.counts(holds, labels)))
    assert (counted.owners.own[counted.owner_index] > 0).tolist() == [holds[i][i] for i in range(len(owned))]
    assert counted.tally.n == len(owned)


@given(labelled_matrices(), labelled_matrices())
def test_composed_relations_equal_the_composed_double_loop(case, other):
    matrix, owned, labels, k = case
    second = np.resize(other[0], matrix.shape)
    composed = (Matrix(matrix) & ~Matrix(second)) | ~(SameExplanation() | Matrix(second))
    holds = [
        [(matrix[a, b] and not second[a, b]) or not (a == b or second[a, b]) for b in owned] for a in owned
    ]
    counted = counted_matrix(composed, owned, labels, k)
    assert count_rows(counted) == tuple(map(list, brute.counts(holds, labels)))


def mentions(x, explanation):
    return explanation in x


@one_test
@pytest.mark.parametrize(
    ("other", "named"),
    [
        ("in-scope", "'in-scope'"),
        (mentions, "mentions"),
        (None, "a NoneType"),
        (SameExplanation, "SameExplanation"),
    ],
)
def test_composing_with_another_object_is_refused_and_names_faithkit_relation(other, named):
    for compose in (operator.and_, operator.or_):
        with pytest.raises(
            InputError, match=f"same-explanation cannot be composed with {named}, .*faithkit.relation"
        ):
            compose(SameExplanation(), other)


@given(labelled_matrices())
def test_two_groupings_intersect_into_a_grouping(case):
    _, owned, labels, k = case

    class Parity(SameExplanation):
        def key(self, explanations):
            return explanations.values % 2

    both = SameExplanation() & Parity()
    assert both.groups
    holds = [[a == b for b in owned] for a in owned]
    assert count_rows(counted_matrix(both, owned, labels, k)) == tuple(map(list, brute.counts(holds, labels)))


@given(labelled_matrices(least=1), st.data())
def test_a_missing_explanation_holds_for_nothing_even_under_negation(case, data):
    matrix, owned, labels, k = case
    missing = np.array(data.draw(st.lists(st.booleans(), min_size=len(owned), max_size=len(owned))))
    for relation, truth in [
        (SameExplanation(), lambda i, j: owned[i] == owned[j] and not missing[j]),
        (~SameExplanation(), lambda i, j: not (owned[i] == owned[j] and not missing[j])),
        (Matrix(matrix), lambda i, j: matrix[owned[i], owned[j]]),
    ]:
        n = len(owned)
        holds = [[not missing[i] and bool(truth(i, j)) for j in range(n)] for i in range(n)]
        counted = counted_matrix(relation, owned, labels, k, missing)
        assert count_rows(counted) == tuple(map(list, brute.counts(holds, labels)))
        assert counted.tally.n == n


@given(labelled_matrices(least=2, most=8))
def test_every_delete_one_jackknife_value_equals_brute_force(case):
    matrix, owned, labels, k = case
    for relation, holds in [
        (Matrix(matrix), compare_pairs(matrix, owned)),
        (SameExplanation(), [[a == b for b in owned] for a in owned]),
        (SameExplanation() & Matrix(matrix), [[a == b and matrix[a, b] for b in owned] for a in owned]),
    ]:
        counted = counted_matrix(relation, owned, labels, k)
        result = JackknifeEstimate.of(counted)
        expected = brute.pseudo_values(holds, labels.tolist())
        assert result.disagreement == pytest.approx([v - m for m, v in expected], abs=1e-9)
        if relation.groups:
            blocks = brute_merging.blocks_of(owned.tolist())
            value = brute_merging.pseudo_values(blocks, labels.tolist())[1]
        else:
            value = [m for m, _ in expected]
            few = len(owned) / (1 + brute.most_weight(holds, labels))
            influence = counted.pair_sums(has_influence=True).influence
            assert len(owned) / (1 + influence.max()) == pytest.approx(few, abs=1e-12)
        assert result.value == pytest.approx(value, abs=1e-9)


@settings(max_examples=10)
@given(labelled_matrices(least=1), st.randoms(use_true_random=False))
def test_row_order_block_size_and_threads_change_no_count(case, random):
    matrix, owned, labels, k = case
    reference = count_rows(counted_matrix(Matrix(matrix), owned, labels, k))
    order = list(range(len(owned)))
    random.shuffle(order)
    saved = bits.BATCH_BYTES, relations.BATCH_ELEMENTS, bitsets.BATCH_WORDS, grouping.BATCH_ROWS
    try:
        bits.BATCH_BYTES, relations.BATCH_ELEMENTS, bitsets.BATCH_WORDS, grouping.BATCH_ROWS = 8, 1, 1, 1
        shuffled = count_rows(counted_matrix(Matrix(matrix), owned[order], labels[order], k))
    finally:
        bits.BATCH_BYTES, relations.BATCH_ELEMENTS, bitsets.BATCH_WORDS, grouping.BATCH_ROWS = saved
    for table, again in zip(reference, shuffled, strict=True):
        assert [table[i] for i in order] == again


def test_a_hash_collision_costs_time_and_never_an_answer(monkeypatch):
    rng = np.random.default_rng(0)
    vectors = rng.integers(0, 3, (200, 2)).astype(float)
    expected = grouping.group(vectors).codes
    monkeypatch.setattr(grouping, "hash_rows", lambda rows: rows[:, 0] // np.uint64(2**60))
    assert grouping.group(vectors).codes.tolist() == expected.tolist()


@given(st.lists(st.text(st.sampled_from("aé\u0301\ud800\0 "), max_size=3), max_size=20), st.booleans())
def test_texts_are_grouped_by_pythons_equality_whatever_is_beside_them(texts, other):
    values = [*texts, "nan", "None", *([("a",)] if other else [])]
    groups = grouping.group(values)
    distinct = list(dict.fromkeys(values))
    assert groups.codes.tolist() == [distinct.index(value) for value in values]
    assert groups.first.tolist() == [values.index(value) for value in distinct]


def test_frames_group_by_value_with_missing_cells_equal():
    frame = pd.DataFrame(
        {
            "job": ["clerk", None, None, "clerk"],
            "age": [1.0, np.nan, np.nan, 1.0],
            "n": pd.array([1, None, None, 2], dtype="Int64"),
            "c": pd.Categorical(["x", "y", "y", "x"]),
            "when": pd.to_datetime(["2020", "2021", "2021", "2020"]),
        }
    )
    assert grouping.group(frame).codes.tolist() == [0, 1, 1, 2]


def test_float32_and_float64_batches_are_not_joined():
    parts = [Explanations.vectors(np.zeros((1, 1), dtype)) for dtype in (np.float32, np.float64)]
    with pytest.raises(InputError, match="one dtype"):
        Explanations.concat(parts)


@given(labelled_vectors(), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from(["euclidean", "cityblock"]))
def test_near_explanation_equals_the_double_loop(case, tau, metric):
    vectors, labels, k = case

    def near(a, b):
        gaps = [abs(float(x) - float(y)) for x, y in zip(a, b, strict=True)]
        distance = sum(gaps) if metric == "cityblock" else sum(g * g for g in gaps) ** 0.5
        return distance <= tau

    holds = [[near(a, b) for b in vectors] for a in vectors]
    sample = Sample(None, Explanations.vectors(vectors))
    assert count_rows(count(NearExplanation(tau, metric), sample, labels, k)) == tuple(
        map(list, brute.counts(holds, labels))
    )


class Wrong(Relation):
    def __init__(self, answer, packed=None):
        self.answer = answer
        if packed is not None:
            self.packed = lambda sample, explanations: packed

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return self.answer


@one_test
@pytest.mark.parametrize(
    ("relation", "message"),
    [
        (Wrong(np.ones((2, 3))), r"float64 \(2, 3\); expected bool \(2, 3\)"),
        (Wrong(np.ones((3, 2), bool)), r"bool \(3, 2\); expected bool \(2, 3\)"),
        (Wrong([[True]]), "list; expected bool"),
        (Wrong(None, np.ones((2, 1), np.uint8)), "uint8.*use faithkit.plugin.pack_bits"),
        (Wrong(None, np.full((2, 1), 2**64 - 1, np.uint64)), "ones behind bit 3"),
    ],
)
def test_a_relation_of_the_wrong_shape_or_dtype_is_refused(relation, message):
    with pytest.raises(ContractError, match=message):
        count(relation, make_sample(["a", "b", "a"]), np.zeros(3, np.int64), 1)


def test_lengths_that_differ_are_refused():
    with pytest.raises(InputError, match="2 predictions for 3 explanations"):
        count(SameExplanation(), make_sample(["a", "b", "a"]), np.zeros(2, np.int64), 1)
