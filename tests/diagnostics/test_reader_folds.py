"""Who reads whom: by content and not by order, in turns that know nothing of labels; clusters together."""

import json

import numpy as np
import pandas as pd
import pytest
from faithkit_diagnostics.reader.crossfit import Turns
from faithkit_diagnostics.reader.diagnostic import Reader
from nearly import assert_nearly
from threadpoolctl import threadpool_limits

import faithkit
from faithkit import Interval, Rule

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


def told(labels, explanations, rows, **drawn):
    some = explanations.iloc[rows] if isinstance(explanations, pd.DataFrame) else explanations[rows]
    given = {name: values[rows] for name, values in drawn.items()}
    if isinstance(some, np.ndarray) and some.ndim == 1:
        some = some.tolist()
    return json.dumps(faithkit.score(labels[rows].tolist(), some, **given).diagnose("reader").to_dict())


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_changes_no_byte(kind):
    assert told(*KINDS[kind], np.arange(N)) == told(*KINDS[kind], RNG.permutation(N))


def test_the_order_of_rows_with_weights_and_clusters_changes_nothing():
    drawn = {"weights": RNG.random(N), "clusters": RNG.integers(0, 30, N)}
    assert_nearly(told(LABELS, X, np.arange(N), **drawn), told(LABELS, X, RNG.permutation(N), **drawn))


def test_neither_the_order_nor_the_number_of_threads_changes_what_trees_find():
    result = faithkit.score(LABELS, X)
    with threadpool_limits(2):
        many = result.diagnose(Reader("trees"))
    assert many == result.diagnose(Reader("trees"))
    mixed = RNG.permutation(N)
    assert many == faithkit.score(LABELS[mixed], X[mixed]).diagnose(Reader("trees"))


def test_another_seed_reads_otherwise_and_the_same_alike():
    result = faithkit.score(LABELS, X)
    assert result.diagnose("reader") == result.diagnose(Reader(seed=0))
    assert result.diagnose(Reader(seed=1)) != result.diagnose("reader")
    assert result.diagnose(Reader(seed=-1)) == result.diagnose(Reader(seed=-1))


def turns(labels, unit, seed=0):
    words = np.arange(len(labels), dtype=np.uint64)
    contents = faithkit.plugin.hash_content(np.column_stack([words, np.asarray(labels, dtype=np.uint64)]))
    return Turns.draw(contents, unit, seed)


def test_rows_of_one_cluster_have_one_fold():
    unit = RNG.integers(0, 20, 200)
    unit = pd.factorize(unit)[0]
    drawn = turns(np.zeros(200), unit)
    folds = pd.Series(drawn.folds(5)).groupby(unit[drawn.order])
    assert folds.nunique().max() == 1
    assert len(set(folds.first())) == 5


@pytest.mark.parametrize(("n", "expected"), [(2, 2), (4, 4), (7, 5), (1000, 5)])
def test_folds_are_of_about_one_size(n, expected):
    sizes = np.bincount(turns(np.zeros(n), np.arange(n)).folds(5))
    assert len(sizes) == expected
    assert sizes.max() - sizes.min() <= 1


def test_folds_know_nothing_of_labels():
    """Of ten rows, half "yes", the fold of two takes both labels as often as chance has it: 5/9."""
    mixed = 0
    for seed in range(900):
        result = turns([0, 1] * 5, np.arange(10), seed)
        labels = (np.array([0, 1] * 5))[result.order]
        mixed += len(set(labels[result.folds(5) == 0].tolist())) == 2
    assert abs(mixed / 900 - 5 / 9) < 4 * np.sqrt(5 / 9 * 4 / 9 / 900)


def test_customers_who_are_logged_several_times_are_not_read_by_themselves():
    who = np.repeat(np.arange(60), 5)
    labels, names = np.repeat([0, 1] * 30, 5), [f"because of customer {one}" for one in who]
    alone = faithkit.score(labels, names).diagnose("reader")
    result = faithkit.score(labels, names, clusters=who).diagnose("reader")
    assert alone.accuracy.value > 0.9
    assert result.accuracy == result.baseline
    assert result.clusters == 60
    assert result.effective == pytest.approx(60)


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
    labels, words = np.array(["yes", "no"] * 40), np.array(["a", "b"] * 40)
    wrong = np.array(["b", "a"] * 10)
    plain = faithkit.score(labels, words.tolist(), weights=np.where(np.arange(80) < 40, 1, 2)).diagnose(
        "reader"
    )
    weights = np.concatenate([np.where(np.arange(80) < 40, 1, 2), np.zeros(20)])
    more = faithkit.score(
        np.concatenate([labels, labels[:20]]), [*words.tolist(), *wrong.tolist()], weights=weights
    ).diagnose("reader")
    assert more.accuracy.value == plain.accuracy.value == 1.0
