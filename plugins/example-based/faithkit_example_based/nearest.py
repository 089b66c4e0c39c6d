"""The relation `nearest`: a prototype applies to the instances whose nearest prototype it is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.distance_search import find_nearest_rows
from faithkit_example_based.distances import Distance
from faithkit_example_based.examples import (
    Metric,
    check_examples,
    draw_other_examples,
    prototype_numbers,
    sample_coordinates,
)


class Nearest(faithkit.plugin.Relation):
    """The example is the instance's nearest prototype; k examples are its k nearest prototypes.

    It reads the prototypes and the distance that the explainer stored with the explanations.

    Parameters
    ----------
    distance : callable, optional
        The distance function of the explainer, if it has one. Explanations carry only distances with a
        name.

    Examples
    --------
    >>> from faithkit_example_based.nearest_neighbor import NearestNeighbor
    >>> line = np.array([[0.0], [10.0]])
    >>> X = np.array([[1.0], [2.0], [9.0]])
    >>> examples = NearestNeighbor().fit(None, line).explain(X, seeds=None)
    >>> Nearest().holds(faithkit.plugin.Sample(X, examples), examples)[0]
    array([ True,  True, False])
    """

    name = "nearest"
    instance_only = True

    def __init__(self, distance: Any = None) -> None:
        if distance is not None and not callable(distance):
            raise faithkit.errors.ParameterError(
                f"nearest: distance must be the explainer's function, got {distance!r}: leave it out, "
                "since explanations carry every distance that has a name."
            )
        self._metric = Metric("nearest", distance)

    def fit(self, background: Any) -> "Nearest":
        """Return self; this relation needs no fitting."""
        return self

    def key(self, explanations: faithkit.Explanations) -> NDArray[np.int64]:
        """Return the numbers of the prototypes."""
        check_examples("nearest", explanations)
        if "prototypes" not in explanations.shared or "distance" not in explanations.shared:
            raise faithkit.errors.InputError(
                "nearest needs the prototypes that an example was chosen from, and how they were measured "
                "(shared['prototypes'] and shared['distance'], as nearest-neighbor gives them): "
                "use within, which asks for neither."
            )
        return prototype_numbers(explanations)

    def holds(self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations) -> NDArray[np.bool_]:
        """Compare the explanation's prototypes with the nearest of every instance."""
        numbers, nearest_numbers = self.key(explanations), self._nearest_prototypes(sample, explanations)
        is_same = np.ones((len(numbers), len(nearest_numbers)), dtype=bool)
        for number, nearest_number in zip(numbers.T, nearest_numbers.T, strict=True):
            is_same &= number[:, None] == nearest_number[None, :]
        return is_same

    def control(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations, seeds: NDArray[Any]
    ) -> faithkit.Explanations:
        """Take the example of a random row."""
        return draw_other_examples(self.key(explanations), explanations, seeds)

    def _nearest_prototypes(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> NDArray[np.int64]:
        prototypes, k = explanations.shared["prototypes"], self.key(explanations).shape[1]
        return sample.once(_find_nearest, self._metric.of(explanations), prototypes, k)


def _find_nearest(
    sample: faithkit.plugin.Sample, distance: Distance, prototypes: Any, k: int
) -> NDArray[np.int64]:
    x = sample_coordinates("nearest", distance, sample)
    return find_nearest_rows(distance, x, distance.coordinates(prototypes), k)
