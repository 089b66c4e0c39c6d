"""The explainer `nearest-counterfactual`: the closest row of the background with another label."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.distance_search import find_nearest_rows
from faithkit_example_based.distances import check_distance, learn_distance
from faithkit_example_based.distinct_rows import distinct_rows, take_plain_rows
from faithkit_example_based.refinement import Refinement
from faithkit_example_based.target import ALREADY, CounterfactualTarget

WHO = "nearest-counterfactual"
N_INSPECTED = 32  # nearest rows that are inspected first, for numbers
NONE_FAR_ENOUGH = "no row of the background differs enough"


class NearestCounterfactual:
    """The closest row of the background with another label: x′ = argmin d(x, x′) over f(x′) ≠ f(x).

    Labels are the model's predictions. If the model predicts numbers, they must differ by more than ε. An
    instance has no explanation if no row of the background differs so much.

    Of two rows at the same distance, the first by content counts as nearer (sorted by the first column, then
    the second, and so on). So the order of the background is irrelevant.

    Parameters
    ----------
    distance : str or callable, optional
        euclidean, standardized, manhattan, gower, or a function of two rows. By default gower where there
        are categories or missing values, else standardized.
    refine : bool
        Whether to move the counterfactual towards the instance as long as it keeps another label. First,
        changes are undone one column at a time, the largest first. Then the remaining numbers move along the
        segment, by ten steps of bisection. The result is never farther, and need not be a row of the
        background. Columns that hold only whole numbers keep whole numbers.
    within : float, optional
        The ε for numbers; `shared` has it. By default that of the measure (``agree="within:ε"``), else half a
        standard deviation of the predictions for the background.
    desired_range : list of two numbers, optional
        The smallest and the largest number that a counterfactual may have, such as [0, 10]. A row in this
        range has no explanation.

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
        self.within, self.desired_range = CounterfactualTarget.check_parameters(WHO, within, desired_range)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "NearestCounterfactual":
        """Learn the distance, and predict the labels or numbers of the background."""
        self.predictor_ = predictor
        self.distance_ = learn_distance(self.distance, background)
        self.rows_, _ = distinct_rows(background)
        self.labels_ = predictor.predict(self.rows_)
        self.target_ = CounterfactualTarget.of(WHO, predictor, background, self.within, self.desired_range)
        self._check_predictions()
        self.coordinates_ = self.distance_.coordinates(self.rows_)
        if self.refine:
            self.refinement_ = Refinement(predictor, self.target_, self.distance_, self.rows_)
        names = faithkit.plugin.Encoder(self.rows_).names
        self.shared_ = {
            "names": names,
            "distance": self.distance_.to_shared(),
            **self.target_.to_shared(),
        }
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the counterfactual of every row; no seeds are needed."""
        coordinates = self.distance_.coordinates(X)
        labels = self.predictor_.predict(X)
        numbers, remarks = self._find_counterfactuals(coordinates, labels)
        values = take_plain_rows(self.rows_, numbers)
        if self.refine and len(labels):
            values = self.refinement_.refine(X, values, labels)
        return faithkit.Explanations(
            kind="example",
            values=values,
            instances=X,
            missing=[remark is not None for remark in remarks],
            remarks=remarks,
            shared=self.shared_,
            relation="in-ball",
        )

    def _find_counterfactuals(
        self, coordinates: NDArray[Any], labels: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the number of each row's counterfactual in the background, and a remark if there is none."""
        numbers, remarks = np.zeros(len(labels), dtype=np.int64), np.full(len(labels), None, dtype=object)
        pending = np.arange(len(labels))
        if self.predictor_.is_regressor and len(pending):
            numbers, pending = self._search_nearest_rows(coordinates, labels)
        for rows, candidates in self._candidates(pending, labels):
            if len(candidates):
                positions = find_nearest_rows(
                    self.distance_, coordinates[rows], self.coordinates_[candidates], 1
                )
                numbers[rows] = candidates[positions[:, 0]]
            else:
                remarks[rows] = NONE_FAR_ENOUGH
        remarks[self.target_.is_already_met(labels)] = ALREADY
        return numbers, remarks

    def _search_nearest_rows(
        self, coordinates: NDArray[Any], labels: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Search for counterfactuals among the nearest rows only.

        Return the numbers of the counterfactuals, and the instances without any among their nearest rows.
        Nearly every number has its own set of candidates, so searching among all of them needs one search
        per instance.
        """
        near = find_nearest_rows(
            self.distance_, coordinates, self.coordinates_, min(N_INSPECTED, len(self.labels_))
        )
        is_target = self.target_.contains(self.labels_[near], labels[:, None])
        distances = self.distance_.between(coordinates[:, None], self.coordinates_[near])
        best = np.lexsort((distances, ~is_target), axis=1)[:, 0]  # a stable sort: the lowest number of equals
        return near[np.arange(len(near)), best], np.flatnonzero(~is_target.any(axis=1))

    def _candidates(
        self, rows: NDArray[np.int64], labels: NDArray[Any]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield instances with the same label, and the rows of the background that may be counterfactuals."""
        # with a desired range, all instances have the same candidates
        row_labels = labels[rows] if self.desired_range is None else np.zeros(len(rows))
        for label in np.unique(row_labels):
            yield rows[row_labels == label], np.flatnonzero(self.target_.contains(self.labels_, label))

    def _check_predictions(self) -> None:
        labels = self.labels_
        if self.desired_range is not None:
            if not self.target_.contains(labels, None).any():
                raise faithkit.errors.InputError(
                    f"{WHO}: the model's predictions for the background lie between {labels.min():g} and "
                    f"{labels.max():g}, none of them in the desired range {list(self.desired_range)}: give "
                    "another range, or more rows."
                )
        elif (labels == labels[0]).all():
            raise faithkit.errors.InputError(
                f"the model gives all {len(labels)} distinct rows of the background the label "
                f"{labels.tolist()[0]!r}, so none of them is a counterfactual: give a background of several "
                "labels."
            )
