"""The explainer `nearest-neighbor`: an instance is explained by its nearest prototypes."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.distance_search import find_nearest_rows
from faithkit_example_based.distances import check_distance, learn_distance
from faithkit_example_based.distinct_rows import distinct_rows, draw_rows, take_plain_rows


class NearestNeighbor:
    """The k nearest of a set of prototypes; the same object can be the model.

    Prototypes are a set: equal rows of the background are one prototype. Of two prototypes at the same
    distance, the first by content counts as nearer (sorted by the first column, then the second, and so on).
    So the order of the background is irrelevant. The values are numbers of rows in
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
        The seed of the draw of prototypes.

    Examples
    --------
    >>> line = np.array([[0.0], [10.0]])
    >>> explainer = NearestNeighbor().fit(faithkit.Predictor(lambda X: X[:, 0] > 4), line)
    >>> explainer.explain(np.array([[4.0], [7.0]]), seeds=None).identity.tolist()
    ['prototype 0: x0 = 0', 'prototype 1: x0 = 10']

    As model and explainer its consistency is 1: rows with the same prototypes have the same label.

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
        error = faithkit.errors.ParameterError
        k = faithkit.plugin.check_integer(k, "nearest-neighbor: k", minimum=1, error=error)
        prototypes = faithkit.plugin.check_integer(
            prototypes, "nearest-neighbor: prototypes", minimum=1, optional=True, error=error
        )
        seed = faithkit.plugin.check_integer(seed, "nearest-neighbor: seed", minimum=0, error=error)
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
        """Whether `fit` learns from its background; as a model, it has prototypes already."""
        return self.labels_ is None

    def fit(self, predictor: Any, background: Any) -> "NearestNeighbor":
        """Choose the prototypes, unless this is already a model; the predictor is not used."""
        if self.learns:
            self._choose_prototypes(background)
        return self

    def as_model(self, X: Any, y: Any) -> "NearestNeighbor":
        """Choose the prototypes among labelled rows, and become a model as well as an explainer.

        If equal rows have several labels, the prototype has the most frequent one, or the first of the
        sorted labels if there is a tie. Floats that are not all whole are numbers: then the prototype has
        their mean, and the model predicts the mean of the nearest prototypes.
        """
        labels = np.asarray(y)
        if labels.ndim != 1 or len(labels) != faithkit.plugin.n_rows(X):
            raise faithkit.errors.InputError(
                f"labels of shape {labels.shape} for {faithkit.plugin.n_rows(X)} rows: "
                "give one label per row."
            )
        n_missing = int(pd.isna(labels).sum())
        if n_missing:
            raise faithkit.errors.InputError(
                f"{n_missing} labels are missing: drop those rows, or name the label."
            )
        positions, prototype_rows = self._choose_prototypes(X)
        are_numbers = labels.dtype.kind == "f" and bool((labels % 1 != 0).any())
        self._estimator_type = "regressor" if are_numbers else "classifier"
        if are_numbers:
            self.labels_ = (np.bincount(positions, labels) / np.bincount(positions))[prototype_rows]
            return self
        self.classes_, codes = np.unique(labels, return_inverse=True)
        votes = np.zeros((positions.max() + 1, len(self.classes_)), dtype=np.int64)
        np.add.at(votes, (positions, codes), 1)
        self.labels_ = votes.argmax(axis=1)[prototype_rows]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most frequent label of the k nearest prototypes, or the mean of their numbers."""
        if self.labels_ is None:
            raise faithkit.errors.InputError(
                "this nearest-neighbor explains and has no labels: make it a model with as_model(X, y)."
            )
        labels = self.labels_[self._nearest_prototypes(X)]
        if labels.dtype.kind == "f":
            return np.asarray(labels.mean(axis=1))
        votes = (labels[:, :, None] == np.arange(len(self.classes_))).sum(axis=1)
        return self.classes_[votes.argmax(axis=1)]

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the numbers of the k nearest prototypes of every row."""
        numbers = self._nearest_prototypes(X)
        return faithkit.Explanations(
            kind="example",
            values=numbers,
            instances=X,
            identity=_describe_prototypes(self.shared_["prototypes"], self.names_, numbers),
            shared=self.shared_,
            relation="nearest",
        )

    def _nearest_prototypes(self, X: Any) -> NDArray[np.int64]:
        return find_nearest_rows(self.distance_, self.distance_.coordinates(X), self.coordinates_, self.k)

    def _choose_prototypes(self, background: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Learn the distance; return each row's position among the distinct rows, and the chosen rows."""
        self.distance_ = learn_distance(self.distance, background)
        rows, positions = distinct_rows(background)
        size = min(self.prototypes or faithkit.plugin.n_rows(rows), faithkit.plugin.n_rows(rows))
        if size < self.k:
            raise faithkit.errors.InputError(
                f"nearest-neighbor: the background has {size} distinct rows, and k={self.k} are asked for: "
                "lower k, or give more rows."
            )
        prototype_rows = draw_rows(rows, size, self.seed)
        prototypes = take_plain_rows(rows, prototype_rows)
        self.coordinates_ = self.distance_.coordinates(prototypes)
        self.names_ = faithkit.plugin.Encoder(prototypes).names
        self.shared_ = {"prototypes": prototypes, "distance": self.distance_.to_shared()}
        return positions, prototype_rows


def _describe_prototypes(prototypes: Any, names: list[str], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Describe each set of prototypes in words; the numbers make descriptions of different sets differ."""
    sets, set_of_row = np.unique(numbers, axis=0, return_inverse=True)
    used_numbers, position = np.unique(sets, return_inverse=True)
    table = pd.DataFrame(faithkit.plugin.take_rows(prototypes, used_numbers))
    rows = table.itertuples(index=False, name=None)
    descriptions = [
        f"prototype {number}: {', '.join(map(_describe_value, names, row))}"
        for number, row in zip(used_numbers, rows, strict=True)
    ]
    texts = ["; ".join(descriptions[i] for i in line) for line in position.reshape(sets.shape)]
    return np.fromiter(texts, dtype=object, count=len(texts))[set_of_row.ravel()]


def _describe_value(name: str, value: Any) -> str:
    if pd.isna(value):
        return f"{name} = missing"
    return f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
