"""An explainer tried in one situation: fitted once, asked in several ways, and every answer kept.

Explaining can be slow, so checks share answers instead of asking again.
"""

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest import SkipTest

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from faithkit.extension.entries import Entry
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.seeds import row_seeds
from faithkit.inputs.situation import Situation
from faithkit.measure.containers import n_rows, take_rows
from faithkit.measure.explanations import Explanations
from faithkit.run.system import check_predictions
from faithkit.testing.component_checks import make
from faithkit.testing.fixtures import fresh, situation_named, situation_names


@frozen(eq=False)
class Trial:
    """What an explainer did in one situation, and what became of what it was given.

    `made` is what the factory gave and `explainer` what the kernel would go on with after `fit`. X, seeds and
    background are as the explainer left them; `situation` is untouched.
    """

    entry: Entry
    name: str
    situation: Situation
    made: Any
    fit_returned: Any
    answer: Any
    X: Any
    seeds: NDArray[np.uint32]
    background: Any
    touched_generators: tuple[str, ...]

    @property
    def who(self) -> str:
        """Whom a message is about."""
        return f"{self.entry.component.name} on {self.name}"

    @property
    def situation_seeds(self) -> NDArray[np.uint32]:
        """The seeds of its rows."""
        return row_seeds(self.situation.X, seed=0)

    @property
    def predictor(self) -> Predictor:
        """Its model, as explainers are given it."""
        return Predictor(self.situation.model)

    @property
    def is_single(self) -> bool:
        """Whether its model scores in single precision."""
        row = take_rows(self.situation.X, slice(0, 1))
        return self.predictor.has_scores and self.predictor.scores_are_single(row)

    @property
    def explainer(self) -> Any:
        """The fitted explainer."""
        return self.made if self.fit_returned is None else self.fit_returned


def trials(entry: Entry) -> list[Trial]:
    """Return the trials of all situations that the explainer explains; skip the check if there are none."""
    found = [outcome(entry, name) for name in situation_names(entry.component.inputs)]
    worked = [trial for trial in found if isinstance(trial, Trial)]
    if not worked:
        raise SkipTest("No situation is explained: see explains_something.")
    return worked


def outcome(entry: Entry, name: str) -> Trial | Exception:
    """Try an explainer in a situation, once; what it raises is an outcome, too."""
    return _outcome(entry, name, situation_named(name))


@cache
def _outcome(entry: Entry, name: str, given: Situation) -> Trial | Exception:
    explainer = make(entry)
    X, seeds, background = fresh(given.X), row_seeds(given.X, seed=0), fresh(given.background)
    touched: list[str] = []
    predictor = Predictor(given.model)
    try:
        check_predictions(entry.component.name, explainer, predictor)
        with _quiet(), _watched(touched):
            returned = explainer.fit(predictor, background)
            answer = (explainer if returned is None else returned).explain(X, seeds)
    except Exception as error:
        return error
    return Trial(entry, name, given, explainer, returned, answer, X, seeds, background, tuple(touched))


@cache
def again(trial: Trial) -> Explanations:
    """Explain the same rows once more."""
    return _explain(trial, slice(None))


@cache
def reversed_rows(trial: Trial) -> Explanations:
    """Explain the rows in the opposite order, and put the explanations back into theirs."""
    return _explain(trial, slice(None, None, -1)).take(slice(None, None, -1))


@cache
def one_by_one(trial: Trial) -> Explanations:
    """Explain every row by itself."""
    return Explanations.concat([_explain(trial, slice(i, i + 1)) for i in range(n_rows(trial.situation.X))])


@cache
def refitted(trial: Trial) -> Explanations:
    """Explain the same rows with another instance, fitted on the same background."""
    other = make(trial.entry)
    with _quiet():
        returned = other.fit(trial.predictor, fresh(trial.situation.background))
        answer: Explanations = (other if returned is None else returned).explain(
            fresh(trial.situation.X), trial.situation_seeds
        )
    return answer


def _explain(trial: Trial, rows: slice) -> Explanations:
    X = fresh(take_rows(trial.situation.X, rows))
    with _quiet():
        answer: Explanations = trial.explainer.explain(X, row_seeds(X, seed=0))
    return answer


@contextmanager
def _quiet() -> Iterator[None]:
    """Let libraries warn as they like: what counts here is what they return."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _watched(touched: list[str]) -> Iterator[None]:
    """Note which global generators are used, and put them back as they were."""
    python, legacy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        if random.getstate() != python:
            touched.append("random")
        if _differ(np.random.get_state(), legacy):
            touched.append("numpy.random")
        random.setstate(python)
        np.random.set_state(legacy)


def _differ(state: Any, other: Any) -> bool:
    return any(not np.array_equal(a, b) for a, b in zip(state, other, strict=True))
