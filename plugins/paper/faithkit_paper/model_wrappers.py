"""Wrappers of models that predict something other than the class of a row."""

from typing import Any

import attrs
import numpy as np


@attrs.frozen(eq=False)
class ClassNumberModel:
    """A model whose score is the number of the predicted class, divided by the highest one.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[1.0], [5.0], [9.0]])
    >>> ClassNumberModel(GaussianNB().fit(X, ["a", "b", "c"])).predict_proba(X)[:, 1]
    array([0. , 0.5, 1. ])
    """

    model: Any
    classes_: tuple[int, int] = (0, 1)

    def predict(self, X: Any) -> np.ndarray:
        """Return whether the score is above a half."""
        is_high: np.ndarray = self.predict_proba(X)[:, 1] > 0.5
        return is_high.astype(int)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return one minus the score, and the score."""
        numbers = np.searchsorted(self.model.classes_, self.model.predict(X))
        score = numbers / (len(self.model.classes_) - 1)
        return np.column_stack([1 - score, score])


@attrs.frozen(eq=False)
class IsSecondClass:
    """A model that predicts whether a row has the second class of another model."""

    model: Any

    def predict(self, X: Any) -> np.ndarray:
        """Return for each row whether it has the second class."""
        is_second: np.ndarray = np.asarray(self.model.predict(X)) == self.model.classes_[1]
        return is_second


@attrs.frozen(eq=False)
class ReorderedClasses:
    """A model whose classes are numbered in another order.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[1.0], [5.0], [9.0]])
    >>> ReorderedClasses(GaussianNB().fit(X, ["one", "two", "zero"]), order=(2, 0, 1)).predict(X)
    array([1, 2, 0])
    """

    model: Any
    order: tuple[int, ...]

    @property
    def classes_(self) -> np.ndarray:
        """The numbers of the classes."""
        return np.arange(len(self.order))

    def predict(self, X: Any) -> np.ndarray:
        """Return the number of each row's class."""
        number: np.ndarray = np.argsort(self.order)
        return number[np.searchsorted(self.model.classes_, self.model.predict(X))]
