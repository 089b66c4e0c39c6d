"""What a reader can read: identities of every kind, and nothing but them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from faithkit_diagnostics.reader.diagnostic import Reader
from faithkit_diagnostics.reader.features import MAX_TOKENS, SPREAD_ROWS, Features
from looping import one_test
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit import Explanations, Rule
from faithkit.plugin import Interval, OneOf

N = 60
YES = np.arange(N) % 3 == 0
RNG = np.random.default_rng(0)
NOISE = RNG.integers(0, 5, N)
LOOSE = RNG.normal(size=N)  # so that no two identities are equal


def build_rules():
    sides = [OneOf("sex", ["f"]) if yes else OneOf("sex", ["m"]) for yes in YES]
    return [Rule([side, Interval("age", high=age)]) for side, age in zip(sides, LOOSE, strict=True)]


def build_frame(**columns):
    return pd.DataFrame({"loose": LOOSE, **columns})


# each of these tells YES, and no two rows are equal except where words or numbers repeat
TELLING = {
    "vectors": np.column_stack([np.where(YES, 1.0, -1.0), LOOSE]),
    "vectors with gaps": np.column_stack([np.where(YES, np.nan, -1.0), LOOSE]),
    "whole numbers": np.column_stack([YES, np.arange(N)]),
    "a frame of numbers and words": build_frame(word=np.where(YES, "high", "low")),
    "a frame with gaps": build_frame(word=np.where(YES, "high", None)),
    "a frame of categories": build_frame(word=pd.Categorical(np.where(YES, "high", "low"))),
    "a frame of times": build_frame(when=pd.to_datetime(np.where(YES, "2020-01-01", "2021-01-01"))),
    "a frame of times in Arrow": build_frame(when=pd.to_datetime(["2020", None] * (N // 2)))
    .assign(word=np.where(YES, "x", "y"))
    .convert_dtypes(dtype_backend="pyarrow"),
    "a frame of numbers with gaps": build_frame(
        word=np.where(YES, "x", "y"), n=pd.array([1, None] * (N // 2), dtype="Int64")
    ),
    "rules": build_rules(),
    "tuples": [("age" if yes else "sex", float(x)) for yes, x in zip(YES, LOOSE, strict=True)],
    "tuples of several lengths": [
        ("age", x) if yes else ("sex", x, x) for yes, x in zip(YES, LOOSE, strict=True)
    ],
    "sets": [frozenset({"age" if yes else "sex", float(x)}) for yes, x in zip(YES, LOOSE, strict=True)],
    "words that repeat": np.where(YES, "high", "low").tolist(),
    "numbers that repeat": [1 if yes else 7 for yes in YES],
    "numbers": [x + 100 * yes for yes, x in zip(YES, LOOSE.tolist(), strict=True)],
    "kinds mixed": ["high" if yes else ("low", x) for yes, x in zip(YES, LOOSE, strict=True)],
}


@one_test
@pytest.mark.parametrize("kind", TELLING)
def test_identities_of_every_kind_are_read(kind):
    train, test = np.arange(0, N, 2), np.arange(1, N, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        features = Features.of(TELLING[kind])
        columns = features.columns(train, max_columns=9)
        tree = DecisionTreeClassifier(random_state=0).fit(features.table(train, columns), YES[train])
        right = tree.predict(features.table(test, columns)) == YES[test]
    assert right.mean() > 0.95


def test_infinite_numbers_are_read():
    infinite = np.column_stack([np.where(YES, np.inf, -np.inf), LOOSE])
    vectors = faithkit.Explanations.vectors(np.zeros(infinite.shape)).identified(infinite)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert faithkit.score(YES, vectors).diagnose("reader").accuracy.value > 0.95


def write_answers(n=150, k=3):
    """Return texts that all differ and name one of k options at their end, and the options; "a" is also an article."""
    rng = np.random.default_rng(5)
    words = ["a", "river", "stone", "is", "warm", "and", "the", "people", "walk", "over", "it", "by", "night"]
    options = np.arange(n) % k
    return [
        f"{' '.join(rng.choice(words, 20))} {i}. So the best answer is: ({'ABCDE'[option]})."
        for i, option in enumerate(options)
    ], options


def test_texts_are_read_as_words():
    texts, options = write_answers()
    result = faithkit.score(options, texts).diagnose("reader")
    assert result.accuracy.value > 0.99
    assert result.low > 0.8
    assert result.baseline.value < 0.4


def test_numbers_can_be_read_from_texts():
    texts, options = write_answers(k=2)
    result = faithkit.score(10.0 * options + LOOSE[np.arange(150) % N], texts).diagnose("reader")
    assert result.score > 0.8


def test_a_column_of_texts_is_read_as_words_beside_others():
    texts, options = write_answers()
    table = pd.DataFrame({"noise": LOOSE[np.arange(150) % N], "text": texts})
    assert faithkit.score(options, table).diagnose(Reader("words")).accuracy.value > 0.95


def test_a_classifier_of_ones_own_is_shown_the_words_of_texts():
    texts, options = write_answers(300)
    result = faithkit.score(options, texts).diagnose(Reader(GaussianNB()))
    assert result.classifiers == {"GaussianNB": 5}
    assert result.accuracy.value > 0.95


def test_words_that_say_nothing_tell_no_more_than_the_labels_alone():
    texts, options = write_answers()
    shuffled = np.random.default_rng(2).permutation(options)
    result = faithkit.score(shuffled, texts).diagnose("reader")
    assert result.accuracy.low < result.baseline.value + 0.05
    assert result.score < 1 / 3 + 0.03


def test_parts_side_by_side_are_read():
    def both(explanations):
        return np.where(YES, 0.0, 1.0)[:, None], pd.DataFrame({"noise": NOISE.astype(str)})

    assert faithkit.score(YES, LOOSE[:, None], discretizer=both).diagnose("reader").accuracy.value > 0.95


def test_the_same_word_in_two_columns_is_two_tokens():
    """YES where both columns have one word: a line through sums of columns could not tell."""
    pairs = [("a", "b") if yes else ("b", "a") for yes in YES]
    features = Features.of(pd.DataFrame(pairs))
    assert features.tokens.shape[1] == 2 + 4  # the two pairs as they are, and two words in each column


def test_equal_identities_are_read_alike():
    features = Features.of(np.array([[0.0, np.nan], [-0.0, np.nan]]))
    table = features.table(np.arange(2), features.columns(np.arange(2), max_columns=9))
    assert np.array_equal(table[0], table[1], equal_nan=True)


def test_columns_are_the_most_frequent_tokens_and_ties_do_not_depend_on_the_order():
    sets = [frozenset({"everybody", f"pair {i // 2}"}) for i in range(600)]
    rows = np.arange(600)
    columns = []
    for ordered_sets in (sets, sets[::-1]):
        features = Features.of(ordered_sets)
        chosen = features.columns(rows, max_columns=9).tokens
        assert len(chosen) == MAX_TOKENS
        assert features.tokens[:, chosen[:1]].sum() == 600
        columns.append(features.words[chosen].tolist())
    assert columns[0] == columns[1]


@one_test
@pytest.mark.parametrize(("most", "rows"), [(3, 20), (30, 20), (30, 5 * SPREAD_ROWS), (70, 20)])
def test_of_very_many_numbers_the_widest_are_columns(most, rows):
    wide = np.zeros((rows, 80))
    wide[:, 40 : 40 + min(most, 40)] = RNG.normal(size=(rows, min(most, 40)))
    wide[:, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = Features.of(wide).columns(np.arange(rows), most)
    assert len(result.numbers) == most
    assert set(range(40, 40 + min(most, 40))) <= set(result.numbers.tolist())


def test_tokens_are_found_by_the_rows_that_a_reader_learns_from():
    features = Features.of(["a", "a", "b", "b"])
    columns = features.columns(np.array([0, 1, 2]), max_columns=9)
    assert features.table(np.arange(4), columns).tolist() == [[1], [1], [0], [0]]


ODD_SAMPLES = {
    "70 columns": ([0, 1] * 20, RNG.normal(size=(40, 70))),
    "a label for every row": (np.arange(30), RNG.normal(size=(30, 3))),
    "more labels than are learnt": (np.arange(90) % 60, RNG.normal(size=(90, 3))),
    "one label": (["yes"] * 30, RNG.normal(size=(30, 3))),
    "no columns": (["yes", "no"] * 20, Explanations.vectors(np.empty((40, 0)))),
    "nothing but gaps": (["yes", "no"] * 20, np.full((40, 2), np.nan)),
    "huge numbers": (["yes", "no"] * 20, np.full((40, 2), 1e308)),
    "numbers that are no floats": (["yes", "no"] * 20, [10**400, -(10**400)] * 20),
    "objects that say nothing": (["yes", "no"] * 20, [frozenset([int])] * 40),
    "types mixed": ([True, "no", 3, "x"] * 10, [1, "1", ("1",), frozenset("1")] * 10),
    "half without an explanation": (["yes", "no"] * 20, [None, "a"] * 20),
    **{f"{n} rows": (([0, 1, 1] * 7)[:n], LOOSE[:n, None]) for n in (10, 13)},
}


@one_test
@pytest.mark.parametrize(("labels", "explanations"), ODD_SAMPLES.values(), ids=ODD_SAMPLES)
def test_odd_samples_have_numbers_and_no_warnings(labels, explanations):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = faithkit.score(labels, explanations).diagnose("reader")
    assert -1 <= result.score <= 1
    assert 0 <= result.low <= max(0, result.score)
    for share in (result.accuracy, result.baseline):
        assert 0 <= share.low <= share.value <= share.high <= 1


def test_what_stands_in_the_place_of_a_missing_explanation_is_not_read():
    missing = np.arange(60) % 2 == 0
    labels = np.where(np.arange(60) % 4 < 2, "yes", "no")
    words = np.where(labels == "yes", "high", "low").astype(object)
    other = np.where(missing, "whatever", words).astype(object)
    first, second = (
        faithkit.score(labels, Explanations(kind="value", values=values, missing=missing)).diagnose("reader")
        for values in (words, other)
    )
    assert first == second
