"""A paired difference is of the same rows, one by one, or there is none: nothing is paired or unpaired in silence."""

import functools

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from scipy import sparse

import faithkit
from faithkit.inputs import seeds
from faithkit.run.populations import row_metadata

pytestmark = pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")  # of few rows that repeat

RNG = np.random.default_rng(0)
N = 60
FRAME = pd.DataFrame({"age": RNG.integers(20, 60, N), "job": RNG.choice(["cook", "smith"], N)})
NUMBERS = RNG.normal(size=(N, 3)).round(2)
TEXTS = [f"film {number}" for number in range(N)]
LABELS = RNG.choice(["no", "yes"], N).tolist()
OTHER_LABELS = RNG.choice(["no", "yes"], N).tolist()
WORDS, OTHER_WORDS = RNG.integers(0, 4, (2, N)).tolist()


def compare_scores(X, other_X, labels=LABELS, other_labels=LABELS, **options):
    result = faithkit.score(labels, WORDS, X=X)
    return result.difference(faithkit.score(other_labels, OTHER_WORDS, X=other_X), **options)


def reverse(X):
    return X.iloc[::-1] if isinstance(X, pd.DataFrame) else X[::-1]


SAME = {
    "the same object": (FRAME, FRAME),
    "a copy": (FRAME, FRAME.copy()),
    "another index": (FRAME, FRAME.set_axis(range(500, 500 + N))),
    "an index that runs backwards": (FRAME, FRAME.set_axis(range(N)[::-1])),
    "other names of columns": (FRAME, FRAME.set_axis(["a", "b"], axis="columns")),
    "whole numbers as floats": (FRAME, FRAME.astype({"age": float})),
    "texts as categories": (FRAME, FRAME.astype({"job": "category"})),
    "an array and its frame": (NUMBERS, pd.DataFrame(NUMBERS)),
    "zeros of both signs": (np.zeros((N, 1)), -np.zeros((N, 1))),
    "missing cells": (FRAME.where(FRAME["age"] > 30), FRAME.where(FRAME["age"] > 30)),
    "texts": (TEXTS, list(TEXTS)),
    "sparse matrices": (sparse.csr_matrix(NUMBERS), sparse.csc_matrix(NUMBERS)),
    "one of them sparse, by its predictions": (sparse.csr_matrix(NUMBERS), NUMBERS),
    "no instances, by its predictions": (None, None),
    "instances of one only, by its predictions": (FRAME, None),
}


@functools.cache
def pair_by_predictions():
    difference = compare_scores(None, None)
    assert difference != compare_scores(None, None, paired=False)  # else this would show nothing
    return difference


@one_test
@pytest.mark.parametrize("which", SAME)
def test_rows_that_are_the_same_are_paired_however_they_are_held(which):
    assert compare_scores(*SAME[which]) == pair_by_predictions()


@one_test
@pytest.mark.parametrize(
    "X", [FRAME, NUMBERS, TEXTS, sparse.csr_matrix(NUMBERS)], ids=lambda X: type(X).__name__
)
def test_the_same_rows_in_another_order_are_refused_whatever_their_index(X):
    with pytest.raises(
        faithkit.errors.InputError, match=r"the same rows in another order.*pandas' index.*in one order"
    ):
        compare_scores(X, reverse(X))


def change_cell(X, row):
    changed = X.copy()
    changed[row, -1] += 1.0
    return changed


@one_test
@pytest.mark.parametrize(
    ("X", "other", "row"),
    [
        (NUMBERS, change_cell(NUMBERS, 17), 17),
        (NUMBERS, NUMBERS[:, :2], 0),
        (FRAME, FRAME.assign(job="cook"), int((FRAME["job"] != "cook").to_numpy().argmax())),
        (TEXTS, [*TEXTS[:-1], "another film"], N - 1),
    ],
    ids=["one cell", "fewer columns", "another column", "a text"],
)
def test_other_rows_are_refused_and_the_first_of_them_is_named(X, other, row):
    with pytest.raises(
        faithkit.errors.InputError, match=rf"row {row} has other values here than there.*paired=False"
    ):
        compare_scores(X, other)
    assert compare_scores(X, other, paired=False) == compare_scores(None, None, paired=False)


