"""Trees of all libraries in one form: plain arrays."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@attrs.frozen(eq=False)
class Tree:
    """A tree. A value goes to the left if it is at most the threshold, or in the set of categories.

    Parameters
    ----------
    left, right : (nodes,)
        The children of each node, −1 at a leaf.
    column, threshold, missing_left : (nodes,)
        The compared column, the threshold, and whether a missing value goes to the left.
    values : (nodes, k)
        What a leaf adds to each of its outputs.
    outputs : tuple of int
        The k outputs of the ensemble that the tree adds to.
    categories : dict
        The categories that go to the left, for each node that splits by category.
    """

    left: Integers
    right: Integers
    column: Integers
    threshold: Floats
    missing_left: NDArray[np.bool_]
    values: Floats
    outputs: tuple[int, ...]
    categories: dict[int, frozenset[float]] = attrs.field(factory=dict)

    @property
    def leaves(self) -> Integers:
        """The nodes without children."""
        return np.flatnonzero(self.left < 0)


@attrs.frozen(eq=False)
class Ensemble:
    """Trees whose leaves add up, and how the model reads the values that it compares.

    Parameters
    ----------
    trees : list of Tree
    n_outputs : int
        The number of classes, or of numbers that a regressor predicts. 1 for two classes: the score of the
        second class determines that of the first.
    log_odds_factor : float
        The factor from sums to log-odds; 0 if the sums are probabilities or predictions of a regressor.
    to_values : callable
        Converts the table to the numbers that the model compares: an array in the model's own precision, NaN
        for missing values, or a sparse matrix.
    positions : (columns,)
        The column of the model's table for each column of the values.
    absent_value : float or (columns,)
        The value that a sparse matrix does not store.
    link : str, optional
        The function of the sums that a regressor predicts, for messages; None if it predicts the sums.
    """

    trees: list[Tree]
    n_outputs: int
    log_odds_factor: float
    to_values: Callable[[Any], Any]
    positions: Integers
    absent_value: float | Floats = 0.0
    link: str | None = None

    def to_log_odds(self) -> "Ensemble":
        """Return the ensemble with leaves that add up to log-odds."""
        trees = [attrs.evolve(tree, values=tree.values * self.log_odds_factor) for tree in self.trees]
        return attrs.evolve(self, trees=trees, log_odds_factor=1.0)


def output_numbers(model: Any, n_numbers: int = 1) -> tuple[int, ...]:
    """Return the outputs of an ensemble: one for two classes, else one per class or predicted number.

    >>> from sklearn.dummy import DummyClassifier
    >>> [output_numbers(DummyClassifier().fit([[0]] * k, range(k))) for k in (2, 3)]
    [(0,), (0, 1, 2)]
    >>> output_numbers("a model without classes"), output_numbers("a model without classes", n_numbers=2)
    ((0,), (0, 1))
    """
    classes = getattr(model, "classes_", ())
    if len(classes) == 0:  # regressors of CatBoost have empty `classes_`
        return tuple(range(n_numbers))
    return (0,) if len(classes) == 2 else tuple(range(len(classes)))
