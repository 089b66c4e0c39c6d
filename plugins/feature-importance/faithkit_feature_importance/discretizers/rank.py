"""The discretizer `rank`: the order of importances."""

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import argsort_rows, read_importances


class Rank:
    """Keep the order of the importances: argsort(φ), the columns from the smallest importance to the largest.

    Equal importances keep the order of their columns. NaN comes last. With target=all, the importances of all
    classes are ordered together. An offset after the importances is dropped.

    Examples
    --------
    >>> Rank().discretize(faithkit.Explanations.vectors([[0.3, -0.2, 0.1]]))
    array([[1, 2, 0]], dtype=uint8)
    """

    phrase = "by the order of importances"

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.unsignedinteger]:
        """Return the columns in the order of their importances."""
        return argsort_rows(read_importances("rank", explanations, offsets=False))

    def describe(self, identity: NDArray[np.unsignedinteger], names: list[str] | None) -> str:
        """Describe one order, from the smallest importance to the largest."""
        return " ≤ ".join(str(j) if names is None else names[j] for j in identity.tolist())
