"""The relation `in-ball`: a counterfactual applies to instances nearer to the explained one than it is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.balls import Balls
from faithkit_example_based.examples import (
    Metric,
    draw_other_examples,
    example_rows,
    explained_rows,
    sample_coordinates,
)


class InBall(faithkit.plugin.Relation):
    """The instance lies in the open ball around the explained one that reaches to its counterfactual.

    A counterfactual x′ of x says that every point nearer to x than x′ has x's label.

    Parameters
    ----------
    distance : str or callable, optional
        euclidean, standardized, manhattan, gower, or a function of two rows. By default that of the
        explainer; where explanations carry none, gower for a background with categories or missing values,
        else standardized.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> examples = faithkit.Explanations(kind="example", values=X[[2, 2, 0]], instances=X)
    >>> InBall(distance="euclidean").fit(X).holds(faithkit.plugin.Sample(X, examples), examples)
    array([[ True,  True, False],
           [False,  True, False],
           [False,  True,  True]])
    """

    name = "in-ball"
    instance_only = True

    def __init__(self, distance: Any = None) -> None:
        self._metric = Metric("in-ball", distance)

    def fit(self, background: Any) -> "InBall":
        """Store the background, for explanations that carry no distance."""
        self._metric.fit(background)
        return self

    def key(self, explanations: faithkit.Explanations) -> Any:
        """Return the explained instances and their counterfactuals, side by side."""
        return explained_rows("in-ball", explanations), example_rows("in-ball", explanations)

    def holds(self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations) -> NDArray[np.bool_]:
        """Compute every distance with the plain formula."""
        balls, x = self._prepare(sample, explanations)
        return balls.holds(x)

    def packed(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> NDArray[np.uint64]:
        """Compute only the distances that a float32 screen leaves undecided."""
        balls, x = self._prepare(sample, explanations)
        return balls.packed(x)

    def control(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations, seeds: NDArray[Any]
    ) -> faithkit.Explanations:
        """Take the example of a random row, and its ball."""
        return draw_other_examples(self.key(explanations), explanations, seeds)

    def __str__(self) -> str:
        return f"in-ball{self._metric.to_parameter(':')}"

    def _prepare(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> tuple[Balls, NDArray[Any]]:
        """Return the balls, and the coordinates of the instances."""
        instances, counterfactuals = self.key(explanations.take(~explanations.missing))
        distance = self._metric.of(explanations)
        centres, ends = distance.coordinates(instances), distance.coordinates(counterfactuals)
        x = sample_coordinates("in-ball", distance, sample)
        return Balls(distance, centres, distance.between(centres, ends), True, explanations.missing), x
