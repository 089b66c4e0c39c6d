"""When a prototype applies to an instance: when it is the nearest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.distances import Distance
from faithkit_example_based.examples import Metric, check_examples, prototype_numbers, sample_coordinates
from faithkit_example_based.search import nearest


class Nearest(faithkit.plugin.Relation):
    """The example is the instance's nearest prototype; of k examples, they are its k nearest.

    It reads the prototypes and the distance that the explainer left with the explanations.

    Parameters
    ----------
    distance : callable, optional
        The function that the explainer measured with, where it was a function: explanations carry the
        distances that have a name.

    Examples
    --------
    >>> from faithkit_example_based.nearest_neighbor import NearestNeighbor
    >>> line = np.array([[0.0], [10.0]])
    >>> X = np.array([[1.0], [2.0], [9.0]])
    >>> found = NearestNeighbor().fit(None, line).explain(X, seeds=None)
    >>> Nearest().holds(faithkit.plugin.Sample(X, found), found)[0]
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
        """Return self: all that is needed comes with the explanations."""
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
        mine, theirs = self.key(explanations), self._nearest(sample, explanations)
        same = np.ones((len(mine), len(theirs)), dtype=bool)
        for number, nearest_number in zip(mine.T, theirs.T, strict=True):
            same &= number[:, None] == nearest_number[None, :]
        return same

    def _nearest(
        self, sample: faithkit.plugin.Sample, explanations: faithkit.Explanations
    ) -> NDArray[np.int64]:
        prototypes, k = explanations.shared["prototypes"], self.key(explanations).shape[1]
        return sample.once(_nearest, self._metric.of(explanations), prototypes, k)


def _nearest(
    sample: faithkit.plugin.Sample, distance: Distance, prototypes: Any, k: int
) -> NDArray[np.int64]:
    x = sample_coordinates("nearest", distance, sample)
    return nearest(distance, x, distance.coordinates(prototypes), k)
