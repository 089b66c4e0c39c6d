"""The columns that stand out."""

import numpy as np

from faithkit.errors import ParameterError


class Top:
    """The k columns of largest absolute value, in the order of the columns.

    Parameters
    ----------
    k : int
        How many.
    """

    def __init__(self, k=1):
        if not isinstance(k, int) or k < 1:
            raise ParameterError(f"top: k must be a whole number of at least 1, got {k!r}.")
        self.k = k

    def discretize(self, explanations):
        """Return the positions of the columns."""
        order = np.argsort(-np.abs(np.nan_to_num(explanations.values)), axis=1, kind="stable")
        return np.sort(order[:, : self.k], axis=1)

    def describe(self, identity, names):
        """Name the columns."""
        return " and ".join(names[j] if names else f"column {j}" for j in identity)
