"""Checks of explainers: they change no data, model or global state, and reject unusable input."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest import SkipTest

from faithkit.extension.entries import Entry
from faithkit.inputs.models.predictor import Predictor
from faithkit.measure.protocols import get_optional_attribute
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.equality import are_equal
from faithkit.testing.kinds.component_checks import create
from faithkit.testing.kinds.explainer_checks import check_fit_returns_self
from faithkit.testing.kinds.explainer_invariance_checks import check_pickles
from faithkit.testing.situations import first_column
from faithkit.testing.trials import (
    Trial,
    copy_predictor,
    retry_with_reversed_background,
    successful_trials,
)
from faithkit.testing.worker_process import unexpected_outcomes_in_worker
from faithkit.wording import describe, join_words

_ROUNDING = 2.0**-26  # of scores: libraries may add them up in another order

_ALTERNATIVES = {
    "stdout": "Say it on stderr, or call faithkit.plugin.rows_done and leave the words to faithkit",
    "warnings.filters": "Put it into `with warnings.catch_warnings():`",
    "numpy.seterr": "Put it into `with numpy.errstate(…):`",
}


def check_explain_leaves_its_input_alone(entry: Entry) -> None:
    """Check that `explain` changes neither X nor seeds.

    The same rows are predicted, explained and related, in any order.
    """
    for trial in successful_trials(entry):
        remedy = "Work on a copy"
        require(are_equal(trial.X, trial.situation.X), trial.label, "explain changed X in place", remedy)
        require(
            are_equal(trial.seeds, trial.situation_seeds),
            trial.label,
            "explain changed seeds in place",
            remedy,
        )


def check_fit_leaves_the_background_alone(entry: Entry) -> None:
    """Check that `fit` does not change the background.

    It is the user's data, and other components are fitted on it as well.
    """
    for trial in successful_trials(entry):
        is_same = are_equal(trial.background, trial.situation.background)
        require(is_same, trial.label, "fit changed the background in place", "Work on a copy")


def check_the_model_is_left_alone(entry: Entry) -> None:
    """Check that after `fit` and `explain` the model predicts and scores as before.

    It is the user's model, and later measurements use it.
    """
    remedy = "Work on a copy of predictor.model, such as copy.deepcopy makes"
    for trial in successful_trials(entry):
        rows = trial.situation.background
        try:
            after = _predictions_and_scores(trial.predictor, rows)
        except Exception as error:
            problem = f"fit or explain broke the model, which now fails: {describe(error)}"
            require(False, trial.label, problem, remedy, error)
        is_same = are_equal(after, _predictions_and_scores(copy_predictor(trial.situation), rows), _ROUNDING)
        problem = "fit or explain changed the model, which now predicts or scores otherwise"
        require(is_same, trial.label, problem, remedy)


def _predictions_and_scores(predictor: Predictor, rows: Any) -> list[Any]:
    scores = [predictor.scores(rows)] if predictor.has_scores else []
    return [predictor.predict(rows), predictor.classes, *scores]


def check_global_random_state_is_untouched(entry: Entry) -> None:
    """Check that `fit` and `explain` leave the global generators of `random` and NumPy as they were.

    Using them changes the results of all other code that uses them.
    """
    for trial in successful_trials(entry):
        changed_globals = " and ".join(name for name in trial.changed_globals if name not in _ALTERNATIVES)
        problem = f"fit or explain used the global generator of {changed_globals}"
        remedy = "Use numpy.random.default_rng(seeds[i]) for row i"
        require(not changed_globals, trial.label, problem, remedy)


def check_global_settings_are_untouched(entry: Entry) -> None:
    """Check that `fit` and `explain` print nothing to stdout, and leave warnings and `np.seterr` alone.

    stdout is for results, which other programs read. Warning filters apply to the whole process.
    """
    for trial in successful_trials(entry):
        # importing a library may change settings once, so the second trial counts
        second_trial = retry_with_reversed_background(trial)
        changed_globals = [
            name
            for name in _ALTERNATIVES
            if isinstance(second_trial, Trial) and name in second_trial.changed_globals
        ]
        settings = join_words(changed_globals) if changed_globals else ""
        problem = f"fit or explain used or changed {settings} of the whole process"
        require(
            not changed_globals,
            trial.label,
            problem,
            ". ".join(_ALTERNATIVES[name] for name in changed_globals),
        )


def check_background_of_another_width_is_refused(entry: Entry) -> None:
    """Check that a background with too few columns gives a `FaithkitError`, in `fit` or in `explain`.

    Usually the wrong file was given. A result or a traceback would hide that.
    """
    skip_unless_passes(check_fit_returns_self, entry)
    skip_unless_passes(check_pickles, entry)
    learning_trials = [
        trial for trial in _trials_with_columns(entry) if get_optional_attribute(trial.explainer, "learns")
    ]
    attempts = [partial(_fit_on_one_column, create(entry), trial) for trial in learning_trials]
    _require_refusals(learning_trials, "the background has one column instead of four", attempts)


def check_rows_of_another_width_are_refused(entry: Entry) -> None:
    """Check that rows with too few columns give a `FaithkitError`.

    Usually the wrong file was given. A result or a traceback would hide that.
    """
    skip_unless_passes(check_pickles, entry)
    trials_with_columns = _trials_with_columns(entry)
    attempts = [
        partial(trial.explainer.explain, first_column(trial.situation.X), trial.situation_seeds)
        for trial in trials_with_columns
    ]
    _require_refusals(trials_with_columns, "X has one column instead of four", attempts)


def _trials_with_columns(entry: Entry) -> list[Trial]:
    trials_with_columns = [
        trial for trial in successful_trials(entry) if first_column(trial.situation.X) is not None
    ]
    if not trials_with_columns:
        raise SkipTest("Texts have no columns.")
    return trials_with_columns


def _fit_on_one_column(explainer: Any, trial: Trial) -> Any:
    situation = trial.situation
    fitted = explainer.fit(copy_predictor(situation), first_column(situation.background))
    return fitted.explain(situation.X, trial.situation_seeds)


def _require_refusals(trials: list[Trial], problem: str, attempts: Sequence[Callable[[], Any]]) -> None:
    remedy = "Use faithkit.plugin.Encoder(background), which checks both, or compare the shapes"
    for trial, outcome in zip(trials, unexpected_outcomes_in_worker(attempts), strict=True):
        require(outcome is None, trial.label, f"{problem}, and {outcome}; expected a FaithkitError", remedy)
