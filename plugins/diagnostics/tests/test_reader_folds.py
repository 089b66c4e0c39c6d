"""Cross-fitting: folds are drawn by content, know nothing of labels and keep clusters together."""

import json

import numpy as np
import pandas as pd
import pytest
from faithkit_diagnostics.reader.crossfit import Turns
from faithkit_diagnostics.reader.diagnostic import Reader, prepare
from looping import one_test
from nearly import assert_nearly
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import faithkit
from faithkit import Rule
from faithkit.plugin import Interval

RNG = np.random.default_rng(1)
N = 60
X = RNG.normal(size=(N, 3))
LABELS = np.where(X[:, 0] + RNG.normal(size=N) > 0, "yes", "no")
WORDS = np.where(X[:, 1] > 0, "a", "b").astype(object)

KINDS = {
    "vectors": (LABELS, X),
    "frames": (LABELS, pd.DataFrame({"x": X[:, 0], "word": WORDS})),
    "words": (LABELS, WORDS),
    "rules": (LABELS, np.array([Rule([Interval("x", high=round(x))]) for x in X[:, 0]], dtype=object)),
    "rows without an explanation": (LABELS, np.where(X[:, 2] > 1, None, WORDS)),
    "labels of several types": (np.where(X[:, 0] > 0, 1, LABELS.astype(object)), X),
}


def read_rows(labels, explanations, rows, reader="reader", **metadata):
    """Return what a reader writes about the rows in their order."""
    selected = explanations.iloc[rows] if isinstance(explanations, pd.DataFrame) else explanations[rows]
    options = {name: values[rows] for name, values in metadata.items()}
    if isinstance(selected, np.ndarray) and selected.ndim == 1:
        selected = selected.tolist()
    return json.dumps(faithkit.score(labels[rows].tolist(), selected, **options).diagnose(reader).to_dict())


@one_test
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_changes_no_byte(kind):
    straight, mixed = (
        read_rows(*KINDS[kind], rows, Reader(DecisionTreeClassifier(random_state=0)))
        for rows in (np.arange(N), RNG.permutation(N))
    )
    assert straight == mixed


def test_the_order_of_rows_with_weights_and_clusters_changes_nothing():
    metadata = {"weights": RNG.random(N), "clusters": RNG.integers(0, 30, N)}
    straight, mixed = (read_rows(LABELS, X, rows, **metadata) for rows in (np.arange(N), RNG.permutation(N)))
    assert_nearly(straight, mixed)


def test_neither_the_order_nor_the_number_of_threads_changes_what_trees_find():
    mixed = RNG.permutation(N)
    with threadpool_limits(2):
        result = faithkit.score(LABELS[mixed], X[mixed]).diagnose(Reader("trees"))
    assert result == faithkit.score(LABELS, X).diagnose(Reader("trees"))


def test_another_seed_reads_otherwise_and_the_same_alike():
    result = faithkit.score(LABELS, X)
    by_default = result.diagnose("reader")
    assert by_default == result.diagnose(Reader(seed=0))
    assert by_default != result.diagnose(Reader(seed=1))
    assert result.diagnose(Reader("logistic", seed=-1)) == result.diagnose(Reader("logistic", seed=-1))


def draw_turns(labels, unit, seed=0):
    words = np.arange(len(labels), dtype=np.uint64)
    contents = faithkit.plugin.hash_content(np.column_stack([words, np.asarray(labels, dtype=np.uint64)]))
    return Turns.draw(contents, unit, seed)


def test_rows_of_one_cluster_have_one_fold():
    unit = pd.factorize(RNG.integers(0, 20, 200))[0]
    turns = draw_turns(np.zeros(200), unit)
    folds = pd.Series(turns.folds(5)).groupby(unit[turns.order])
    assert folds.nunique().max() == 1
    assert len(set(folds.first())) == 5


@one_test
@pytest.mark.parametrize(("n", "expected"), [(2, 2), (4, 4), (7, 5), (1000, 5)])
def test_folds_are_of_about_one_size(n, expected):
    sizes = np.bincount(draw_turns(np.zeros(n), np.arange(n)).folds(5))
    assert len(sizes) == expected
    assert sizes.max() - sizes.min() <= 1


def test_folds_know_nothing_of_labels():
    """Of ten rows, half "yes", the fold of two takes both labels as often as chance has it: 5/9."""
    mixed = 0
    for seed in range(900):
        result = draw_turns([0, 1] * 5, np.arange(10), seed)
        labels = (np.array([0, 1] * 5))[result.order]
        mixed += len(set(labels[result.folds(5) == 0].tolist())) == 2
    assert abs(mixed / 900 - 5 / 9) < 4 * np.sqrt(5 / 9 * 4 / 9 / 900)


def test_of_more_rows_than_a_classifier_takes_those_with_the_first_turns_are_read():
    cross_fit = prepare(faithkit.score(LABELS, X).rows)
    rows = np.arange(0, N, 2)
    by_turn = sorted(rows.tolist(), key=lambda row: cross_fit.turns.turn[row])
    assert cross_fit._first_rows(rows, 7).tolist() == sorted(by_turn[:7])
    assert cross_fit._first_rows(rows, len(rows)).tolist() == rows.tolist()


def test_customers_who_are_logged_several_times_are_not_read_by_themselves():
    customers = np.repeat(np.arange(30), 5)
    labels, names = np.repeat([0, 1] * 15, 5), [f"because of customer {customer}" for customer in customers]
    alone = faithkit.score(labels, names).diagnose(Reader("words"))
    clustered = faithkit.score(labels, names, clusters=customers).diagnose(Reader("words"))
    assert alone.accuracy.value > 0.9
    assert clustered.accuracy == clustered.baseline
    assert clustered.clusters == 30
    assert clustered.effective == pytest.approx(30)


def test_weights_say_how_much_a_row_counts():
    """Half of the rows are "yes", and stand for one in ten; the words tell "yes" in nine of ten cases."""
    labels = np.array(["yes", "no"] * 200)
    words = np.where(np.arange(400) % 20 < 2, "odd", np.where(labels == "yes", "high", "low"))
    weights = np.where(labels == "yes", 1.0, 9.0)
    result = faithkit.score(labels, words.tolist(), weights=weights).diagnose(Reader("logistic"))
    assert result.baseline.value == pytest.approx(0.9)
    assert result.accuracy.value == pytest.approx(
        0.99, abs=0.011
    )  # "odd" is read as "no", which it mostly is
    assert result.effective == pytest.approx(400**2 / (400 * (0.2**2 + 1.8**2) / 2))


def test_rows_of_weight_0_teach_nothing_and_count_nothing():
    labels, words, weights = ["yes", "no"] * 40, ["a", "b"] * 40, [1] * 40 + [2] * 40
    plain = faithkit.score(labels, words, weights=weights).diagnose("reader")
    wrong = faithkit.score(labels + ["yes", "no"] * 10, words + ["b", "a"] * 10, weights=weights + [0] * 20)
    assert wrong.diagnose("reader").accuracy.value == plain.accuracy.value == 1.0
