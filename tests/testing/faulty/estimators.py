"""One sound estimator, and heirs of it with one fault each."""

import numpy as np


class Sound:
    """One half for everybody."""

    name = "sound"

    def scores(self, tally):
        return np.full(tally.owners.shape, 0.5)


class ScoresExplanations(Sound):
    """One score for each explanation, not for each owner."""

    def scores(self, tally):
        return super().scores(tally)[0]


class CountsInPercent(Sound):
    """50 of 100."""

    def scores(self, tally):
        return 100 * super().scores(tally)


class ChangesTheTally(Sound):
    """Smooths in place."""

    def scores(self, tally):
        tally.counts[:] += 1
        return super().scores(tally)


class AddsNoise(Sound):
    """Another score each time."""

    def scores(self, tally):
        return super().scores(tally) * np.random.default_rng().random()


class UsesThePosition(Sound):
    """The first explanation scores best."""

    def scores(self, tally):
        return super().scores(tally) / (1 + np.arange(len(tally.counts)))[:, None]
