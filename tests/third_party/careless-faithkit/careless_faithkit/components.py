"""Components that work at first sight."""

import numpy as np

from faithkit import Explanations


class Careless:
    """Some numbers."""

    def __init__(self, noise=1.0):
        self.noise = noise

    def fit(self, predictor, background):
        """Remember nothing, and return nothing."""

    def explain(self, X, seeds):
        """Draw from the global generator, as if nobody else did."""
        return Explanations.vectors(np.random.normal(size=(len(X), 2)) * self.noise)


class Top:
    """The top of something."""

    def discretize(self, explanations):
        """Number the explanations as they come."""
        return np.arange(len(explanations))
