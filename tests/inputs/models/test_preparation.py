"""What default models are given of a table: words as `str` writes them, a gap as NaN; or the ranks of these."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from inputs.frames import mixed_frames, people
from looping import one_test
from sklearn.base import clone
from sklearn.preprocessing import OrdinalEncoder

from faithkit.inputs.models.default_models import default_model
from faithkit.inputs.models.preparation import WordRanks, as_words

COLUMNS = {
    "strings": pd.Series(["a", None, "b", "a"], dtype="str"),
    "objects of several types": pd.Series([1, True, None, 1.0], dtype=object),
    "gaps of several kinds": pd.Series([pd.NA, "x", np.nan, None], dtype=object),
    "categories": pd.Series(pd.Categorical(["u", None, "v", "u"])),
    "categories that are numbers": pd.Series(pd.Categorical([3.5, None, 1.0, 3.5])),
    "booleans with a gap": pd.Series([True, None, False, True], dtype="boolean"),
    "words that no file can hold": pd.Series(["\ud800", None, "a", "\ud800"], dtype=object),
    "values that are written alike": pd.Series(pd.Categorical([1, "1", None, "2"])),
    "gaps alone": pd.Series([None, None, None, None], dtype="str"),
}


@one_test
@pytest.mark.parametrize("name", COLUMNS)
def test_a_cell_is_written_as_str_writes_it(name):
    column = COLUMNS[name]
    result = as_words(pd.DataFrame({"other": ["x"] * 4, "column": column}))
    assert result.dtype == object
    assert result[:, 0].tolist() == ["x"] * 4
    for cell, word in zip(column, result[:, 1], strict=True):
        assert np.isnan(word) if pd.isna(cell) else word == str(cell)


def test_a_table_without_rows_has_no_words():
    assert as_words(pd.DataFrame(COLUMNS)[:0]).shape == (0, len(COLUMNS))


def rank_with_scikit_learn(train, test):
    """Return the ranks that scikit-learn gives to the words of a test table."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    return encoder.fit(as_words(train)).transform(as_words(test))


RANKED = {
    "words, all known": (["b", "a", "b"], ["a", "b", "a"], [0, 1, 0]),
    "a word that is new": (["b", "a", "b"], ["a", "c", ""], [0, -1, -1]),
    "gaps in both": (["b", None, "a"], [None, "a", "b"], [-2, 0, 1]),
    "a gap that is new": (["b", "a", "a"], [None, "a", "b"], [-1, 0, 1]),
    "gaps alone": ([None, None, None], [np.nan, "a", pd.NA], [-2, -1, -2]),
    "equal values that are not one word": ([1, True, "1"], [True, 1, 1.0], [1, 0, -1]),
    "ranks of words, not of numbers": ([10, 9, "x"], [9, 10, "x"], [1, 0, 2]),
    "values that are written alike": ([1, "1", "2"], ["1", 1, "2"], [0, 0, 1]),
}


@one_test
@pytest.mark.parametrize(("before", "now", "expected"), RANKED.values(), ids=RANKED)
@pytest.mark.parametrize("table", [pd.DataFrame, np.array], ids=["frame", "array"])
def test_a_word_becomes_its_rank_among_the_words_met_before(table, before, now, expected):
    before, now = (table([[cell] for cell in cells], dtype=object) for cells in (before, now))
    assert WordRanks().fit(before).transform(now).ravel().tolist() == expected


@one_test
@pytest.mark.parametrize("name", COLUMNS)
def test_ranks_are_those_of_scikit_learn(name):
    table = pd.DataFrame({7: COLUMNS[name], 8: ["x", "y", "x", "z"]})
    for train in (table, table[:2]):
        np.testing.assert_array_equal(
            WordRanks().fit(train).transform(table), rank_with_scikit_learn(train, table)
        )


def test_a_table_without_rows_has_no_ranks():
    assert WordRanks().fit(people()).transform(people()[:0]).shape == (0, people().shape[1])


@pytest.mark.slow
@given(mixed_frames(), mixed_frames())
def test_ranks_of_every_dtype_are_those_of_scikit_learn(train, test):
    test = test[train.columns]
    np.testing.assert_array_equal(WordRanks().fit(train).transform(test), rank_with_scikit_learn(train, test))


def test_ranks_are_an_estimator_like_others():
    ranks = WordRanks().fit(people())
    assert ranks.get_feature_names_out().tolist() == list(people().columns)
    expected = ranks.transform(people())
    for copy in (pickle.loads(pickle.dumps(ranks)), clone(ranks).fit(people())):
        np.testing.assert_array_equal(copy.transform(people()), expected)
    assert ranks.set_output(transform="pandas").transform(people()).columns.equals(people().columns)
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        ranks.transform(people().rename(columns={"job": "work"}))


@one_test
@pytest.mark.parametrize("name", ["gradient-boosting", "random-forest", "tree"])
def test_a_model_of_trees_is_given_ranks(name):
    ((_, _, numbers), (_, words, of)) = default_model(name, people())[0].transformers
    assert isinstance(words, WordRanks)
    assert not set(numbers) & set(of)
