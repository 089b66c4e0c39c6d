"""`DecidesBy`: a model that is easy to read, because it looks at one column."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

import faithkit

CLASSES = ("no", "yes")


class DecidesBy(ClassifierMixin, BaseEstimator):
    """A classifier that says "yes" if a column has one of the given values, else "no". It needs no fitting.

    Parameters
    ----------
    column : str or int
        A frame's column by name, or an array's by position.
    values : sequence
        The values for which the answer is "yes".

    Examples
    --------
    >>> X = pd.DataFrame({"sex": ["man", "woman"], "age": [30, 30]})
    >>> DecidesBy("sex", ["man"]).predict(X).tolist()
    ['yes', 'no']
    """

    def __init__(self, column: str | int, values: Sequence[Any]) -> None:
        if isinstance(values, str):
            raise faithkit.errors.ParameterError(
                f"the values that a model favours must be a list, such as [{values!r}], got {values!r}."
            )
        self.column = column
        self.values = values

    @property
    def classes_(self) -> NDArray[Any]:
        """The two labels, "no" and "yes"."""
        return np.array(CLASSES, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> "DecidesBy":
        """Return the model unchanged."""
        return self

    def reasons(self, X: pd.DataFrame) -> list[faithkit.plugin.OneOf]:
        """Return for each row the condition that decides about it: the value of the column."""
        return [faithkit.plugin.OneOf(self.column, [value]) for value in X[self.column].tolist()]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return a probability of 0 or 1 for each label."""
        values = X[self.column] if isinstance(X, pd.DataFrame) else pd.Series(X[:, self.column])
        is_favoured = values.isin(list(self.values)).to_numpy(np.float64)
        return np.column_stack([1 - is_favoured, is_favoured])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return "yes" or "no" for each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
