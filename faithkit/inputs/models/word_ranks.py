"""Encode words by their ranks, for models that need no more; each distinct word is looked up once."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from faithkit.inputs.column_codes import distinct_words
from faithkit.inputs.rows import Rows, iter_columns

UNKNOWN, MISSING = -1.0, -2.0


class WordRanks(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each word by its rank among the sorted words of its column in the fitted table.

    A word that was not in the fitted table becomes −1. A missing cell becomes −2, or −1 if the fitted column
    had no missing cell.

    Attributes
    ----------
    words_ : list of lists of str
        The words of each column, in the order of their ranks.
    has_missing_ : list of bool
        Whether each column had missing cells.

    Notes
    -----
    scikit-learn's OrdinalEncoder returns the same numbers for the same words, but looks up every cell.

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
