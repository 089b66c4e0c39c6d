"""The paper's counterfactual: the closest point that gets another label, among the rows of the background."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.content import distinct_rows, plain_rows
from faithkit_example_based.distances import check_distance, learn_distance
from faithkit_example_based.refinement import Refinement
from faithkit_example_based.search import nearest


class NearestCounterfactual:
    """The closest row of the background with another label: x′ = argmin d(x, x′) over f(x′) ≠ f(x).

    Labels are the model's predictions. Of two rows at the same distance the one that comes first by content
    is nearer (sorted by the first column, then the second, and so on), so the order of the background is
    irrelevant.

    Parameters
    ----------
    distance : str or callable, optional
        euclidean, standardized, manhattan, gower, or a function of two rows. By default gower where there
        are categories or missing values, else standardized.
    refine : bool
        Whether the counterfactual is then moved towards the instance while its label stays another: changes
        are undone one column at a time, the largest first, and what is left of the numbers is halved ten
        times along the segment. The result is never farther, and need not be a row of the background.
        Columns that hold only whole numbers keep whole numbers.

    Examples
    --------
    >>> line = np.array([[0.0], [4.0], [10.0]])
    >>> model = faithkit.Predictor(lambda X: X[:, 0] > 4.5)
    >>> NearestCounterfactual().fit(model, line).explain(np.array([[3.0], [9.0]]), seeds=None).values
    array([[10.],
           [ 4.]])
    >>> refined = NearestCounterfactual(refine=True).fit(model, line + 0.25)
    >>> refined.explain(np.array([[3.0]]), seeds=None).values.round(2)
    array([[4.5]])
    """

    rows_per_chunk = 4096

    def __init__(self, distance: Any = None, refine: bool = False) -> None:
        if not isinstance(refine, bool):
            raise faithkit.ParameterError(
                f"nearest-counterfactual: refine must be true or false, got {refine!r}."
            )
        self.distance = check_distance("nearest-counterfactual", distance)
        self.refine = refine

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "NearestCounterfactual":
        """Learn the distance, and ask the model for the labels of the background."""
        self.predictor_ = predictor
        self.distance_ = learn_distance(self.distance, background)
        self.rows_, _ = distinct_rows(background)
        self.labels_ = predictor.predict(self.rows_)
        labels = sorted(set(self.labels_.tolist()))
        if len(labels) < 2:
            raise faithkit.InputError(
                f"the model gives all {len(self.labels_)} distinct rows of the background the label "
                f"{labels[0]!r}, so none of them is a counterfactual: give a background of several labels."
            )
        self.coordinates_ = self.distance_.coordinates(self.rows_)
        if self.refine:
            self.refinement_ = Refinement(predictor, self.distance_, self.rows_)
        names = faithkit.Encoder(self.rows_).names
        self.shared_ = {"names": names, "distance": self.distance_.to_shared()}
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the counterfactual of every row; no seeds are needed."""
        coordinates = self.distance_.coordinates(X)
        labels = self.predictor_.predict(X)
        values = plain_rows(self.rows_, self._numbers(coordinates, labels))
        if self.refine and len(labels):
            values = self.refinement_.refined(X, values, labels)
        return faithkit.Explanations(
            kind="example", values=values, instances=X, shared=self.shared_, relation="in-ball"
        )

    def _numbers(self, coordinates: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int64]:
        """Search for each label among the rows of all others."""
        found = np.empty(len(labels), dtype=np.int64)
        for label in sorted(set(labels.tolist())):
            mine, others = np.flatnonzero(labels == label), np.flatnonzero(self.labels_ != label)
            near = nearest(self.distance_, coordinates[mine], self.coordinates_[others], 1)
            found[mine] = others[near[:, 0]]
        return found