def test_rows_that_repeat_are_counted_when_orders_are_compared():
    mostly_ones = np.repeat([[1.0], [2.0]], [N - 1, 1], axis=0)
    mostly_twos = np.repeat([[1.0], [2.0]], [1, N - 1], axis=0)
    with pytest.raises(faithkit.errors.InputError, match="row 1 has other values"):
        compare_scores(mostly_ones, mostly_twos)


def test_two_models_on_the_same_rows_are_paired_by_the_rows():
    result = compare_scores(FRAME, FRAME.copy(), other_labels=OTHER_LABELS)
    assert result != compare_scores(FRAME, FRAME, other_labels=OTHER_LABELS, paired=False)


def test_without_instances_other_predictions_are_no_pair():
    row = next(row for row in range(N) if LABELS[row] != OTHER_LABELS[row])
    message = rf"'{LABELS[row]}' here and '{OTHER_LABELS[row]}' there in row {row}.*index.*give both X, or say paired"
    with pytest.raises(faithkit.errors.InputError, match=message):
        compare_scores(None, None, other_labels=OTHER_LABELS)


@one_test
@pytest.mark.parametrize(
    "same",
    [pd.Series(LABELS, index=range(N)[::-1]), np.array(LABELS, dtype=object), pd.Categorical(LABELS)],
    ids=["a Series", "objects", "categories"],
)
def test_predictions_are_the_same_however_they_are_held(same):
    assert compare_scores(None, None, other_labels=same) == pair_by_predictions()


def test_labels_are_compared_by_value_not_by_their_place_among_those_that_occur():
    ones, twos = [1] * N, [2] * N
    with pytest.raises(faithkit.errors.InputError, match="'1' here and '2' there in row 0"):
        compare_scores(None, None, ones, twos)
    assert compare_scores(None, None, [True] * N, ones) == compare_scores(None, None, ones, ones)


def test_samples_of_two_sizes_are_no_pair():
    short = faithkit.score(LABELS[:-1], WORDS[:-1])
    with pytest.raises(
        faithkit.errors.InputError, match="samples of 60 and 59 rows are no pair: say paired=False"
    ):
        faithkit.score(LABELS, WORDS).difference(short)


def test_instances_that_explanations_bring_along_tell_rows_apart():
    first = faithkit.score(LABELS, faithkit.Explanations.of(WORDS, instances=TEXTS))
    second = faithkit.score(LABELS, faithkit.Explanations.of(OTHER_WORDS, instances=TEXTS[::-1]))
    with pytest.raises(faithkit.errors.InputError, match="in another order"):
        first.difference(second)


def test_rows_whose_cells_have_no_hash_are_paired_by_their_predictions():
    cells = pd.DataFrame({"tags": [[number] for number in range(N)]})
    assert compare_scores(cells, cells.copy()) == pair_by_predictions()
    with pytest.raises(faithkit.errors.InputError, match="no pair by their predictions"):
        compare_scores(cells, cells.copy(), other_labels=OTHER_LABELS)


HOUSES, FLATS = np.arange(N) // 4, np.arange(N) // 2
LIGHT, HEAVY = np.linspace(1, 2, N), np.linspace(2, 3, N)


@one_test
@pytest.mark.parametrize(
    ("design", "other_design"),
    [
        ({"weights": LIGHT}, {}),
        ({"weights": LIGHT}, {"weights": HEAVY}),
        ({"clusters": HOUSES}, {}),
        ({"clusters": HOUSES}, {"clusters": FLATS}),
        ({"clusters": HOUSES, "weights": LIGHT}, {"clusters": HOUSES}),
    ],
    ids=[
        "weights of one",
        "other weights",
        "clusters of one",
        "other clusters",
        "clusters, and weights of one",
    ],
)
def test_rows_that_were_drawn_in_two_ways_are_no_pair(design, other_design):
    first, second = (faithkit.score(LABELS, WORDS, **options) for options in (design, other_design))
    with pytest.raises(faithkit.errors.InputError, match="no pair: their weights, clusters or blocks are"):
        first.difference(second)
    with pytest.raises(faithkit.errors.InputError, match="no pair: their weights, clusters or blocks are"):
        second.difference(first)


