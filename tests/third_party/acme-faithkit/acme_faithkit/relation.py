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
        mine, theirs = self.key(explanations), self.key(sample.explanations)
        return (mine[:, None] == theirs[None]).all(axis=2)
