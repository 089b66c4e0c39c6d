"""One sound explainer, and heirs of it with one fault each."""

import os
import random
import sys
import threading
import warnings

import attrs
import numpy as np
import pandas as pd

from faithkit import Explanations
from faithkit.errors import InputError


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
        return Explanations.of(map(tuple, super().explain(X, seeds).values.round(6).tolist()))


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


class ScalesByTheBatch(Sound):
    """The largest value of the batch becomes 1."""

    def values(self, X, seeds):
        values = super().values(X, seeds)
        return values / np.abs(values).max(initial=0.01)


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


class LearnsTheFirstRow(Sound):
    """Another background, if the same file is sorted."""

    def fit(self, predictor, background):
        super().fit(predictor, background)
        self.mean_ = background[0]
        return self


class DeniesWhatItLearned(Sound):
    """Explanations in the store would serve another background."""

    learns = False


class TripsOverNothing(Sound):
    """The maximum of nothing is an exception."""

    def values(self, X, seeds):
        X.max()
        return super().values(X, seeds)


class ReadsTheIndex(Sound):
    """The label of a row is part of its explanation."""

    def fit(self, predictor, background):
        return super().fit(predictor, background.to_numpy() if _is_numeric(background) else background)

    def explain(self, X, seeds):
        if not _is_numeric(X):
            return super().explain(X, seeds)
        self.predictor_.predict(X)
        return Explanations.vectors(X.to_numpy() - self.mean_ + (X.index.to_numpy() % 2)[:, None])


def _is_numeric(X):
    return isinstance(X, pd.DataFrame) and all(kind.kind == "f" for kind in X.dtypes)


class BatchesDifferently(Sound):
    """Scales what is many rows long."""

    def values(self, X, seeds):
        values = super().values(X, seeds)
        return values / np.abs(values).max() if len(X) > 16 else values


class BreaksTheModel(Sound):
    """Calibrates the user's model, for itself."""

    def fit(self, predictor, background):
        super().fit(predictor, background)
        predictor.model.classes_ = predictor.model.classes_[::-1]
        return self


class PrintsProgress(Sound):
    """stdout is for results."""

    def explain(self, X, seeds):
        print(f"{len(X)} of {len(X)}")
        return super().explain(X, seeds)


class SilencesWarnings(Sound):
    """Everybody's."""

    def fit(self, predictor, background):
        warnings.simplefilter("ignore")
        return super().fit(predictor, background)


class SilencesNumpy(Sound):
    """Everybody's divisions by zero."""

    def fit(self, predictor, background):
        np.seterr(all="ignore")
        return super().fit(predictor, background)


class NamesTooFew(Sound):
    """One name for four columns."""

    def explain(self, X, seeds):
        return attrs.evolve(super().explain(X, seeds), shared={"names": ["age"]})


class NamesNoRelation(Sound):
    """Nobody provides it."""

    def explain(self, X, seeds):
        return attrs.evolve(super().explain(X, seeds), relation="near-explanatoin")


class NamesAnothersRelation(Sound):
    """It is made for rules."""

    def explain(self, X, seeds):
        return attrs.evolve(super().explain(X, seeds), relation="in-scope")


class NamesARelationThatNeedsMore(Sound):
    """It reads prototypes, and there are none."""

    def explain(self, X, seeds):
        super().explain(X, seeds)
        return Explanations(kind="example", values=X.copy(), instances=X, relation="nearest")


class ExplainsNoRowsAtATime(Sound):
    """Nothing would ever be explained."""

    rows_per_chunk = 0


class AssertsWithoutWords(Sound):
    """What it expects is nowhere said, and one situation is not as it expects."""

    def fit(self, predictor, background):
        self.expects_ = isinstance(background, np.ndarray) and _is_tree_of_two(predictor)
        return super().fit(predictor, background)

    def values(self, X, seeds):
        if self.expects_:
            assert len(X) < 3
        return super().values(X, seeds)


def _is_tree_of_two(predictor):
    return type(predictor.model).__name__ == "DecisionTreeClassifier" and len(predictor.classes) == 2


class EndsTheProgram(Sound):
    """It takes a library's exit for its own."""

    def fit(self, predictor, background):
        if isinstance(background, np.ndarray) and _is_tree_of_two(predictor):
            raise SystemExit(0)
        return super().fit(predictor, background)


class GivesNothingButNaN(Sound):
    """The logarithm of what is below zero."""

    def values(self, X, seeds):
        return np.full(X.shape, np.nan)


class FindsNothing(Sound):
    """There is never an explanation."""

    def explain(self, X, seeds):
        return attrs.evolve(
            super().explain(X, seeds), missing=np.ones(len(X), dtype=bool), remarks=["none"] * len(X)
        )


class TakesAnyWidth(Sound):
    """Neither the rows nor the background are looked at before they are broadcast."""

    def fit(self, predictor, background):
        self.mean_ = _numbers(background).mean(axis=0)
        return self

    def explain(self, X, seeds):
        return Explanations.vectors(self.values(X, seeds), instances=X)


class HoldsWhatCannotBeSent(Sound):
    """A class of its own, which pickle does not find."""

    def explain(self, X, seeds):
        @attrs.frozen
        class Local:
            value: float

        self.__class__.local_ = vars(self.__class__).get("local_", Local)
        values = super().explain(X, seeds).values[:, 0].tolist()
        return Explanations.of([self.local_(value) for value in values])


class TakesItsTime(Sound):
    """Sound, but slow: the clock of the test says so."""


class PrintsEverywhere(Sound):
    """Tell the world, on both streams."""

    def __init__(self):
        print("made")

    def fit(self, predictor, background):
        print("fitted", file=sys.stderr)
        return super().fit(predictor, background)

    def explain(self, X, seeds):
        print("explained")
        print("explained", file=sys.stderr)
        return super().explain(X, seeds)
