"""Instances that deviate in the same direction."""

import numpy as np

from faithkit.plugin import Relation


class SameDirection(Relation):
    """The instance's own explanation has the same sign in every column."""

    name = "same-direction"
    groups = True

    def key(self, explanations):
        """Return the signs."""
        return np.sign(explanations.values)

    def holds(self, sample, explanations):
        """Compare signs."""
        signs, sample_signs = self.key(explanations), self.key(sample.explanations)
        return (signs[:, None] == sample_signs[None]).all(axis=2)
