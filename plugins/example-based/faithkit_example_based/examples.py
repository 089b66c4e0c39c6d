"""Read, check and compare explanations by example.

Examples come in two forms: as rows, like X (counterfactuals, logs), or as the numbers of k rows of
`shared["prototypes"]` (nearest neighbours).
"""

from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.distances import Distance, check_distance, learn_distance, shared_distance


def check_examples(name: str, explanations: faithkit.Explanations) -> None:
    """Refuse explanations of another kind."""
    if explanations.kind != "example":
        raise faithkit.errors.InputError(
            f"{name} reads examples, and these explanations are of kind {explanations.kind!r}: "
            "name another one, or an explainer that gives examples, such as nearest-counterfactual."
        )


def example_rows(name: str, explanations: faithkit.Explanations) -> Any:
    """Return the example of every explanation, as rows; refuse several examples each.

    Examples
    --------
    >>> shared = {"prototypes": np.array([[0.0], [7.0]])}
    >>> nearest = faithkit.Explanations(kind="example", values=np.array([[1], [1]]), shared=shared)
    >>> example_rows("delta", nearest)
    array([[7.],
           [7.]])
    """
    check_examples(name, explanations)
    if "prototypes" not in explanations.shared:
        return explanations.values
    numbers = prototype_numbers(explanations)
    if numbers.shape[1] > 1:
        raise faithkit.errors.InputError(
            f"{name} reads one example per row, and these explanations have {numbers.shape[1]} each: use k=1."
        )
    return faithkit.plugin.take_rows(explanations.shared["prototypes"], numbers[:, 0])


def prototype_numbers(explanations: faithkit.Explanations) -> NDArray[np.int64]:
    """Return the numbers of the k prototypes of each explanation, (n, k)."""
    return np.asarray(explanations.values, dtype=np.int64)


def explained_rows(name: str, explanations: faithkit.Explanations) -> Any:
    """Return the explained instances; raise an error if there are none."""
    if explanations.instances is None:
        raise faithkit.errors.InputError(
            f"{name} reads the explained instances beside their examples, and none are there: "
            "give Explanations(…, instances=X)."
        )
    return explanations.instances


def align_columns(name: str, x: pd.DataFrame, y: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of x, by their names, in the order of y.

    Examples
    --------
    >>> x, y = pd.DataFrame({"b": [1], "a": [2]}), pd.DataFrame({"a": [5], "b": [6]})
    >>> align_columns("delta", x, y).iloc[0].tolist()
    [2, 1]
    """
    positions = {str(column): j for j, column in enumerate(x.columns)}
    absent = [str(column) for column in y.columns if str(column) not in positions]
    if absent or x.shape[1] != y.shape[1]:
        raise faithkit.errors.InputError(
            f"{name}: the examples have {y.shape[1]} columns and the instances {x.shape[1]}"
            f"{f', and {absent[0]!r} is not among them' if absent else ''}: give both the same columns."
        )
    return x.iloc[:, [positions[str(column)] for column in y.columns]]


def find_differences(x: Any, y: Any) -> NDArray[np.bool_]:
    """Return where two columns differ; two missing values are equal.

    Examples
    --------
    >>> find_differences(pd.Series(["a", None, "a"]), pd.Series(["a", None, None]))
    array([False, False,  True])
    """
    missing_x, missing_y = (np.asarray(column.isna()) for column in (x, y))
    present = ~(missing_x | missing_y)
    a, b = (column.to_numpy(dtype=object)[present] for column in (x, y))
    differs = missing_x != missing_y
    differs[present] = a != b
    return differs


def draw_other_examples(
    key: Any, explanations: faithkit.Explanations, seeds: NDArray[Any]
) -> faithkit.Explanations:
    """Return, for each row, the explanation of a random row: its example and its ball.

    `key` has what the relation reads of the explanations. Rows are drawn from an order by content, so the
    order of the sample does not matter.

    Examples
    --------
    >>> examples = faithkit.Explanations(kind="example", values=np.array([[1], [2], [3]]))
    >>> drawn = draw_other_examples(examples.values, examples, np.arange(3, dtype=np.uint32))
    >>> set(drawn.values.ravel().tolist()) <= {1, 2, 3}
    True
    """
    present = np.flatnonzero(~explanations.missing)
    if not len(present):
        return explanations
    words = faithkit.plugin.hash_content(key)[present]
    order = present[np.argsort(words, kind="stable")]
    uniforms = faithkit.plugin.row_uniforms(seeds, 1)[:, 0]
    draws = explanations.take(order[(uniforms * len(order)).astype(np.int64)])
    return attrs.evolve(draws, missing=explanations.missing, remarks=explanations.remarks, identity=None)


class Metric:
    """The distance of a relation: the one that the explanations carry, else one learnt from a background.

    Parameters
    ----------
    relation : str
        The name of the relation, for messages.
    distance : str, callable or None
        The distance that the user chose.
    """

    def __init__(self, relation: str, distance: Any) -> None:
        self.relation = relation
        self.distance = check_distance(relation, distance)
        self.background: Any = None
        self._cached: tuple[Any, Distance] | None = None

    def fit(self, background: Any) -> None:
        """Store the background; it is used only where explanations carry no distance."""
        self.background, self._cached = background, None

    def of(self, explanations: faithkit.Explanations) -> Distance:
        """Return the distance for these explanations."""
        carried = explanations.shared.get("distance")
        if self._cached is None or self._cached[0] is not carried:
            self._cached = carried, self._resolve(carried)
        return self._cached[1]

    def to_parameter(self, separator: str) -> str:
        """Return "distance=name" after a separator; empty if the user chose no named distance."""
        return f"{separator}distance={self.distance}" if isinstance(self.distance, str) else ""

    def _resolve(self, carried: Any) -> Distance:
        if carried is not None and not callable(self.distance):
            if carried.get("function") and self.distance is None:
                raise faithkit.errors.InputError(
                    f"the explainer measured with the function {carried['name']}, which explanations cannot "
                    f"carry: give {self.relation} the same function as its distance."
                )
            if self.distance in (None, carried["name"]):
                return shared_distance(carried)
        if self.background is None and not callable(self.distance):
            raise faithkit.errors.InputError(
                f"{self.relation} has no distance yet: the explanations carry none, and it was not fitted. "
                "Fit it on a background first, such as the rows that the model was trained on."
            )
        return learn_distance(self.distance, self.background)


def sample_coordinates(relation: str, distance: Distance, sample: faithkit.plugin.Sample) -> NDArray[Any]:
    """Return the coordinates of the instances of a sample, computed once per sample."""
    return sample.once(_coordinates, distance, relation)


def _coordinates(sample: faithkit.plugin.Sample, distance: Distance, relation: str) -> NDArray[Any]:
    return distance.coordinates(sample.instances(relation))
