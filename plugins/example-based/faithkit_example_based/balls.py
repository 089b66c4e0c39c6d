"""Balls around rows, one for each explanation: which instances lie in them."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.distances import Distance, Floats
from faithkit_example_based.search import closer, closer_plain


@attrs.frozen(eq=False)
class Balls:
    """Balls of the explanations that are not missing; a missing one has none, and holds for nothing.

    Parameters
    ----------
    distance : Distance
    centres : (m,) coordinates
    radius : (m,) float
    is_open : bool
        Whether the balls are open: without the points at just the radius.
    missing : (m + missing,) bool
    """

    distance: Distance
    centres: NDArray[Any]
    radius: Floats
    is_open: bool
    missing: NDArray[np.bool_]

    def holds(self, x: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the Boolean matrix, measuring every pair by the elementary formula."""
        return self._spread(closer_plain(self.distance, self.centres, self.radius, x, self.is_open))

    def packed(self, x: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the same as bits, measuring only what a screen in float32 leaves open."""
        return self._spread(closer(self.distance, self.centres, self.radius, x, self.is_open))

    def _spread(self, found: NDArray[Any]) -> NDArray[Any]:
        if not self.missing.any():
            return found
        answers = np.zeros((len(self.missing), found.shape[1]), dtype=found.dtype)
        answers[~self.missing] = found
        return answers
