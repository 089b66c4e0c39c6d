"""One sound discretizer, and heirs of it with one fault each."""

from typing import ClassVar

import numpy as np
import pandas as pd

from faithkit.errors import InputError


class Sound:
    """Signs."""

    def discretize(self, explanations):
        return np.sign(explanations.values)


class NumbersByFirstSight(Sound):
    """Whoever comes first is number 0."""

    def discretize(self, explanations):
        self.known_ = getattr(self, "known_", {})
        signs = map(tuple, super().discretize(explanations))
        return [self.known_.setdefault(sign, len(self.known_)) for sign in signs]


class LearnsWhenFirstCalled(Sound):
    """The first slice of a log sets the cut for all of it."""

    def discretize(self, explanations):
        if not hasattr(self, "cut_") and len(explanations):
            self.cut_ = explanations.values.max(axis=0)
        return explanations.values < self.cut_


class WritesTheSignOfZero(Sound):
    """-0.0 and 0.0 are equal numbers, and different texts."""

    def discretize(self, explanations):
        return [" ".join(f"{number:.1f}" for number in row) for row in explanations.values]


class LearnsTheFirstRow(Sound):
    """Another cut, if the same file is sorted."""

    def fit(self, explanations):
        self.cut_ = explanations.values[0]

    def discretize(self, explanations):
        return np.sign(explanations.values - self.cut_)


class TellTrips(Sound):
    """There is always a name, it believes."""

    def describe(self, identity, names):
        return names[0] if identity[0] > 0 else "none"


class TellsANumber(Sound):
    """A person would read 1."""

    def describe(self, identity, names):
        return int(identity[0])


class TriesWhatItHasNot(Sound):
    """There is no such parameter."""

    tries: ClassVar = {"digits": (1, 2)}


class TriesWhatItRefuses(Sound):
    """One of the values is none of its own.

    Parameters
    ----------
    k : int
    """

    tries: ClassVar = {"k": (1, 0)}

    def __init__(self, k=1):
        if k < 1:
            raise InputError(f"k is {k}.")


class TriesAList(Sound):
    """A list has no names of parameters."""

    tries: ClassVar = [1, 2]


class RefusesEverything(Sound):
    """There is nothing that it discretizes."""

    def discretize(self, explanations):
        raise InputError("today is Sunday.")


class DropsMissing(Sound):
    """Rows without an explanation get no identity."""

    def discretize(self, explanations):
        return super().discretize(explanations)[~explanations.missing]


class HasNoHash(Sound):
    """Lists have no hash."""

    def discretize(self, explanations):
        return super().discretize(explanations).tolist()


class ChangesValues(Sound):
    """Clips in place."""

    def discretize(self, explanations):
        np.clip(explanations.values, -0.1, 0.1, out=explanations.values)
        return super().discretize(explanations)


class AddsNoise(Sound):
    """Another identity each time."""

    def discretize(self, explanations):
        return super().discretize(explanations) + np.random.default_rng().random()


class UsesThePosition(Sound):
    """The fifth explanation is identified as fifth."""

    def discretize(self, explanations):
        return super().discretize(explanations) + np.arange(len(explanations))[:, None]


class ScalesByTheBatch(Sound):
    """The largest value of the batch becomes 1."""

    def discretize(self, explanations):
        largest = np.nanmax(np.abs(explanations.values), initial=0.01)
        return (explanations.values / largest).round(3)


class TripsOverNothing(Sound):
    """The maximum of nothing is an exception."""

    def discretize(self, explanations):
        explanations.values.max()
        return super().discretize(explanations)


class AssertsWithoutWords(Sound):
    """What it expects is nowhere said."""

    def discretize(self, explanations):
        assert explanations.values.min() > 0
        return super().discretize(explanations)


class NeedsFiniteNumbers(Sound):
    """Sound, and rightly strict: no explainer may give others."""

    def discretize(self, explanations):
        assert not np.isinf(explanations.values).any()
        return super().discretize(explanations)


class SideBySide(Sound):
    """Sound: a tuple of arrays."""

    def discretize(self, explanations):
        signs = super().discretize(explanations)
        return signs, signs[:, 0]

    def describe(self, identity, names):
        signs, first = identity
        return f"{first} of {len(signs)}"


class InAFrame(Sound):
    """Sound: a frame."""

    def discretize(self, explanations):
        return pd.DataFrame(super().discretize(explanations)).add_prefix("sign of ")

    def describe(self, identity, names):
        return str(identity["sign of 0"])
