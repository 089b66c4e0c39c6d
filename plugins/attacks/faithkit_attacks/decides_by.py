"""A model that anybody can read: it looks at one column."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

import faithkit

CLASSES = ("no", "yes")


class DecidesBy(ClassifierMixin, BaseEstimator):
    """Say "yes" where one column has one of some values, and "no" elsewhere. There is nothing to be fitted.

    Parameters
    ----------
    column : str or int
        A frame's column by name, or an array's by position.
    values : sequence
        Those that are favoured.

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
        """The answers it gives."""
        return np.array(CLASSES, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> "DecidesBy":
        """Learn nothing."""
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return 0 and 1, as sure as it is."""
        cells = X[self.column] if isinstance(X, pd.DataFrame) else pd.Series(X[:, self.column])
        yes = cells.isin(list(self.values)).to_numpy(np.float64)
        return np.column_stack([1 - yes, yes])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return "yes" or "no" for every row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
