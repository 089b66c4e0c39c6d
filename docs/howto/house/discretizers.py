"""A discretizer that keeps the set of the top features, without order and sign."""

from typing import ClassVar

import numpy as np

import faithkit


class TopSet:
    """Keep the set of the k features with the largest absolute importance.

    Of equal importances at the edge, keep the earlier columns.

    Parameters
    ----------
    k : int
        The number of features.

    Examples
    --------
    >>> phi = faithkit.Explanations.vectors([[0.5, -0.9, 0.1], [-0.9, 0.5, 0.1]])
    >>> TopSet(k=2).discretize(phi)
    array([[0, 1],
           [0, 1]])
    """

    tries: ClassVar = {"k": (1, 2, 3)}

    def __init__(self, k: int = 3) -> None:
        if not isinstance(k, int) or k < 1:
            raise faithkit.errors.ParameterError(
                f"top-set: k must be a whole number of at least 1, got {k!r}."
            )
        self.k = k

    def discretize(self, explanations):
        """Return one row per explanation: the positions of its top features, sorted."""
        width = explanations.values.shape[1]
        if self.k > width:
            raise faithkit.errors.InputError(
                f"top-set: k is {self.k}, and the explanations have {width} importances: choose a smaller k."
            )
        order = np.argsort(-np.abs(explanations.values), axis=1, kind="stable")
        return np.sort(order[:, : self.k], axis=1)

    def describe(self, identity, names):
        """Return the text of one identity for reports."""
        return " and ".join(str(j) if names is None else names[j] for j in identity)
