"""One sound explainer, and heirs of it with one fault each."""

import os
import random
import threading

import attrs
import numpy as np

from faithkit import Explanations, InputError


class Sound:
    """How far each number lies from the background's mean."""

    def fit(self, predictor, background):
        predictor.predict(background)  # refuses a background of another width
        self.predictor_ = predictor
        self.mean_ = _numbers(background).mean(axis=0)
        return self

    def explain(self, X, seeds):
        self.predictor_.predict(X)  # refuses rows of another width
        return Explanations.vectors(self.values(X, seeds), instances=X)

    def values(self, X, seeds):
        return _numbers(X) - self.mean_


def _numbers(X):
    if not isinstance(X, np.ndarray):
        raise InputError("only arrays are explained: convert it with to_numpy().")
    return X


class CrashesOnSomeFrames(Sound):
    """A traceback where a sentence is due."""

    def fit(self, predictor, background):
        if "gain" in getattr(background, "columns", ()) and len(predictor.classes) == 3:
            background["no such column"]
        return super().fit(predictor, background)


class RefusesEverything(Sound):
    """There is nothing that it explains."""

    def fit(self, predictor, background):
        raise InputError("today is Sunday.")


class SaysNumbersAndRefusesThem(Sound):
    """A promise that is not kept."""

    outcomes = ("labels", "numbers")

    def fit(self, predictor, background):
        if predictor.is_regressor:
            raise InputError("a class is needed.")
        return super().fit(predictor, background)


class SaysUnknownOutcomes(Sound):
    """A word that nobody reads."""

    outcomes = ("labels", "regression")


class FitReturnsNone(Sound):
    """The last line of fit was forgotten."""

    def fit(self, predictor, background):
        super().fit(predictor, background)


class DropsARow(Sound):
    """One row less."""

    def explain(self, X, seeds):
        return super().explain(X, seeds).take(slice(1, None))


class ReturnsAnArray(Sound):
    """Values, but no Explanations."""

    def explain(self, X, seeds):
        return super().explain(X, seeds).values


class HasNoHash(Sound):
    """Lists have no hash."""

    def explain(self, X, seeds):
        return Explanations.of(super().explain(X, seeds).values.tolist())


class SaysAnotherKind(Sound):
    """Declared as vector, made as value."""

    def explain(self, X, seeds):
        return Explanations.of(map(tuple, super().explain(X, seeds).values.tolist()))


class NamesNoDiscretizer(Sound):
    """Nobody provides it."""

    def explain(self, X, seeds):
        return attrs.evolve(super().explain(X, seeds), discretizer="sgin")


class NamesAnothersDiscretizer(Sound):
    """It is made for examples."""

    def explain(self, X, seeds):
        return attrs.evolve(super().explain(X, seeds), discretizer="delta")


class ReversesInstances(Sound):
    """Each explanation stands beside another row."""

    def explain(self, X, seeds):
        return attrs.evolve(super().explain(X, seeds), instances=X[::-1])


class ChangesRows(Sound):
    """Clips X in place."""

    def explain(self, X, seeds):
        explanations = super().explain(X, seeds)
        X[:] = np.clip(X, -0.1, 0.1)
        return attrs.evolve(explanations, instances=None)


class ChangesSeeds(Sound):
    """Counts seeds up in place."""

    def explain(self, X, seeds):
        seeds += 1
        return super().explain(X, seeds)


class ChangesTheBackground(Sound):
    """Centres the background in place."""

    def fit(self, predictor, background):
        super().fit(predictor, background)
        background -= background.mean(axis=0)
        return self


class SeedsNumpy(Sound):
    """Makes itself reproducible at the cost of everybody else."""

    def explain(self, X, seeds):
        np.random.seed(0)
        return super().explain(X, seeds)


class DrawsFromRandom(Sound):
    """Shuffles for no reason."""

    def fit(self, predictor, background):
        random.random()
        return super().fit(predictor, background)


class UsesItsOwnNoise(Sound):
    """A generator without a seed."""

    def values(self, X, seeds):
        return super().values(X, seeds) + np.random.default_rng().random(X.shape)


class FailsWhenAskedAgain(Sound):
    """Works once."""

    def values(self, X, seeds):
        if hasattr(self, "asked_"):
            raise RuntimeError("the session is closed")
        self.asked_ = True
        return super().values(X, seeds)


class LearnsAtRandom(Sound):
    """Another mean every time."""

    def fit(self, predictor, background):
        super().fit(predictor, background)
        self.mean_ = self.mean_ + np.random.default_rng().random()
        return self


class UsesThePosition(Sound):
    """The fifth row is explained as fifth."""

    def values(self, X, seeds):
        return super().values(X, seeds) + np.arange(len(X))[:, None]


class RemembersByLength(Sound):
    """Takes a batch of the same length for the same batch."""

    def values(self, X, seeds):
        self.known_ = getattr(self, "known_", {})
        values = self.known_.setdefault(len(X), super().values(X, seeds))
        return values if len(X) > 1 else super().values(X, seeds)


class ScalesByTheBatch(Sound):
    """The largest value of the batch becomes 1."""

    def values(self, X, seeds):
        values = super().values(X, seeds)
        return values / np.abs(values).max()


class HoldsALock(Sound):
    """Locks do not travel."""

    def fit(self, predictor, background):
        self.lock_ = threading.Lock()
        return super().fit(predictor, background)


class DependsOnTheProcess(Sound):
    """What it reads does not travel with it."""

    def values(self, X, seeds):
        return super().values(X, seeds) + os.getpid() % 1000


class SharesASet(Sound):
    """A set is no JSON value."""

    def explain(self, X, seeds):
        return attrs.evolve(super().explain(X, seeds), shared={"columns": {"age", "hours"}})


class TakesAnyBackground(Sound):
    """Ignores that the background is another table."""

    def fit(self, predictor, background):
        self.predictor_ = predictor
        self.mean_ = 0.0
        return self


class TripsOverTheBackground(Sound):
    """NumPy says that shapes do not match, and nobody says why."""

    def fit(self, predictor, background):
        self.predictor_ = predictor
        self.mean_ = _numbers(background) @ np.ones(4)
        return self

    def values(self, X, seeds):
        return _numbers(X) - self.mean_.mean()


class TakesAnyRows(Sound):
    """Explains columns that are not there."""

    def explain(self, X, seeds):
        return Explanations.vectors(_numbers(X) - self.mean_[: X.shape[1]])


class TakesAnyParameter(Sound):
    """A slip in a parameter's name goes unnoticed."""

    def __init__(self, **options):
        self.options = options


class LacksExplain:
    """Half of the protocol."""

    def fit(self, predictor, background):
        return self


class HasABadDefault(Sound):
    """It cannot be made as it is.

    Parameters
    ----------
    k : int
        Must be positive.
    """

    def __init__(self, k=0):
        if k < 1:
            raise ValueError("k must be positive")


class KeepsAParameterToItself(Sound):
    """There is no word about one of its parameters.

    Parameters
    ----------
    low : float
        This one is described.
    """

    def __init__(self, low=0.0, high=1.0):
        self.low, self.high = low, high


class SaysNothing(Sound):
    def __init__(self):
        pass
