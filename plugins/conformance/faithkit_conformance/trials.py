"""Trials of an explainer in one situation: fit, and explain in several ways.

Explaining can be slow, so checks share the first answer.
"""

import io
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from functools import cache
from time import perf_counter
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
from attrs import frozen
from numpy.typing import NDArray

from faithkit import Explanations, Predictor
from faithkit.errors import InputError
from faithkit.plugin import row_seeds, take_rows
from faithkit_conformance.components import NUMBERS, explained_outcomes
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate, Situation
from faithkit_conformance.situations import get_situation, situation_names


@frozen(eq=False)
class Trial:
    """A successful trial of an explainer in one situation.

    `instance` is the result of the factory, and `explainer` the one that the kernel would use after `fit`. X,
    seeds, background and the predictor's model are as the explainer left them; `situation` is unchanged.
    `changed_globals` names the global state of the process that the explainer changed. `seconds` is how long
    explaining took.
    """

    candidate: Candidate
    name: str
    situation: Situation
    instance: Any
    fit_result: Any
    answer: Any
    X: Any
    seeds: NDArray[np.uint32]
    background: Any
    predictor: Predictor
    changed_globals: tuple[str, ...]
    seconds: float

    @property
    def label(self) -> str:
        """The subject of messages."""
        return f"{self.candidate.name} on {self.name}"

    @property
    def situation_seeds(self) -> NDArray[np.uint32]:
        """The seeds of the rows of the situation."""
        return row_seeds(self.situation.X, seed=0)

    @property
    def is_single(self) -> bool:
        """Whether the model of the situation scores in single precision."""
        row, predictor = take_rows(self.situation.X, slice(0, 1)), Predictor(self.situation.model)
        return predictor.has_scores and predictor.scores_are_single(row)

    @property
    def explainer(self) -> Any:
        """The fitted explainer."""
        return self.instance if self.fit_result is None else self.fit_result

    def explain(self, rows: Any, labels: range | None = None) -> Any:
        """Explain rows of the situation again; with labels, under another index."""
        X = deepcopy(take_rows(self.situation.X, rows))
        seeds = row_seeds(X, seed=0)
        if labels is not None and isinstance(X, pd.DataFrame):
            X.index = pd.Index(labels)
        with silence():
            return self.explainer.explain(X, seeds)

    def refit_and_explain(self, background_rows: slice = slice(None)) -> Explanations:
        """Explain the same rows with a new instance, fitted on these rows of the same background."""
        instance = create(self.candidate)
        background = deepcopy(take_rows(self.situation.background, background_rows))
        with silence():
            fit_result = instance.fit(copy_predictor(self.situation), background)
            answer: Explanations = (instance if fit_result is None else fit_result).explain(
                deepcopy(self.situation.X), self.situation_seeds
            )
        return answer


def successful_trials(candidate: Candidate) -> list[Trial]:
    """Return the successful trials in all situations; skip the check if there are none."""
    outcomes = [try_explainer(candidate, name) for name in situation_names(candidate)]
    successes = [trial for trial in outcomes if isinstance(trial, Trial)]
    if not successes:
        raise SkipTest("No situation is explained: see explains_something.")
    return successes


@cache
def try_explainer(candidate: Candidate, name: str, is_reversed: bool = False) -> Trial | BaseException:
    """Try an explainer in a situation, perhaps with the background in the opposite order.

    Return the trial, or the exception that was raised.
    """
    situation = get_situation(candidate, name)
    explainer, predictor = create(candidate), copy_predictor(situation)
    X, seeds = deepcopy(situation.X), row_seeds(situation.X, seed=0)
    order = slice(None, None, -1) if is_reversed else slice(None)
    background = deepcopy(take_rows(situation.background, order))
    changed_globals: list[str] = []
    try:
        _refuse_unexplained_predictions(candidate.name, explainer, predictor)
        with silence(), _watch_globals(changed_globals):
            fit_result = explainer.fit(predictor, background)
            start = perf_counter()
            answer = (explainer if fit_result is None else fit_result).explain(X, seeds)
            seconds = perf_counter() - start
    except (Exception, SystemExit) as error:  # SystemExit must not end the kit
        return error
    return Trial(
        candidate,
        name,
        situation,
        explainer,
        fit_result,
        answer,
        X,
        seeds,
        background,
        predictor,
        tuple(changed_globals),
        seconds,
    )


def _refuse_unexplained_predictions(name: str, explainer: Any, predictor: Predictor) -> None:
    """Refuse a model that predicts numbers, as the kernel does, to explainers of labels."""
    if predictor.is_regressor and NUMBERS not in explained_outcomes(explainer):
        raise InputError(f"{name} explains labels, and the model predicts numbers.")


def retry_with_reversed_background(trial: Trial) -> Trial | BaseException:
    """Try the explainer again, with a new instance and the background in the opposite order."""
    return try_explainer(trial.candidate, trial.name, is_reversed=True)


def copy_predictor(situation: Situation) -> Predictor:
    """Return a predictor with a copy of the situation's model, if it can be copied."""
    try:
        return Predictor(deepcopy(situation.model))
    except Exception:
        return Predictor(situation.model)


@contextmanager
def silence() -> Iterator[None]:
    """Suppress warnings and output of libraries: only their results matter here."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        # a pattern that differs from filters of explainers that ignore all warnings
        warnings.filterwarnings("ignore", ".*")
        yield


@contextmanager
def _watch_globals(changed_globals: list[str]) -> Iterator[None]:
    """Record which global state is used or changed, and restore it."""
    python_state, numpy_state = random.getstate(), np.random.get_state()
    filters, errors = list(warnings.filters), np.geterr()
    try:
        with redirect_stdout(io.StringIO()) as printed:
            yield
    finally:
        is_changed = {
            "random": random.getstate() != python_state,
            "numpy.random": not all(map(np.array_equal, np.random.get_state(), numpy_state)),
            "stdout": bool(printed.getvalue()),
            "warnings.filters": list(warnings.filters) != filters,
            "numpy.seterr": np.geterr() != errors,
        }
        changed_globals.extend(name for name, changed in is_changed.items() if changed)
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        np.seterr(**errors)
