"""When a prototype applies to an instance: within a distance of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

import faithkit


class Within(faithkit.Relation):
    """The instance lies within the Euclidean distance `tau` of the example.

    It is not reflexive: an example need not lie within `tau` of the instance it explains.

    Parameters
    ----------
    tau : float
        The largest distance at which an example still applies.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> prototypes = faithkit.Explanations(kind="example", values=np.array([[0.5], [0.5], [0.5]]))
    >>> Within(tau=0.5).holds(faithkit.Sample(X, prototypes), prototypes)[0]
    array([ True,  True, False])
    """

    name = "within"

    def __init__(self, tau: float) -> None:
        if not isinstance(tau, int | float) or not tau >= 0:
            raise faithkit.ParameterError(f"within: tau must be a number of at least 0, got {tau!r}.")
        self.tau = tau

    def key(self, explanations: faithkit.Explanations) -> Any:
        """Return the examples."""
        if explanations.kind != "example":
            raise faithkit.InputError(
                f"within reads examples, and these explanations are of kind {explanations.kind!r}: "
                "name another relation, or an explainer that gives examples."
            )
        return explanations.values

    def holds(self, sample: faithkit.Sample, explanations: faithkit.Explanations) -> NDArray[np.bool_]:
        """Compare distances with tau."""
        near: NDArray[np.bool_] = (
            cdist(_numbers(self.key(explanations)), _numbers(sample.instances("within"))) <= self.tau
        )
        return near


def _numbers(rows: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise faithkit.InputError(
            "within measures Euclidean distances, which need numeric columns: encode the categories first."
        ) from None
