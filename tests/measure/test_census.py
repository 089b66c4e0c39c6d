"""The census: the tally of grouping from pieces, equal to that of the whole sample."""

from itertools import pairwise

import attrs
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nearly import assert_nearly

from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import NearExplanation, SameExplanation
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.counting.bits import Piece, RowBits
from faithkit.measure.counting.census import Census, merge_censuses
from faithkit.measure.counting.count import count
from faithkit.measure.counting.groups import grouped_owners
from faithkit.measure.counting.pair_ratio import PairRatio

SAME = SameExplanation()

rows = st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), st.integers(0, 2)), min_size=1, max_size=40)
cuts = st.lists(st.integers(0, 40), max_size=4)


def take_census(piece, start=0):
    labels = sorted({label for _, label in piece})
    codes = np.array([labels.index(label) for _, label in piece], dtype=np.int64)
    return Census.of(SAME, Explanations.of([word for word, _ in piece]), codes, labels, start)


def cut(sample, edges):
    bounds = sorted({0, len(sample), *(edge for edge in edges if edge < len(sample))})
    return [(a, sample[a:b]) for a, b in pairwise(bounds)]


def list_slots(census):
    """What the census say, whatever their order."""
    words = census.explanations.values
    return sorted(
        (int(first), words[u], census.labels[y], int(n))
        for u, y, n, first in zip(census.owner, census.label, census.count, census.first, strict=True)
    )


def count_owners(sample):
    labels = np.array([label for _, label in sample], dtype=np.int64)
    words = Explanations.of([word for word, _ in sample])
    return count(SAME, Sample(None, words), labels, 3).owners


FIELDS = ("explanation", "label", "rows", "alike", "totals", "own")


def assert_same_owners(owners, expected):
    for name in FIELDS:
        assert getattr(owners, name).tolist() == getattr(expected, name).tolist(), name


@given(rows, cuts)
def test_pieces_unite_to_the_whole(sample, edges):
    parts = [take_census(piece, start) for start, piece in cut(sample, edges)]
    whole = take_census(sample)
    for united in (Census.union(SAME, parts), merge_censuses(SAME, parts)):
        assert list_slots(united) == list_slots(whole)
        assert united.explanations.values.tolist() == whole.explanations.values.tolist()


@given(rows, cuts)
def test_the_slots_of_pieces_are_those_that_counting_gives(sample, edges):
    united = Census.union(SAME, [take_census(piece, start) for start, piece in cut(sample, edges)])
    result = united.relabel(np.array(united.labels), [0, 1, 2])
    assert_same_owners(result.owners, count_owners(sample))


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=2, max_size=40), cuts)
def test_rows_with_a_number_each_unite_to_the_whole_and_have_the_owners_of_numbers_in_order(words, edges):
    numbers = np.random.default_rng(0).normal(size=len(words))

    def rows_of(start, piece):
        return Census.of(SAME, Explanations.of(piece), None, numbers[start : start + len(piece)], start)

    parts = [rows_of(start, piece) for start, piece in cut(words, edges)]
    numbered = Squares.of_numbers(numbers[:, None], np.ones(len(words), dtype=np.int64))
    for united in (Census.union(SAME, parts), merge_censuses(SAME, parts)):
        assert united.are_rows
        assert united.explanations.values[united.owner].tolist() == words
        assert united.labels.tolist() == numbers.tolist()
        owners = attrs.evolve(united, agreement=numbered).owners
        same = grouped_owners(
            united.owner, united.label, united.count, ~united.explanations.missing, numbered
        )
        assert_same_owners(owners, same)
        assert owners.part(1, 2).label.tolist() == [1]


@given(rows)
def test_some_slots_are_those_of_the_rows_that_are_left(sample):
    whole = take_census(sample)
    codes = [code for code in range(len(whole.label)) if whole.labels[whole.label[code]] != 1]
    other_rows = [row for row in sample if row[1] != 1]
    if other_rows:
        part, expected = whole.take(np.array(codes)), take_census(other_rows)
        assert part.explanations.values.tolist() == expected.explanations.values.tolist()
        assert [row[1:] for row in list_slots(part)] == [row[1:] for row in list_slots(expected)]


@given(rows)
def test_labels_that_fall_together_are_counted_together(sample):
    whole = take_census(sample)
    result = whole.relabel(np.minimum(whole.labels, 1), [0, 1])
    assert list_slots(result) == list_slots(take_census([(word, min(label, 1)) for word, label in sample]))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=2, max_size=30), cuts)
def test_other_relations_are_counted_piece_by_piece(sample, edges):
    near = NearExplanation(tau=1.0)

    def sample_of(part):
        gone = np.array([value == 6 for value, _ in part])
        return Sample(None, Explanations.vectors([[float(value)] for value, _ in part], missing=gone))

    def codes(part):
        return np.array([label for _, label in part], dtype=np.int64)

    expected = count(near, sample_of(sample), codes(sample), 2)
    census = Census.of(near, sample_of(sample).explanations, codes(sample), [0, 1])

    def map_pieces(function):
        for start, part in cut(sample, edges):
            rows = np.arange(start, start + len(part))
            yield function(Piece(sample_of(part), codes(part), expected.owned[rows], 0, rows))

    pieced = RowBits.count(near, census.slots, map_pieces, np.ones(1, dtype=np.int64))
    assert_same_owners(pieced.owners, expected.owners)
    assert pieced.entry_of_row.tolist() == expected.owner_index.tolist()
    ratio = PairRatio(SAME_LABEL, len(sample), is_mixed=False)
    assert_nearly(
        attrs.astuple(pieced.pair_sums(ratio)), attrs.astuple(expected.pair_sums(has_influence=True))
    )