@one_test
@pytest.mark.parametrize(
    ("design", "role"),
    [
        ({"weights": LIGHT}, "weights or clusters"),
        ({"clusters": HOUSES}, "clusters"),
        ({"blocks": HOUSES}, "blocks"),
    ],
    ids=["weights", "clusters", "blocks"],
)
def test_samples_are_not_compared_if_one_alone_has_weights_clusters_or_blocks(design, role, tmp_path):
    path = tmp_path / "plain.json"
    drawn, plain = faithkit.score(LABELS, WORDS, **design), faithkit.score(LABELS, WORDS)
    plain.write(path)
    for other in (plain, faithkit.load(path)):
        with pytest.raises(faithkit.errors.InputError, match=f"this sample alone has {role}, which make it"):
            drawn.difference(other, paired=False)
        with pytest.raises(
            faithkit.errors.InputError, match=f"the reference alone has {role}, which make it"
        ):
            other.difference(drawn, paired=False)


def test_samples_of_other_weights_are_compared():
    light, heavy = (faithkit.score(LABELS, WORDS, weights=weights) for weights in (LIGHT, HEAVY))
    assert light.difference(heavy, paired=False).low < 0


def test_a_group_whose_weights_happen_to_be_alike_is_compared_with_the_rest():
    weights = np.where(np.arange(N) < N // 2, 1.0, LIGHT)
    groups = faithkit.score(LABELS, WORDS, weights=weights).by(np.arange(N) < N // 2)
    assert groups.difference(True) is not None


@one_test
@pytest.mark.parametrize(
    "designs",
    [
        [{"weights": LIGHT}, {"weights": 2 * LIGHT}],
        [{"clusters": HOUSES}, {"clusters": [f"house {house}" for house in HOUSES]}],
        [{"weights": [1] * N}, {}],
    ],
    ids=["in proportion", "by another name", "all alike"],
)
def test_weights_and_clusters_that_say_the_same_are_a_pair(designs):
    first, second = (faithkit.score(LABELS, WORDS, **design) for design in designs)
    assert first.difference(second).value == 0


def test_a_comparison_of_other_rows_is_refused():
    results = {
        name: faithkit.score(LABELS, WORDS, X=X) for name, X in (("a", FRAME), ("b", FRAME.iloc[::-1]))
    }
    with pytest.raises(faithkit.errors.InputError, match="in another order"):
        faithkit.results.Comparison(results).best()


@pytest.fixture
def hash_calls(monkeypatch):
    """Return a list that has an entry for every time that rows are hashed."""
    calls = []

    def hash_and_count(X, seed):
        calls.append(seed)
        return seeds.row_words(X, seed)

    monkeypatch.setattr(row_metadata, "row_words", hash_and_count)
    return calls


def test_rows_are_hashed_once_per_sample_however_many_they_are_compared_with(hash_calls):
    first, *others = (faithkit.score(LABELS, words, X=FRAME.copy()) for words in (WORDS, OTHER_WORDS, LABELS))
    for _ in range(3):
        for other in others:
            first.difference(other)
    assert len(hash_calls) == 3  # once each, also to see whether rows repeat


def test_what_was_evaluated_on_one_table_need_not_be_hashed_to_be_paired(hash_calls):
    def parity(X):
        return (X["age"] % 2).tolist()

    def decade(X):
        return (X["age"] // 10).tolist()

    comparison = faithkit.compare(
        lambda X: X["age"] > 40, FRAME, [parity, decade], discretizers=["original", lambda e: e.values]
    )
    hash_calls.clear()  # to see whether rows repeat
    assert len(comparison.pairs()) == 6
    assert hash_calls == []


def test_measures_of_one_result_do_not_share_counts():
    """A count that is gone leaves its place in memory to the next one, and nothing else."""
    labels, vectors = [0, 0, 1, 0, 1], [[0.1], [0.2], [0.25], [0.9], [1.4]]
    relations = [f"near-explanation:tau={tau}" for tau in (0.05, 0.1, 0.2, 0.5, 0.6, 1.0, 2.0)]
    result = faithkit.score(labels, vectors)
    measures = [result.measure(relation) for relation in relations]
    assert measures == [faithkit.score(labels, vectors).measure(relation) for relation in relations]
