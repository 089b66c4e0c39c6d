"""What relations and discretizers read of explanations by example, checked.

Examples come in two forms: as rows, like X (counterfactuals, logs), or as the numbers of k rows of
`shared["prototypes"]` (nearest neighbours).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.distances import Distance, check_distance, learn_distance, shared_distance


def check_examples(who: str, explanations: faithkit.Explanations) -> None:
    """Refuse explanations of another kind."""
    if explanations.kind != "example":
        raise faithkit.errors.InputError(
            f"{who} reads examples, and these explanations are of kind {explanations.kind!r}: "
            "name another one, or an explainer that gives examples, such as nearest-counterfactual."
        )


def example_rows(who: str, explanations: faithkit.Explanations) -> Any:
    """Return the one example of every row, as rows.

    Examples
    --------
    >>> shared = {"prototypes": np.array([[0.0], [7.0]])}
    >>> nearest = faithkit.Explanations(kind="example", values=np.array([[1], [1]]), shared=shared)
    >>> example_rows("delta", nearest)
    array([[7.],
           [7.]])
    """
    check_examples(who, explanations)
    if "prototypes" not in explanations.shared:
        return explanations.values
    numbers = prototype_numbers(explanations)
    if numbers.shape[1] > 1:
        raise faithkit.errors.InputError(
            f"{who} reads one example per row, and these explanations have {numbers.shape[1]} each: use k=1."
        )
    return faithkit.plugin.take_rows(explanations.shared["prototypes"], numbers[:, 0])


def prototype_numbers(explanations: faithkit.Explanations) -> NDArray[np.int64]:
    """Return the numbers of the prototypes, one column for each of the k."""
    return np.asarray(explanations.values, dtype=np.int64)


def explained_rows(who: str, explanations: faithkit.Explanations) -> Any:
    """Return the instances that were explained, or say that they are needed."""
    if explanations.instances is None:
        raise faithkit.errors.InputError(
            f"{who} reads the explained instances beside their examples, and none are there: "
            "give Explanations(…, instances=X)."
        )
    return explanations.instances


class Metric:
    """The distance of a relation: the explainer's own where the explanations carry it, else a learnt one.

    Parameters
    ----------
    who : str
        The relation, for messages.
    given : str, callable or None
        What the user asked for.
    """

    def __init__(self, who: str, given: Any) -> None:
        self.who = who
        self.given = check_distance(who, given)
        self.background: Any = None
        self._found: tuple[Any, Distance] | None = None

    def fit(self, background: Any) -> None:
        """Remember the background; it is read only where explanations carry no distance."""
        self.background, self._found = background, None

    def of(self, explanations: faithkit.Explanations) -> Distance:
        """Return the distance to measure these explanations with."""
        carried = explanations.shared.get("distance")
        if self._found is None or self._found[0] is not carried:
            self._found = carried, self._make(carried)
        return self._found[1]

    def told(self, before: str) -> str:
        """Return how the distance was asked for, as one writes it; nothing where it was not."""
        return f"{before}distance={self.given}" if isinstance(self.given, str) else ""

    def _make(self, carried: Any) -> Distance:
        if carried is not None and not callable(self.given):
            if carried.get("function") and self.given is None:
                raise faithkit.errors.InputError(
                    f"the explainer measured with the function {carried['name']}, which explanations cannot "
                    f"carry: give {self.who} the same function as its distance."
                )
            if self.given in (None, carried["name"]):
                return shared_distance(carried)
        if self.background is None and not callable(self.given):
            raise faithkit.errors.InputError(
                f"{self.who} has no distance yet: the explanations carry none, and it was not fitted. "
                "Fit it on a background first, such as the rows that the model was trained on."
            )
        return learn_distance(self.given, self.background)


def sample_coordinates(who: str, distance: Distance, sample: faithkit.plugin.Sample) -> NDArray[Any]:
    """Return the coordinates of a sample's instances, computed once."""
    return sample.once(_coordinates, distance, who)


def _coordinates(sample: faithkit.plugin.Sample, distance: Distance, who: str) -> NDArray[Any]:
    return distance.coordinates(sample.instances(who))
