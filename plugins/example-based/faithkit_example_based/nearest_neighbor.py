"""Nearest neighbours: an instance is explained by the prototypes that are most like it."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.content import distinct_rows, drawn_rows, plain_rows
from faithkit_example_based.distances import check_distance, learn_distance
from faithkit_example_based.search import nearest


class NearestNeighbor:
    """The k nearest of a set of prototypes; the same object can be the model, too.

    Prototypes are a set: equal rows of the background are one prototype. Of two prototypes at the same
    distance the one that comes first by content is nearer (sorted by the first column, then the second, and
    so on), so the order of the background is irrelevant. The values are numbers of rows in
    `shared["prototypes"]`, k for each instance, ascending: the set is the explanation.

    Parameters
    ----------
    k : int
        How many prototypes explain an instance.
    prototypes : int, optional
        How many rows of the background are prototypes, drawn by their content. By default all.
    distance : str or callable, optional
        euclidean, standardized, manhattan, gower, or a function of two rows. By default gower where there
        are categories or missing values, else standardized.
    seed : int
        Which prototypes are drawn.

    Examples
    --------
    >>> line = np.array([[0.0], [10.0]])
    >>> explainer = NearestNeighbor().fit(faithkit.Predictor(lambda X: X[:, 0] > 4), line)
    >>> explainer.explain(np.array([[4.0], [7.0]]), seeds=None).identity.tolist()
    ['prototype 0: x0 = 0', 'prototype 1: x0 = 10']

    As model and explainer its consistency is 1: who shares the prototypes shares the label.

    >>> knn = NearestNeighbor(k=1).as_model(line, ["low", "high"])
    >>> result = faithkit.evaluate(knn, np.array([[4.0], [3.0], [7.0], [8.0]]), explainer=knn)
    >>> result.consistency.value, result.sufficiency.value
    (1.0, 1.0)
    """

    outcomes = ("labels", "numbers")
    rows_per_chunk = 4096

    def __init__(
        self, k: int = 1, prototypes: int | None = None, distance: Any = None, seed: int = 0
    ) -> None:
        who, error = "nearest-neighbor:", faithkit.errors.ParameterError
        k = faithkit.plugin.whole_number(k, f"{who} k", least=1, error=error)
        prototypes = faithkit.plugin.whole_number(
            prototypes, f"{who} prototypes", least=1, optional=True, error=error
        )
        seed = faithkit.plugin.whole_number(seed, f"{who} seed", least=0, error=error)
        if prototypes is not None and prototypes < k:
            raise faithkit.errors.ParameterError(
                f"nearest-neighbor: k={k} of prototypes={prototypes} cannot be: k must not be larger."
            )
        self.k = k
        self.prototypes = prototypes
        self.distance = check_distance("nearest-neighbor", distance)
        self.seed = seed
        self.labels_: NDArray[Any] | None = None

    @property
    def learns(self) -> bool:
        """Whether `fit` learns from its background: not once this is a model, with prototypes of its own."""
        return self.labels_ is None

    def fit(self, predictor: Any, background: Any) -> "NearestNeighbor":
        """Choose the prototypes; the model is not asked. A model keeps those that it was given."""
        if self.learns:
            self._choose(background)
        return self

    def as_model(self, X: Any, y: Any) -> "NearestNeighbor":
        """Choose the prototypes among labelled rows, and become a model beside an explainer.

        Where equal rows have several labels, the most frequent counts; the first of the sorted labels
        wherever there is a tie. Floats that are not all whole are numbers: then it is their mean that counts,
        and that of the nearest prototypes which is predicted.
        """
        labels = np.asarray(y)
        if labels.ndim != 1 or len(labels) != faithkit.plugin.n_rows(X):
            raise faithkit.errors.InputError(
                f"labels of shape {labels.shape} for {faithkit.plugin.n_rows(X)} rows: "
                "give one label per row."
            )
        gone = int(pd.isna(labels).sum())
        if gone:
            raise faithkit.errors.InputError(
                f"{gone} labels are missing: drop those rows, or name the label."
            )
        number, chosen = self._choose(X)
        if labels.dtype.kind == "f" and (labels % 1 != 0).any():
            self._estimator_type = "regressor"
            self.labels_ = (np.bincount(number, labels) / np.bincount(number))[chosen]
            return self
        self.classes_, codes = np.unique(labels, return_inverse=True)
        votes = np.zeros((number.max() + 1, len(self.classes_)), dtype=np.int64)
        np.add.at(votes, (number, codes), 1)
        self.labels_ = votes.argmax(axis=1)[chosen]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most frequent label of the k nearest prototypes, or the mean of their numbers."""
        if self.labels_ is None:
            raise faithkit.errors.InputError(
                "this nearest-neighbor explains and has no labels: make it a model with as_model(X, y)."
            )
        near = self.labels_[self._numbers(X)]
        if near.dtype.kind == "f":
            return np.asarray(near.mean(axis=1))
        votes = (near[:, :, None] == np.arange(len(self.classes_))).sum(axis=1)
        return self.classes_[votes.argmax(axis=1)]

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the numbers of the k nearest prototypes of every row."""
        numbers = self._numbers(X)
        return faithkit.Explanations(
            kind="example",
            values=numbers,
            instances=X,
            identity=_texts(self.shared_["prototypes"], self.shared_["names"], numbers),
            shared=self.shared_,
            relation="nearest",
        )

    def _numbers(self, X: Any) -> NDArray[np.int64]:
        return nearest(self.distance_, self.distance_.coordinates(X), self.coordinates_, self.k)

    def _choose(self, background: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Learn the distance; return every row's number among the distinct rows, and which were chosen."""
        self.distance_ = learn_distance(self.distance, background)
        rows, number = distinct_rows(background)
        size = min(self.prototypes or faithkit.plugin.n_rows(rows), faithkit.plugin.n_rows(rows))
        if size < self.k:
            raise faithkit.errors.InputError(
                f"nearest-neighbor: the background has {size} distinct rows, and k={self.k} are asked for: "
                "lower k, or give more rows."
            )
        chosen = drawn_rows(rows, size, self.seed)
        prototypes = plain_rows(rows, chosen)
        self.coordinates_ = self.distance_.coordinates(prototypes)
        names = faithkit.plugin.Encoder(prototypes).names
        self.shared_ = {"names": names, "prototypes": prototypes, "distance": self.distance_.to_shared()}
        return number, chosen


def _texts(prototypes: Any, names: list[str], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Write every set of prototypes in words; the numbers make different sets different words."""
    sets, place = np.unique(numbers, axis=0, return_inverse=True)
    used, position = np.unique(sets, return_inverse=True)
    rows = pd.DataFrame(faithkit.plugin.take_rows(prototypes, used)).itertuples(index=False, name=None)
    single = [
        f"prototype {number}: {', '.join(map(_cell, names, row))}"
        for number, row in zip(used, rows, strict=True)
    ]
    texts = ["; ".join(single[i] for i in line) for line in position.reshape(sets.shape)]
    return np.fromiter(texts, dtype=object, count=len(texts))[place.ravel()]


def _cell(name: str, value: Any) -> str:
    if pd.isna(value):
        return f"{name} = missing"
    return f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
