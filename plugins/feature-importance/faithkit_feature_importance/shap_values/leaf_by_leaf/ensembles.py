"""Trees as plain arrays: what models compare, in which precision, and what they add up."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class NotTreesError(ValueError):
    """The model is none that is made of trees."""


class UnreadableError(faithkit.errors.InputError):
    """The model is made of trees, and cannot be explained leaf by leaf; the text says why."""


class NoSumError(UnreadableError):
    """The model is made of trees, and what it predicts is not what they add up to."""


@contextlib.contextmanager
def read(what: str) -> Iterator[None]:
    """Let whatever fails while a model of others is read say so as an UnreadableError.

    >>> with read("reading the trees of Oak"):
    ...     raise KeyError("leaves")
    Traceback (most recent call last):
    ...
    faithkit_feature_importance....UnreadableError: reading the trees of Oak failed with KeyError: 'leaves'
    """
    try:
        yield
    except UnreadableError:
        raise
    except Exception as error:
        raise UnreadableError(f"{what} failed with {type(error).__name__}: {error}") from error


@attrs.frozen(eq=False)
class Tree:
    """One tree: a cell that is at most the threshold, or in the set of categories, goes to the left.

    Parameters
    ----------
    left, right : (nodes,)
        The children of each node, −1 at a leaf.
    column, threshold, missing_left : (nodes,)
        What is compared with what, and whether a missing cell goes to the left.
    values : (nodes, k)
        What a leaf adds to each of the outputs.
    outputs : tuple of int
        The k outputs of the ensemble to which the tree adds.
    categories : dict
        For each node that asks for a category: those that go to the left.
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
    """Trees that add up, and how the model looks at the cells that it compares.

    Parameters
    ----------
    trees : list of Tree
    n_outputs : int
        1 for two classes: the score of the second, of which the first one's is the opposite or the rest. Of a
        regressor how many numbers it predicts.
    log_odds : float
        What times a sum gives log-odds; 0 where the sums are probabilities, or what a regressor predicts.
    cells : callable
        From the table that the model is given to the numbers that it compares: an array in the model's
        own precision, NaN where missing, or a sparse matrix.
    places : (columns,)
        Which column of the model's table each column of `cells` is.
    absent : float or (columns,)
        What a cell that a sparse matrix does not store stands for.
    link : str, optional
        How a regressor calls the function of the sums that it predicts; None where it predicts the sums.
    """

    trees: list[Tree]
    n_outputs: int
    log_odds: float
    cells: Callable[[Any], Any]
    places: Integers
    absent: float | Floats = 0.0
    link: str | None = None

    def in_log_odds(self) -> "Ensemble":
        """Return trees that add up to log-odds."""
        trees = [attrs.evolve(tree, values=tree.values * self.log_odds) for tree in self.trees]
        return attrs.evolve(self, trees=trees, log_odds=1.0)


def outputs_of(model: Any, numbers: int = 1) -> tuple[int, ...]:
    """Return the outputs of an ensemble: one for two classes, else one for each, or for each number.

    >>> from sklearn.dummy import DummyClassifier
    >>> [outputs_of(DummyClassifier().fit([[0]] * k, range(k))) for k in (2, 3)]
    [(0,), (0, 1, 2)]
    >>> outputs_of("a model without classes"), outputs_of("a model without classes", numbers=2)
    ((0,), (0, 1))
    """
    classes = getattr(model, "classes_", ())
    if len(classes) == 0:  # which CatBoost's regressors have
        return tuple(range(numbers))
    return (0,) if len(classes) == 2 else tuple(range(len(classes)))
