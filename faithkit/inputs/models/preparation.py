"""Prepare a raw table for a scikit-learn estimator: encode and impute it where needed.

Its importers import it where they need it, because scikit-learn takes long to import.
"""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from faithkit.explanations.dates import dates_to_days, is_date_column
from faithkit.inputs.column_codes import distinct_words, holds_words
from faithkit.inputs.rows import Rows, input_kind, iter_columns

UNKNOWN, MISSING = -1.0, -2.0  # the ranks of such words


def is_plain(X: Rows) -> bool:
    """Return whether X is a table of numbers and booleans without missing values, which estimators accept."""
    return input_kind(X) == "table" and not any(
        holds_words(column) or is_date_column(column) or column.isna().any() for column in iter_columns(X)
    )


def add_preparation(estimator: BaseEstimator, X: Rows, one_hot: bool) -> BaseEstimator:
    """Return the estimator itself if it accepts rows like X's, else a Pipeline that prepares them.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Unfitted.
    X : array, DataFrame, sparse matrix or list of str
        The rows that decide which preparation is needed; rows with several axes are flattened.
    one_hot : bool
        Whether the estimator needs categories as indicators and scaled numbers, as linear models do.
        Otherwise categories become ranks, which suffice for trees.
    """
    if input_kind(X) == "sparse" or is_plain(X):
        return estimator
    if input_kind(X) == "text":
        return Pipeline([("words", CountVectorizer()), ("model", estimator)])
    if input_kind(X) == "array":
        return Pipeline([("flatten", FunctionTransformer(flat)), ("model", estimator)])
    return Pipeline([("prepare", _column_transformer(X, one_hot)), ("model", estimator)])


def flat(X: np.ndarray) -> np.ndarray:
    """Flatten rows with several axes: an array of images becomes a table of pixels."""
    return X.reshape(len(X), -1)


def _column_transformer(X: Rows, one_hot: bool) -> ColumnTransformer:
    has_names = isinstance(X, pd.DataFrame) and all(isinstance(name, str) for name in X.columns)
    columns = list(X.columns) if has_names else list(range(X.shape[1]))
    is_word = [holds_words(column) for column in iter_columns(X)]
    words = [column for column, word in zip(columns, is_word, strict=True) if word]
    numbers = [column for column, word in zip(columns, is_word, strict=True) if not word]
    transformers = [
        ("numbers", _number_steps(scale=one_hot), numbers),
        ("words", _word_steps(one_hot), words),
    ]
    return ColumnTransformer([transformer for transformer in transformers if transformer[2]])


def _number_steps(scale: bool) -> Pipeline:
    impute = SimpleImputer(strategy="median", keep_empty_features=True)
    steps = [("floats", FunctionTransformer(as_floats, feature_names_out="one-to-one")), ("impute", impute)]
    return Pipeline([*steps, ("scale", StandardScaler())] if scale else steps)


def _word_steps(one_hot: bool) -> BaseEstimator:
    if not one_hot:
        return WordRanks()
    words = FunctionTransformer(as_words, feature_names_out="one-to-one")
    return Pipeline([("words", words), ("encode", OneHotEncoder(handle_unknown="ignore"))])


def as_floats(X: Rows) -> np.ndarray:
    """Return a table of numbers and dates as float64, with NaN for any kind of missing value."""
    return np.column_stack([_floats(column) for column in iter_columns(X)])


def _floats(column: pd.Series) -> np.ndarray:
    if is_date_column(column):
        return dates_to_days(column)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def as_words(X: Rows) -> np.ndarray:
    """Return categories as strings, NaN where missing; scikit-learn accepts neither NA nor mixed types."""
    return np.column_stack([_words(column) for column in iter_columns(X)])


def _words(column: pd.Series) -> np.ndarray:
    codes, words = distinct_words(column)
    return np.asarray(np.array([*words, np.nan], dtype=object)[codes])


class WordRanks(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each word by its rank among the sorted words of its column in the fitted table.

    A word that was not in the fitted table becomes −1. A missing value becomes −2, or −1 if the fitted column
    had no missing value.

    Attributes
    ----------
    words_ : list of lists of str
        The words of each column, in the order of their ranks.
    has_missing_ : list of bool
        Whether each column had missing values.

    Notes
    -----
    scikit-learn's OrdinalEncoder returns the same numbers for the same words, but looks up every value.

    Examples
    --------
    >>> import pandas as pd
    >>> jobs = pd.DataFrame({"job": ["smith", "clerk", None, "smith"]})
    >>> WordRanks().fit(jobs).transform(pd.DataFrame({"job": ["clerk", "smith", "cook", None]})).ravel()
    array([ 0.,  1., -1., -2.])
    """

    def fit(self, X: Rows, y: Any = None) -> "WordRanks":
        """Learn the words of each column."""
        validate_data(self, X, skip_check_array=True)
        coded_columns = [distinct_words(column) for column in iter_columns(X)]
        self.words_ = [sorted(set(words)) for _, words in coded_columns]
        self.has_missing_ = [bool((codes < 0).any()) for codes, _ in coded_columns]
        return self

    def transform(self, X: Rows) -> np.ndarray:
        """Return the ranks, float64 of X's shape."""
        check_is_fitted(self)
        validate_data(self, X, skip_check_array=True, reset=False)
        ranks = np.empty(X.shape)
        for j, column in enumerate(iter_columns(X)):
            codes, words = distinct_words(column)
            rank_of = {word: float(rank) for rank, word in enumerate(self.words_[j])}
            missing = MISSING if self.has_missing_[j] else UNKNOWN
            ranks[:, j] = np.array([*(rank_of.get(word, UNKNOWN) for word in words), missing])[codes]
        return ranks
