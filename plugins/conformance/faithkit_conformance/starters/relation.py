"""A relation between explanations with similar signs."""

from typing import Any

import numpy as np

from faithkit import Explanations
from faithkit.errors import ParameterError
from faithkit.plugin import Relation, Sample


class Starter(Relation):
    """Hold for instances whose own explanation has the same signs, except for a few features.

    Parameters
    ----------
    tolerance : int
        How many features may have another sign.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.5, -0.9], [0.1, -0.2], [0.3, 0.4]])
    >>> Starter().holds(Sample(None, phi), phi).tolist()
    [[True, True, False], [True, True, False], [False, False, True]]
    """

    name = "starter"

    def __init__(self, tolerance: int = 0) -> None:
        if not isinstance(tolerance, int) or tolerance < 0:
            raise ParameterError(
                f"starter: tolerance must be a whole number of at least 0, got {tolerance!r}."
            )
        self.tolerance = tolerance

    def key(self, explanations: Explanations) -> Any:
        """Return everything that `holds` reads from explanations; equal keys are evaluated once."""
        return np.sign(explanations.values)

    def holds(self, sample: Sample, explanations: Explanations) -> Any:
        """Return whether each explanation (in rows) holds for each instance (in columns)."""
        sample_signs, signs = self.key(sample.explanations), self.key(explanations)
        is_alike = (signs[:, None, :] != sample_signs[None, :, :]).sum(axis=2) <= self.tolerance
        return is_alike & ~explanations.missing[:, None] & ~sample.explanations.missing[None, :]
