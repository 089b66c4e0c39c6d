"""Models that are asked another question than which class a row has."""

from typing import Any

import attrs
import numpy as np


@attrs.frozen(eq=False)
class Numbered:
    """A model whose score is the number of the predicted class, divided by the highest one.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[1.0], [5.0], [9.0]])
    >>> Numbered(GaussianNB().fit(X, ["a", "b", "c"])).predict_proba(X)[:, 1]
    array([0. , 0.5, 1. ])
    """

    model: Any
    classes_: tuple[int, int] = (0, 1)

    def predict(self, X: Any) -> np.ndarray:
        """Return whether the score is above a half."""
        found: np.ndarray = (self.predict_proba(X)[:, 1] > 0.5).astype(int)
        return found

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return one minus the score, and the score."""
        numbers = np.searchsorted(self.model.classes_, self.model.predict(X))
        score = numbers / (len(self.model.classes_) - 1)
        return np.column_stack([1 - score, score])


@attrs.frozen(eq=False)
class IsSecond:
    """A model of many classes that is asked whether a row is of the second one."""

    model: Any

    def predict(self, X: Any) -> np.ndarray:
        """Return yes or no for every row."""
        found: np.ndarray = np.asarray(self.model.predict(X)) == self.model.classes_[1]
        return found


@attrs.frozen(eq=False)
class InOrder:
    """A model whose classes are numbered in another order.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[1.0], [5.0], [9.0]])
    >>> InOrder(GaussianNB().fit(X, ["one", "two", "zero"]), order=(2, 0, 1)).predict(X)
    array([1, 2, 0])
    """

    model: Any
    order: tuple[int, ...]

    @property
    def classes_(self) -> np.ndarray:
        """The numbers."""
        return np.arange(len(self.order))

    def predict(self, X: Any) -> np.ndarray:
        """Return the number of each row's class."""
        number: np.ndarray = np.argsort(self.order)
        return number[np.searchsorted(self.model.classes_, self.model.predict(X))]
