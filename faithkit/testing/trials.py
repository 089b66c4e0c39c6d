"""Trials of an explainer in one situation: fit once, explain in several ways, and cache every answer.

Explaining can be slow, so checks share the answers.
"""

import io
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import cache
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
from attrs import frozen
from numpy.typing import NDArray

from faithkit.arrays.containers import n_rows, take_rows
from faithkit.explanations.explanations import Explanations
from faithkit.extension.entries import Entry
from faithkit.inputs.evaluation_inputs import EvaluationInputs
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.seeds import row_seeds
from faithkit.run.components.system import check_predictions
from faithkit.testing.kinds.component_checks import create
from faithkit.testing.situations import current_situation, deep_copy, situation_names


@frozen(eq=False)
class Trial:
    """A successful trial of an explainer in one situation.

    `instance` is the result of the factory, and `explainer` the one that the kernel would use after `fit`. X,
    seeds, background and the predictor's model are as the explainer left them; `situation` is unchanged.
    `changed_globals` names the global state of the process that the explainer changed.
    """

    entry: Entry
    name: str
    situation: EvaluationInputs
    instance: Any
    fit_result: Any
    answer: Any
    X: Any
    seeds: NDArray[np.uint32]
    background: Any
    predictor: Predictor
    changed_globals: tuple[str, ...]

    @property
    def label(self) -> str:
        """The subject of messages."""
        return f"{self.entry.component.name} on {self.name}"

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


def successful_trials(entry: Entry) -> list[Trial]:
    """Return the successful trials in all situations; skip the check if there are none."""
    outcomes = [try_explainer(entry, name) for name in situation_names(entry.component.inputs)]
    successes = [trial for trial in outcomes if isinstance(trial, Trial)]
    if not successes:
        raise SkipTest("No situation is explained: see explains_something.")
    return successes


def try_explainer(entry: Entry, name: str) -> Trial | BaseException:
    """Try an explainer in a situation and return the trial, or the exception it raised. Cached."""
    return _try_explainer(entry, name, current_situation(name))


@cache
def _try_explainer(
    entry: Entry, name: str, situation: EvaluationInputs, is_reversed: bool = False
) -> Trial | BaseException:
    explainer, predictor = create(entry), copy_predictor(situation)
    X, seeds = deep_copy(situation.X), row_seeds(situation.X, seed=0)
    background = deep_copy(
        take_rows(situation.background, slice(None, None, -1)) if is_reversed else situation.background
    )
    changed_globals: list[str] = []
    try:
        check_predictions(entry.component.name, explainer, predictor)
        with _silence(), _watch_globals(changed_globals):
            fit_result = explainer.fit(predictor, background)
            answer = (explainer if fit_result is None else fit_result).explain(X, seeds)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit must not end the kit
        return error
    return Trial(
        entry,
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
    )


def copy_predictor(situation: EvaluationInputs) -> Predictor:
    """Return a predictor with a copy of the situation's model, if it can be copied."""
    try:
        return Predictor(deep_copy(situation.model))
    except Exception:
        return Predictor(situation.model)


def retry_with_reversed_background(trial: Trial) -> Trial | BaseException:
    """Try the explainer again, with a new instance and the background in the opposite order."""
    return _try_explainer(trial.entry, trial.name, trial.situation, is_reversed=True)


@cache
def explain_again(trial: Trial) -> Explanations:
    """Explain the same rows again."""
    return _explain(trial, slice(None))


@cache
def explain_reversed(trial: Trial) -> Explanations:
    """Explain the rows in the opposite order, with another index, and reverse the answer."""
    labels = range(n_rows(trial.situation.X))
    return _explain(trial, slice(None, None, -1), labels).take(slice(None, None, -1))


@cache
def explain_relabelled(trial: Trial) -> Explanations:
    """Explain the rows of a frame with the index that they have in `explain_reversed`."""
    return _explain(trial, slice(None), range(n_rows(trial.situation.X))[::-1])


@cache
def explain_repeatedly(trial: Trial, n: int) -> Explanations:
    """Explain n rows at once: those of the situation, repeated."""
    return _explain(trial, np.arange(n) % n_rows(trial.situation.X))


@cache
def explain_one_by_one(trial: Trial) -> Explanations:
    """Explain every row in a call of its own."""
    return Explanations.concat([_explain(trial, slice(i, i + 1)) for i in range(n_rows(trial.situation.X))])


@cache
def refit_and_explain(trial: Trial) -> Explanations:
    """Explain the same rows with a new instance, fitted on the same background."""
    instance = create(trial.entry)
    with _silence():
        fit_result = instance.fit(copy_predictor(trial.situation), deep_copy(trial.situation.background))
        answer: Explanations = (instance if fit_result is None else fit_result).explain(
            deep_copy(trial.situation.X), trial.situation_seeds
        )
    return answer


def explain_no_rows(trial: Trial) -> Any:
    """Explain an empty batch."""
    return _explain(trial, slice(0, 0))


def _explain(trial: Trial, rows: Any, labels: range | None = None) -> Explanations:
    X = deep_copy(take_rows(trial.situation.X, rows))
    seeds = row_seeds(X, seed=0)
    if labels is not None and isinstance(X, pd.DataFrame):
        X.index = pd.Index(labels)
    with _silence():
        answer: Explanations = trial.explainer.explain(X, seeds)
    return answer


@contextmanager
def _silence() -> Iterator[None]:
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
            "numpy.random": _states_differ(np.random.get_state(), numpy_state),
            "stdout": bool(printed.getvalue()),
            "warnings.filters": list(warnings.filters) != filters,
            "numpy.seterr": np.geterr() != errors,
        }
        changed_globals.extend(name for name, changed in is_changed.items() if changed)
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        np.seterr(**errors)


def _states_differ(state: Any, other: Any) -> bool:
    return any(not np.array_equal(a, b) for a, b in zip(state, other, strict=True))
