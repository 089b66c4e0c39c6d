"""An explainer tried in one situation: fitted once, asked in several ways, and every answer kept.

Explaining can be slow, so checks share answers instead of asking again.
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
from faithkit.testing.fixtures import fresh, situation_named, situation_names
from faithkit.testing.kinds.component_checks import make


@frozen(eq=False)
class Trial:
    """What an explainer did in one situation, and what became of what it was given.

    `made` is what the factory gave and `explainer` what the kernel would go on with after `fit`. X, seeds,
    background and the predictor's model are as the explainer left them; `situation` is untouched. `touched`
    are the global things of the process that it changed.
    """

    entry: Entry
    name: str
    situation: EvaluationInputs
    made: Any
    fit_returned: Any
    answer: Any
    X: Any
    seeds: NDArray[np.uint32]
    background: Any
    predictor: Predictor
    touched: tuple[str, ...]

    @property
    def who(self) -> str:
        """Whom a message is about."""
        return f"{self.entry.component.name} on {self.name}"

    @property
    def situation_seeds(self) -> NDArray[np.uint32]:
        """The seeds of its rows."""
        return row_seeds(self.situation.X, seed=0)

    @property
    def is_single(self) -> bool:
        """Whether its model scores in single precision."""
        row, predictor = take_rows(self.situation.X, slice(0, 1)), Predictor(self.situation.model)
        return predictor.has_scores and predictor.scores_are_single(row)

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


def outcome(entry: Entry, name: str) -> Trial | BaseException:
    """Try an explainer in a situation, once; what it raises is an outcome, too."""
    return _outcome(entry, name, situation_named(name))


@cache
def _outcome(
    entry: Entry, name: str, given: EvaluationInputs, backwards: bool = False
) -> Trial | BaseException:
    explainer, predictor = make(entry), own_predictor(given)
    X, seeds = fresh(given.X), row_seeds(given.X, seed=0)
    background = fresh(take_rows(given.background, slice(None, None, -1)) if backwards else given.background)
    touched: list[str] = []
    try:
        check_predictions(entry.component.name, explainer, predictor)
        with _quiet(), _watched(touched):
            returned = explainer.fit(predictor, background)
            answer = (explainer if returned is None else returned).explain(X, seeds)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit ends an explainer, and not the kit
        return error
    return Trial(
        entry, name, given, explainer, returned, answer, X, seeds, background, predictor, tuple(touched)
    )


def own_predictor(given: EvaluationInputs) -> Predictor:
    """Return a situation's model, as explainers are given it: a copy, where it can be copied."""
    try:
        return Predictor(fresh(given.model))
    except Exception:
        return Predictor(given.model)


def backwards(trial: Trial) -> Trial | BaseException:
    """Try it once more, with another instance and the background in the opposite order."""
    return _outcome(trial.entry, trial.name, trial.situation, backwards=True)


@cache
def again(trial: Trial) -> Explanations:
    """Explain the same rows once more."""
    return _explain(trial, slice(None))


@cache
def reversed_rows(trial: Trial) -> Explanations:
    """Explain the rows in the opposite order, those of a frame under other labels, and turn the answer."""
    labels = range(n_rows(trial.situation.X))
    return _explain(trial, slice(None, None, -1), labels).take(slice(None, None, -1))


@cache
def relabelled(trial: Trial) -> Explanations:
    """Explain the rows of a frame under the labels that they have in `reversed_rows`."""
    return _explain(trial, slice(None), range(n_rows(trial.situation.X))[::-1])


@cache
def repeated(trial: Trial, n: int) -> Explanations:
    """Explain n rows at once: those of the situation, again and again."""
    return _explain(trial, np.arange(n) % n_rows(trial.situation.X))


@cache
def one_by_one(trial: Trial) -> Explanations:
    """Explain every row by itself."""
    return Explanations.concat([_explain(trial, slice(i, i + 1)) for i in range(n_rows(trial.situation.X))])


@cache
def refitted(trial: Trial) -> Explanations:
    """Explain the same rows with another instance, fitted on the same background."""
    other = make(trial.entry)
    with _quiet():
        returned = other.fit(own_predictor(trial.situation), fresh(trial.situation.background))
        answer: Explanations = (other if returned is None else returned).explain(
            fresh(trial.situation.X), trial.situation_seeds
        )
    return answer


def no_rows(trial: Trial) -> Any:
    """Explain nothing."""
    return _explain(trial, slice(0, 0))


def _explain(trial: Trial, rows: Any, labels: range | None = None) -> Explanations:
    X = fresh(take_rows(trial.situation.X, rows))
    seeds = row_seeds(X, seed=0)
    if labels is not None and isinstance(X, pd.DataFrame):
        X.index = pd.Index(labels)
    with _quiet():
        answer: Explanations = trial.explainer.explain(X, seeds)
    return answer


@contextmanager
def _quiet() -> Iterator[None]:
    """Let libraries warn and print as they like: what counts here is what they return."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.filterwarnings("ignore", ".*")  # unlike what others write who ignore all
        yield


@contextmanager
def _watched(touched: list[str]) -> Iterator[None]:
    """Note which global things are used or changed, and put them back as they were."""
    python, legacy = random.getstate(), np.random.get_state()
    filters, errors = list(warnings.filters), np.geterr()
    try:
        with redirect_stdout(io.StringIO()) as printed:
            yield
    finally:
        found = {
            "random": random.getstate() != python,
            "numpy.random": _differ(np.random.get_state(), legacy),
            "stdout": bool(printed.getvalue()),
            "warnings.filters": list(warnings.filters) != filters,
            "numpy.seterr": np.geterr() != errors,
        }
        touched.extend(name for name, is_touched in found.items() if is_touched)
        random.setstate(python)
        np.random.set_state(legacy)
        np.seterr(**errors)


def _differ(state: Any, other: Any) -> bool:
    return any(not np.array_equal(a, b) for a, b in zip(state, other, strict=True))
