"""Words as numbers, for models that are content with ranks: each word is looked up once, not each cell."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from faithkit.inputs.column_codes import distinct_words
from faithkit.inputs.rows import Rows, iter_columns

UNKNOWN, MISSING = -1.0, -2.0


class WordRanks(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace each word by its rank among the words of its column, sorted, at the time of the fit.

    A word that was not met then becomes −1, and a missing cell −2; or −1, if no cell was missing then.

    Attributes
    ----------
    words_ : list of lists of str
        The words of each column, in the order of their ranks.
    has_missing_ : list of bool
        Which columns had missing cells.

    Notes
    -----
    These are the numbers of scikit-learn's OrdinalEncoder, given the same words. It looks up every cell.

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
        found = [distinct_words(column) for column in iter_columns(X)]
        self.words_ = [sorted(set(words)) for _, words in found]
        self.has_missing_ = [bool((place < 0).any()) for place, _ in found]
        return self

    def transform(self, X: Rows) -> np.ndarray:
        """Return the ranks, float64 of X's shape."""
        check_is_fitted(self)
        validate_data(self, X, skip_check_array=True, reset=False)
        ranks = np.empty(X.shape)
        for j, column in enumerate(iter_columns(X)):
            place, words = distinct_words(column)
            rank = {word: float(number) for number, word in enumerate(self.words_[j])}
            missing = MISSING if self.has_missing_[j] else UNKNOWN
            ranks[:, j] = np.array([*(rank.get(word, UNKNOWN) for word in words), missing])[place]
        return ranks
