"""The paper's counterfactual: the closest point that gets another label, among the rows of the background."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.content import distinct_rows, plain_rows
from faithkit_example_based.distances import check_distance, learn_distance
from faithkit_example_based.refinement import Refinement
from faithkit_example_based.search import nearest
from faithkit_example_based.wanted import ALREADY, Wanted

WHO = "nearest-counterfactual"
FIRST = 32  # of the nearest rows that are looked at
NONE_FAR_ENOUGH = "no row of the background differs enough"


class NearestCounterfactual:
    """The closest row of the background with another label: x′ = argmin d(x, x′) over f(x′) ≠ f(x).

    Labels are the model's predictions. Where it predicts numbers, one is another that differs by more than ε,
    and an instance that no row of the background differs from so much has no explanation.

    Of two rows at the same distance the one that comes first by content is nearer (sorted by the first
    column, then the second, and so on), so the order of the background is irrelevant.

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
    within : float, optional
        The ε of numbers; `shared` tells it. By default what the measure counts as equal
        (``agree="within:ε"``), else half a standard deviation of the predictions for the background.
    desired_range : list of two numbers, optional
        The least and the greatest number that is wanted instead, such as [0, 10]. A row that has one already
        has no explanation.

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

    outcomes = ("labels", "numbers")
    rows_per_chunk = 4096

    def __init__(
        self,
        distance: Any = None,
        refine: bool = False,
        within: float | None = None,
        desired_range: Any = None,
    ) -> None:
        if not isinstance(refine, bool):
            raise faithkit.errors.ParameterError(f"{WHO}: refine must be true or false, got {refine!r}.")
        self.distance = check_distance(WHO, distance)
        self.refine = refine
        self.within, self.desired_range = Wanted.checked(WHO, within, desired_range)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "NearestCounterfactual":
        """Learn the distance, and ask the model for the labels, or numbers, of the background."""
        self.predictor_ = predictor
        self.distance_ = learn_distance(self.distance, background)
        self.rows_, _ = distinct_rows(background)
        self.labels_ = predictor.predict(self.rows_)
        self.wanted_ = Wanted.of(WHO, predictor, background, self.within, self.desired_range)
        self._check_choice()
        self.coordinates_ = self.distance_.coordinates(self.rows_)
        if self.refine:
            self.refinement_ = Refinement(predictor, self.wanted_, self.distance_, self.rows_)
        names = faithkit.plugin.Encoder(self.rows_).names
        self.shared_ = {
            "names": names,
            "distance": self.distance_.to_shared(),
            **self.wanted_.to_shared(),
        }
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the counterfactual of every row; no seeds are needed."""
        coordinates = self.distance_.coordinates(X)
        labels = self.predictor_.predict(X)
        numbers, remarks = self._numbers(coordinates, labels)
        values = plain_rows(self.rows_, numbers)
        if self.refine and len(labels):
            values = self.refinement_.refined(X, values, labels)
        return faithkit.Explanations(
            kind="example",
            values=values,
            instances=X,
            missing=[remark is not None for remark in remarks],
            remarks=remarks,
            shared=self.shared_,
            relation="in-ball",
        )

    def _numbers(
        self, coordinates: NDArray[Any], labels: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the number of each row's counterfactual, and why it has none, where it has none."""
        found, remarks = np.zeros(len(labels), dtype=np.int64), np.full(len(labels), None, dtype=object)
        left = np.arange(len(labels))
        if self.predictor_.is_regressor and len(left):
            left = self._take_from_near(found, coordinates, labels)
        for mine, others in self._choices(left, labels):
            if len(others):
                near = nearest(self.distance_, coordinates[mine], self.coordinates_[others], 1)
                found[mine] = others[near[:, 0]]
            else:
                remarks[mine] = NONE_FAR_ENOUGH
        remarks[self.wanted_.has_already(labels)] = ALREADY
        return found, remarks

    def _take_from_near(
        self, found: NDArray[np.int64], coordinates: NDArray[Any], labels: NDArray[Any]
    ) -> NDArray[np.int64]:
        """Look among the nearest rows for one that is wanted; return which instances have none there.

        Nearly every number wants others of the background, so that to search among these takes a search for
        each.
        """
        near = nearest(self.distance_, coordinates, self.coordinates_, min(FIRST, len(self.labels_)))
        wanted = self.wanted_.is_other(self.labels_[near], labels[:, None])
        far = self.distance_.between(coordinates[:, None], self.coordinates_[near])
        best = np.lexsort((far, ~wanted), axis=1)[:, 0]  # of equals the lowest number, which is first
        found[:] = near[np.arange(len(near)), best]
        return np.flatnonzero(~wanted.any(axis=1))

    def _choices(
        self, rows: NDArray[np.int64], labels: NDArray[Any]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return which of some rows have their counterfactual among which of the background's."""
        own = labels[rows] if self.desired_range is None else np.zeros(len(rows))  # which all want the same
        for label in np.unique(own):
            yield rows[own == label], np.flatnonzero(self.wanted_.is_other(self.labels_, label))

    def _check_choice(self) -> None:
        known = self.labels_
        if self.desired_range is not None:
            if not self.wanted_.is_other(known, None).any():
                raise faithkit.errors.InputError(
                    f"{WHO}: the model's predictions for the background lie between {known.min():g} and "
                    f"{known.max():g}, none of them in the desired range {list(self.desired_range)}: give "
                    "another range, or more rows."
                )
        elif (known == known[0]).all():
            raise faithkit.errors.InputError(
                f"the model gives all {len(known)} distinct rows of the background the label "
                f"{known.tolist()[0]!r}, so none of them is a counterfactual: give a background of several "
                "labels."
            )
