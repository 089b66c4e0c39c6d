"""Find the instances that lie in balls around rows, one ball for each explanation."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.distance_search import find_rows_within, find_rows_within_plain
from faithkit_example_based.distances import Distance, Floats


@attrs.frozen(eq=False)
class Balls:
    """One ball for each explanation; a missing explanation has none, and holds for no instance.

    Parameters
    ----------
    distance : Distance
    centres : (m,) coordinates
    radius : (m,) float
    is_open : bool
        Whether the balls exclude the points at exactly the radius.
    missing : (n_explanations,) bool
        Which explanations are missing; the others are the m balls, in order.
    """

    distance: Distance
    centres: NDArray[Any]
    radius: Floats
    is_open: bool
    missing: NDArray[np.bool_]

    def holds(self, x: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the matrix of explanations and instances, computed with the plain formula."""
        return self._fill_missing(
            find_rows_within_plain(self.distance, self.centres, self.radius, x, self.is_open)
        )

    def packed(self, x: NDArray[Any]) -> NDArray[np.uint64]:
        """Return packed bits; measure only pairs that a float32 screen leaves undecided."""
        return self._fill_missing(find_rows_within(self.distance, self.centres, self.radius, x, self.is_open))

    def _fill_missing(self, matrix: NDArray[Any]) -> NDArray[Any]:
        if not self.missing.any():
            return matrix
        filled = np.zeros((len(self.missing), matrix.shape[1]), dtype=matrix.dtype)
        filled[~self.missing] = matrix
        return filled
