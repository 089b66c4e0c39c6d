"""One sound relation, and heirs of it with one fault each."""

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.plugin import Objection, Relation, pack_bits


class Sound(Relation):
    """The first number of the instance is at most the first number of the explanation."""

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return sample.X[None, :, 0] <= explanations.values[:, None, 0]


class RefusesEverything(Sound):
    """There is nothing that it relates."""

    def holds(self, sample, explanations):
        raise InputError("today is Sunday.")


class FitReturnsNone(Sound):
    """The last line of fit was forgotten."""

    def fit(self, background, n):
        self.known_ = background


class LearnsTheFirstRow(Sound):
    """Another shift, if the same background is sorted."""

    def fit(self, background, n):
        self.shift_ = 0.0 if background is None else background[0, 0]
        return self

    def holds(self, sample, explanations):
        return sample.X[None, :, 0] <= explanations.values[:, None, 0] + self.shift_


class GivesNumbers(Sound):
    """0 and 1 instead of False and True."""

    def holds(self, sample, explanations):
        return super().holds(sample, explanations).astype(int)


class GivesItTheOtherWayRound(Sound):
    """Instances are rows."""

    def holds(self, sample, explanations):
        return super().holds(sample, explanations).T


class PadsWithOnes(Sound):
    """Instances that do not exist are counted."""

    def packed(self, sample, explanations):
        return ~pack_bits(~super().holds(sample, explanations))


class ForgetsAKey(Sound):
    """One key less."""

    def key(self, explanations):
        return explanations.values[1:]


class HasKeysWithoutHash(Sound):
    """Lists have no hash."""

    def key(self, explanations):
        return explanations.values.tolist()


class PacksTheFirstWordOnly(Sound):
    """Right, up to 64 instances."""

    def packed(self, sample, explanations):
        bits = pack_bits(super().holds(sample, explanations))
        bits[:, 1:] = 0
        return bits


class TossesACoin(Sound):
    """Another answer each time."""

    def holds(self, sample, explanations):
        return super().holds(sample, explanations) ^ (np.random.default_rng().random() < 0.5)


class Alternates(Sound):
    """Every other answer is the opposite."""

    def holds(self, sample, explanations):
        self.turn_ = not getattr(self, "turn_", False)
        return super().holds(sample, explanations) ^ self.turn_


class ComparesWithTheBlock(Sound):
    """The limit is the mean of the explanations that come together."""

    def holds(self, sample, explanations):
        usual = explanations.values[:, 0].mean()
        return super().holds(sample, explanations) & (sample.X[None, :, 0] <= usual)


class ComparesWithTheSample(Sound):
    """The limit is the mean of the instances that come together."""

    def holds(self, sample, explanations):
        return super().holds(sample, explanations) & (sample.X[None, :, 0] <= sample.X[:, 0].mean())


class ComparesWithTheMedian(Sound):
    """Half of the instances that come together are out, whoever they are."""

    def holds(self, sample, explanations):
        return super().holds(sample, explanations) & (sample.X[None, :, 0] <= np.median(sample.X[:, 0]))


class ComparesWithTheSpread(Sound):
    """How far is far depends on the instances that come together."""

    def holds(self, sample, explanations):
        reach = 3 * sample.X[:, 0].std()
        return super().holds(sample, explanations) & (np.abs(sample.X[None, :, 0]) <= reach)


class GroupsWithoutBeingEquality(Sound):
    """The kernel never asks it, and counts something else."""

    groups = True


class GroupsWhatItTellsApart(Sound):
    """Equal keys, of which only some hold for each other."""

    groups = True

    def key(self, explanations):
        return np.sign(explanations.values[:, :1])

    def holds(self, sample, explanations):
        return (explanations.values[:, None] == sample.explanations.values[None]).all(axis=2)


class ChangesTheBackground(Sound):
    """Centres it in place."""

    def fit(self, background, n):
        if background is not None:
            background -= background.mean(axis=0)
        return self


class NeedsABackground(Sound):
    """There is none in a log without instances."""

    def fit(self, background, n):
        self.mean_ = background.mean()
        return self


class ReadsExplanationsOfOthers(Sound):
    """It says that it reads the instance, and looks at how the instance was explained."""

    instance_only = True

    def holds(self, sample, explanations):
        return super().holds(sample, explanations) & ~sample.explanations.missing


class NeedsExplanationsOfOthers(Sound):
    """It says that it reads the instance, and fails where nobody explained it."""

    instance_only = True

    def holds(self, sample, explanations):
        return super().holds(sample, explanations) & (sample.explanations.values[None, :, 0] < np.inf)


class HidesWhatItReads(Sound):
    """The key is a part of what holds reads."""

    def key(self, explanations):
        return np.sign(explanations.values)


class ChangesInstances(Sound):
    """Scribbles into the last column."""

    def holds(self, sample, explanations):
        sample.X[:, -1] = 0.0
        return super().holds(sample, explanations)


class ChangesExplanations(Sound):
    """Scribbles into the last column of the values."""

    def holds(self, sample, explanations):
        explanations.values[:, -1] = 0.0
        return super().holds(sample, explanations)


class NegatesToItself(Sound):
    """An operator of its own."""

    def __invert__(self):
        return self


class TripsOverMissing(Sound):
    """NaN is none of its business."""

    def holds(self, sample, explanations):
        if np.isnan(explanations.values).any():
            raise ValueError("Input contains NaN")
        return super().holds(sample, explanations)


class TakesMissingForZero(Sound):
    """A row without an explanation is compared as if it had zeros."""

    def holds(self, sample, explanations):
        own, other = (np.nan_to_num(each.values) for each in (sample.explanations, explanations))
        return own[None, :, 0] <= other[:, None, 0]


class DrawsTooFew(Sound):
    """A control for every second row."""

    def control(self, sample, explanations, seeds):
        return explanations.take(slice(None, None, 2))


class DrawsFromTheClock(Sound):
    """Its control has no seeds."""

    def control(self, sample, explanations, seeds):
        order = np.random.default_rng().permutation(len(explanations))
        return attrs.evolve(explanations, values=np.nan_to_num(explanations.values)[order])


class DrawsByPlace(Sound):
    """Its control depends on where a row stands."""

    def control(self, sample, explanations, seeds):
        return attrs.evolve(explanations, values=np.roll(np.nan_to_num(explanations.values), 1, axis=0))


class ObjectsInWords(Sound):
    """What speaks against explanations is a sentence, and leads nowhere."""

    def objections(self, context):
        return ["they are too long"]


class PraisesByAnObjection(Sound):
    """It lifts a verdict."""

    def objections(self, context):
        return [Objection("beauty", "they are beautiful", "faithful")]


class ObjectsByChance(Sound):
    """Its objections have no seeds."""

    def objections(self, context):
        return [Objection("luck", str(np.random.default_rng().random()), "not faithful")]


class ObjectsToTheFirstRow(Sound):
    """What it says depends on where rows stand."""

    def objections(self, context):
        return [Objection("first row", str(context.sample.explanations.values[0]), "not faithful")]


class IsNoRelation:
    """It has the methods, and cannot be combined."""

    key, holds = Sound.key, Sound.holds


def decorated(limit):
    """Make a sound relation of a parameter that only the author knows a value for.

    Parameters
    ----------
    limit : object
        Anything.
    """
    return Sound()
