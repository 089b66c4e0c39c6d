"""Explanations whose signs are alike."""

from typing import Any

import numpy as np

from faithkit import Explanations
from faithkit.errors import ParameterError
from faithkit.plugin import Relation, Sample


class Mine(Relation):
    """The instance's own explanation has the same signs, but for a few features.

    Parameters
    ----------
    but : int
        How many features may have another sign.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.5, -0.9], [0.1, -0.2], [0.3, 0.4]])
    >>> Mine().holds(Sample(None, phi), phi).tolist()
    [[True, True, False], [True, True, False], [False, False, True]]
    """

    name = "mine"

    def __init__(self, but: int = 0) -> None:
        if not isinstance(but, int) or but < 0:
            raise ParameterError(f"mine: but must be a whole number of at least 0, got {but!r}.")
        self.but = but

    def key(self, explanations: Explanations) -> Any:
        """Return all that `holds` reads of explanations: equal keys are asked about once."""
        return np.sign(explanations.values)

    def holds(self, sample: Sample, explanations: Explanations) -> Any:
        """Return for each explanation, in rows, whether it applies to each instance, in columns."""
        own, asked = self.key(sample.explanations), self.key(explanations)
        alike = (asked[:, None, :] != own[None, :, :]).sum(axis=2) <= self.but
        return alike & ~explanations.missing[:, None] & ~sample.explanations.missing[None, :]
