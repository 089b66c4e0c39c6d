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


class OverflowsWhenLarge(Sound):
    """The square of many does not fit."""

    def scores(self, tally):
        many = tally.counts.sum(axis=1, keepdims=True).astype(np.int32)
        squared = (many * many).astype(float)
        share = tally.counts * many / np.where(squared == 0, 1, squared)
        return np.broadcast_to(share, tally.owners.shape)


class BoostsTheRare(Sound):
    """What is rare counts double, and more than 1."""

    def scores(self, tally):
        rare = tally.counts < 0.02 * tally.counts.sum(axis=1, keepdims=True)
        return super().scores(tally) * np.where(rare, 4.0, 1.0)


class PrefersTheFirstLabel(Sound):
    """Labels have no order."""

    def scores(self, tally):
        return super().scores(tally) / (1 + np.arange(tally.counts.shape[1]))


class BorrowsAnInterval(Sound):
    """One half is no estimate of anything, and the interval is another's."""

    interval = True


class ExpectsFive(Sound):
    """Five of one."""

    def by_chance(self, verified, chance):
        return 5.0


class WeighsBelowZero(Sound):
    """Nobody counts less than nothing."""

    def weigh(self, tally):
        return -1.0


class WeighsExplanations(Sound):
    """One weight for each explanation, which are not the last axis."""

    def weigh(self, tally):
        return np.ones(len(tally.counts))


class WeighsTheFirstLabelMost(Sound):
    """Labels have no order."""

    def weigh(self, tally):
        return 1 / (1 + np.arange(tally.counts.shape[1]))


class WeighsAtRandom(Sound):
    """Another weight each time."""

    def weigh(self, tally):
        return np.random.default_rng().random()


class WeighsInPlace(Sound):
    """Owners count once, from then on."""

    def weigh(self, tally):
        tally.owners[:] = tally.owners.clip(max=1)
        return 1.0


class ScoresNothing(Sound):
    """No owner gets a number."""

    def scores(self, tally):
        return np.full(tally.owners.shape, np.nan)


class ComparesWithTheMean(Sound):
    """Says that parts suffice, and looks at all explanations."""

    whole = False

    def scores(self, tally):
        shares = tally.agreeing / np.maximum(tally.others, 1)
        mean = (shares * tally.owners).sum() / tally.owners.sum()
        return 1 - np.clip(np.abs(shares - mean), 0, 1)


class ComparesWithTheMeanAndSaysSo(ComparesWithTheMean):
    """Asks for the whole tally."""

    whole = True


class WeighsByTheTotal(Sound):
    """Scores parts alone, and weighs them by the number of all instances."""

    whole = False

    def weigh(self, tally):
        return np.full(tally.owners.shape, 1 / tally.n)


class SaysWhole(Sound):
    """A word where True or False is due."""

    whole = "yes"


class ScoresParts(Sound):
    """Says that parts suffice, and they do."""

    whole = False

    def scores(self, tally):
        return tally.agreeing / np.maximum(tally.others, 1)
