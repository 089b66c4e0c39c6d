"""What stands between a raw table and a scikit-learn estimator: encoding, imputation, or nothing at all."""

from typing import Any

import numpy as np
import pandas as pd

from faithkit.explanations.dates import days_of, holds_dates
from faithkit.inputs.column_codes import distinct_words, is_category
from faithkit.inputs.rows import Rows, input_kind, iter_columns


def is_plain(X: Rows) -> bool:
    """Whether X is a table of numbers and booleans, none of them missing: estimators take it as it is."""
    return input_kind(X) == "table" and not any(
        _is_word(column) or holds_dates(column) or column.isna().any() for column in iter_columns(X)
    )


def prepared(estimator: Any, X: Rows, one_hot: bool) -> Any:
    """Return the estimator itself if it can take rows like X's, else a Pipeline that prepares them for it.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Unfitted.
    X : array, DataFrame, sparse matrix or list of str
        The rows that decide; those of several axes are laid out flat.
    one_hot : bool
        Whether the estimator needs categories as indicators and numbers on one scale, as linear models
        do, or is content with ranks, as trees are.
    """
    if input_kind(X) == "sparse" or is_plain(X):
        return estimator
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer

    if input_kind(X) == "text":
        return Pipeline([("words", CountVectorizer()), ("model", estimator)])
    if input_kind(X) == "array":
        return Pipeline([("flatten", FunctionTransformer(flat)), ("model", estimator)])
    return Pipeline([("prepare", _columns(X, one_hot)), ("model", estimator)])


def flat(X: np.ndarray) -> np.ndarray:
    """Return rows of any shape as rows of numbers: an array of images as a table of pixels."""
    return X.reshape(len(X), -1)


def _is_word(column: Any) -> bool:
    """Whether a column has to be encoded: booleans are as good as numbers."""
    return is_category(column) and column.dtype.kind != "b"


def _columns(X: Rows, one_hot: bool) -> Any:
    from sklearn.compose import ColumnTransformer

    named = isinstance(X, pd.DataFrame) and all(isinstance(name, str) for name in X.columns)
    labels = list(X.columns) if named else list(range(X.shape[1]))
    is_word = [_is_word(column) for column in iter_columns(X)]
    words = [label for label, word in zip(labels, is_word, strict=True) if word]
    numbers = [label for label, word in zip(labels, is_word, strict=True) if not word]
    parts = [("numbers", _number_steps(scale=one_hot), numbers), ("words", _word_steps(one_hot), words)]
    return ColumnTransformer([part for part in parts if part[2]])


def _number_steps(scale: bool) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    impute = SimpleImputer(strategy="median", keep_empty_features=True)
    steps = [("floats", FunctionTransformer(as_floats, feature_names_out="one-to-one")), ("impute", impute)]
    return Pipeline([*steps, ("scale", StandardScaler())] if scale else steps)


def _word_steps(one_hot: bool) -> Any:
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    from faithkit.inputs.word_ranks import WordRanks

    if not one_hot:
        return WordRanks()
    words = FunctionTransformer(as_words, feature_names_out="one-to-one")
    return Pipeline([("words", words), ("encode", OneHotEncoder(handle_unknown="ignore"))])


def as_floats(X: Rows) -> np.ndarray:
    """Return a table of numbers and dates as float64, whatever its columns write for a missing value."""
    return np.column_stack([_floats(column) for column in iter_columns(X)])


def _floats(column: Any) -> np.ndarray:
    if holds_dates(column):
        return days_of(column)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def as_words(X: Rows) -> np.ndarray:
    """Return a table of categories as strings, NaN for missing; scikit-learn takes no NA and no mixtures."""
    return np.column_stack([_words(column) for column in iter_columns(X)])


def _words(column: Any) -> np.ndarray:
    place, words = distinct_words(column)
    return np.array([*words, np.nan], dtype=object)[place]
