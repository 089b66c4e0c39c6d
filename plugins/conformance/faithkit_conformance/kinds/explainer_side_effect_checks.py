"""Checks of explainers: they change no data, model or global state, and reject unusable input."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import SkipTest

import pandas as pd

from faithkit import Predictor
from faithkit.plugin import join_words
from faithkit_conformance.checks import for_each, forbid, require
from faithkit_conformance.equality import are_equal
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kinds.explainer_checks import check_fit_returns_self
from faithkit_conformance.kinds.explainer_invariance_checks import check_pickles
from faithkit_conformance.kit import Candidate
from faithkit_conformance.trials import (
    Trial,
    copy_predictor,
    retry_with_reversed_background,
    successful_trials,
)
from faithkit_conformance.worker_process import unexpected_outcome_in_worker

_ROUNDING = 2.0**-26  # of scores: libraries may add them up in another order

_ALTERNATIVES = {
    "random": "Use random.Random(int(seeds[i])) for row i",
    "numpy.random": "Use numpy.random.default_rng(seeds[i]) for row i",
    "stdout": "Say it on stderr, or call faithkit.plugin.report_progress and leave the words to faithkit",
    "warnings.filters": "Put it into `with warnings.catch_warnings():`",
    "numpy.seterr": "Put it into `with numpy.errstate(…):`",
}


@for_each(successful_trials)
def check_its_input_is_left_alone(trial: Trial) -> None:
    """Check that `explain` changes neither X nor seeds, and `fit` not the background.

    They are the user's data. The same rows are predicted, explained and related, in any order.
    """
    pairs = {
        "explain changed X": (trial.X, trial.situation.X),
        "explain changed seeds": (trial.seeds, trial.situation_seeds),
        "fit changed the background": (trial.background, trial.situation.background),
    }
    for problem, pair in pairs.items():
        require(are_equal(*pair), f"{problem} in place", "Work on a copy")


@for_each(successful_trials)
def check_the_model_is_left_alone(trial: Trial) -> None:
    """Check that after `fit` and `explain` the model predicts and scores as before.

    It is the user's model, and later measurements use it.
    """
    remedy = "Work on a copy of predictor.model, such as copy.deepcopy makes"
    rows = trial.situation.background
    with forbid(Exception, "fit or explain broke the model, which now fails", remedy):
        after = _predictions_and_scores(trial.predictor, rows)
    is_same = are_equal(after, _predictions_and_scores(copy_predictor(trial.situation), rows), _ROUNDING)
    problem = "fit or explain changed the model, which now predicts or scores otherwise"
    require(is_same, problem, remedy)


def _predictions_and_scores(predictor: Predictor, rows: Any) -> list[Any]:
    scores = [predictor.scores(rows)] if predictor.has_scores else []
    return [predictor.predict(rows), predictor.classes, *scores]


@for_each(successful_trials)
def check_global_state_is_untouched(trial: Trial) -> None:
    """Check that `fit` and `explain` leave global generators, warnings, `np.seterr` and stdout alone.

    They belong to the whole process. stdout is for results, which other programs read.
    """
    changed_globals = [name for name in trial.changed_globals if "random" in name]
    # importing a library may change settings once, so the second trial counts
    second_trial = retry_with_reversed_background(trial)
    if isinstance(second_trial, Trial):
        changed_globals += [name for name in second_trial.changed_globals if "random" not in name]
    if changed_globals:
        problem = f"fit or explain used or changed {join_words(changed_globals)} of the whole process"
        require(False, problem, ". ".join(_ALTERNATIVES[name] for name in changed_globals))


def _trials_with_columns(candidate: Candidate) -> list[Trial]:
    trials = [trial for trial in successful_trials(candidate) if not isinstance(trial.situation.X, list)]
    if not trials:
        raise SkipTest("Texts have no columns.")
    return trials


@for_each(_trials_with_columns, check_pickles)
def check_rows_of_another_width_are_refused(trial: Trial) -> None:
    """Check that rows with too few columns give a `FaithkitError`.

    Usually the wrong file was given. A result or a traceback would hide that.
    """
    attempt = partial(trial.explainer.explain, _first_column(trial.situation.X), trial.situation_seeds)
    _require_refusal("X has one column instead of four", attempt)


@for_each(_trials_with_columns, check_fit_returns_self, check_rows_of_another_width_are_refused)
def check_background_of_another_width_is_refused(trial: Trial) -> None:
    """Check that a background with too few columns gives a `FaithkitError`, in `fit` or in `explain`.

    Usually the wrong file was given. A result or a traceback would hide that.
    """
    if getattr(trial.explainer, "learns", True):
        attempt = partial(_fit_on_one_column, create(trial.candidate), trial)
        _require_refusal("the background has one column instead of four", attempt)


def _first_column(X: Any) -> Any:
    return X.iloc[:, :1] if isinstance(X, pd.DataFrame) else X[:, :1]


def _fit_on_one_column(explainer: Any, trial: Trial) -> Any:
    situation = trial.situation
    fitted = explainer.fit(copy_predictor(situation), _first_column(situation.background))
    return fitted.explain(situation.X, trial.situation_seeds)


def _require_refusal(problem: str, attempt: Callable[[], Any]) -> None:
    outcome = unexpected_outcome_in_worker(attempt)
    remedy = "Use faithkit.plugin.Encoder(background), which checks both, or compare the shapes"
    require(outcome is None, f"{problem}, and {outcome}; expected a FaithkitError", remedy)
