"""Checks of explainers: an explanation depends only on the row, its seed and the fitted explainer.

It does not depend on the row's position, its index, the other rows, the chunk, the process, or the order of
the background.
"""

from functools import partial
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd

from faithkit.arrays.containers import n_rows
from faithkit.explanations.explanations import Explanations
from faithkit.extension.entries import Entry
from faithkit.inputs.rows import input_kind
from faithkit.run.explaining.job import declared_rows_per_chunk
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.equality import describe_difference
from faithkit.testing.kinds.explainer_checks import (
    check_declared_chunks_are_possible,
    check_explanations_can_be_compared,
)
from faithkit.testing.situations import EQUAL_ROWS
from faithkit.testing.trials import (
    Trial,
    explain_again,
    explain_no_rows,
    explain_one_by_one,
    explain_relabelled,
    explain_repeatedly,
    explain_reversed,
    refit_and_explain,
    retry_with_reversed_background,
    successful_trials,
)
from faithkit.testing.worker_process import call_in_worker
from faithkit.wording import describe

_MAX_ROWS = 64  # of a chunk in checks, even if the explainer accepts more


def check_same_seeds_give_the_same_answer(entry: Entry) -> None:
    """Check that explaining the same rows with the same seeds twice gives equal explanations.

    Only then is the explainer a function, and its measurement reproducible.
    """
    skip_unless_passes(check_explanations_can_be_compared, entry)
    for trial in successful_trials(entry):
        remedy = "Take randomness from seeds alone, and keep nothing between calls"
        _require_same(trial, explain_again(trial), "the same rows and seeds were explained twice", remedy)


def check_fitting_again_gives_the_same_answer(entry: Entry) -> None:
    """Check that a second explainer, fitted on the same background, gives equal explanations.

    Workers and later sessions rebuild the explainer from its name and parameters, and `fit` gets no seed.
    """
    skip_unless_passes(check_same_seeds_give_the_same_answer, entry)
    for trial in successful_trials(entry):
        reversed_trial = retry_with_reversed_background(trial)
        if isinstance(reversed_trial, Trial) and _describe_change(trial, reversed_trial.answer) is None:
            continue  # the answer is the same even for another order of the background
        remedy = "Use a fixed seed in fit, or one made from the background by faithkit.plugin.row_seeds"
        _require_same(
            trial, refit_and_explain(trial), "a second one was fitted on the same background", remedy
        )


def check_order_of_the_background_is_irrelevant(entry: Entry) -> None:
    """Check that fitting on the background in the opposite order gives equal explanations.

    The same rows in another order are the same background. The order of a file has no meaning.
    """
    skip_unless_passes(check_fitting_again_gives_the_same_answer, entry)
    for trial in successful_trials(entry):
        reversed_trial = retry_with_reversed_background(trial)
        if not isinstance(reversed_trial, Trial):
            raise reversed_trial
        remedy = (
            "Use all rows of the background, or choose some by their content: faithkit.plugin.row_seeds "
            "gives every row a number that depends on nothing else"
        )
        action = "the background was given in the opposite order"
        _require_same(trial, reversed_trial.answer, action, remedy)


def check_equal_rows_get_equal_explanations(entry: Entry) -> None:
    """Check that two equal rows, which have equal seeds, get equal explanations.

    Consistency compares explanations of different rows. Noise between equal rows would count as unfaithful.
    """
    skip_unless_passes(check_same_seeds_give_the_same_answer, entry)
    for trial in successful_trials(entry):
        first, second = (trial.answer.take([row]) for row in EQUAL_ROWS)
        change = describe_difference(first, second, trial.is_single)
        problem = f"rows {EQUAL_ROWS[0]} and {EQUAL_ROWS[1]} are equal, and their explanations are not"
        remedy = "Take randomness from seeds[i] for row i, and nothing from i"
        require(change is None, trial.label, problem, remedy)


def check_labels_of_rows_are_irrelevant(entry: Entry) -> None:
    """Check that the rows of a frame get the same explanations under another index.

    The index shows where rows came from. It changes when a table is filtered, sorted or read again.
    """
    skip_unless_passes(check_equal_rows_get_equal_explanations, entry)
    for trial in successful_trials(entry):
        if (
            not isinstance(trial.situation.X, pd.DataFrame)
            or _describe_change(trial, explain_reversed(trial)) is None
        ):
            continue  # reversed rows also have another index
        remedy = "Read the columns, and never X.index: X.reset_index(drop=True) gives rows their places"
        _require_same(trial, explain_relabelled(trial), "the rows had other labels", remedy)


def check_row_order_is_irrelevant(entry: Entry) -> None:
    """Check that rows explained in the opposite order get the same explanations.

    Results must not depend on the order of a file.
    """
    skip_unless_passes(check_labels_of_rows_are_irrelevant, entry)
    for trial in successful_trials(entry):
        remedy = "Explain every row independently of the rows before it"
        _require_same(trial, explain_reversed(trial), "the rows were explained in the opposite order", remedy)


def check_chunking_is_irrelevant(entry: Entry) -> None:
    """Check that rows explained one by one get the same explanations as all at once.

    The kernel cuts samples into chunks for workers and for resuming.
    """
    skip_unless_passes(check_row_order_is_irrelevant, entry)
    for trial in successful_trials(entry):
        remedy = "Use nothing of the batch but the row itself; what must be learnt is learnt in fit"
        _require_same(trial, explain_one_by_one(trial), "the rows were explained one by one", remedy)


def check_no_rows_get_no_explanations(entry: Entry) -> None:
    """Check that an empty batch gets no explanations, instead of an exception.

    The last slice of a file may be empty, and so may a group.
    """
    skip_unless_passes(check_same_seeds_give_the_same_answer, entry)
    for trial in successful_trials(entry):
        remedy = "Return Explanations of no rows: arrays of shape (0, columns), or an empty list"
        try:
            answer: Any = explain_no_rows(trial)
        except Exception as error:
            require(
                False, trial.label, f"no rows were explained, and {describe(error)} was raised", remedy, error
            )
        rows = len(answer) if isinstance(answer, Explanations) else None
        problem = f"no rows were explained, and explain returned {type(answer).__name__} of {rows} rows"
        require(rows == 0, trial.label, problem, remedy)


def check_a_full_chunk_changes_nothing(entry: Entry) -> None:
    """Check that rows get the same explanations in a full chunk of the explainer, up to 64 rows.

    Optimisations for large chunks must not change explanations.
    """
    skip_unless_passes(check_chunking_is_irrelevant, entry)
    skip_unless_passes(check_declared_chunks_are_possible, entry)
    first = successful_trials(entry)[0]
    rows = min(declared_rows_per_chunk(first.instance, first.predictor), _MAX_ROWS)
    for trial in _one_trial_per_input_kind(successful_trials(entry)):
        expected = trial.answer.take(np.arange(rows) % n_rows(trial.situation.X))
        change = describe_difference(expected, explain_repeatedly(trial, rows), trial.is_single)
        problem = f"the same rows were explained again and again, {rows} at once, and {change}"
        remedy = "Use nothing of the batch but the row itself, however many there are"
        require(change is None, trial.label, problem, remedy)


def _one_trial_per_input_kind(all_trials: list[Trial]) -> list[Trial]:
    """Return the first trial of each input kind, since many rows take long."""
    return list({input_kind(trial.situation.X): trial for trial in reversed(all_trials)}.values())


def check_pickles(entry: Entry) -> None:
    """Check that the fitted explainer can be pickled (by cloudpickle) and loaded again.

    It is sent to worker processes in this way.
    """
    for trial in successful_trials(entry):
        try:
            cloudpickle.loads(cloudpickle.dumps(trial.explainer))
        except Exception as error:
            remedy = "Hold arrays and plain objects; make locks, handles and generators when they are needed"
            require(False, trial.label, f"once fitted, it cannot be pickled: {describe(error)}", remedy)


def check_survives_a_worker_process(entry: Entry) -> None:
    """Check that the fitted explainer gives the same explanations in another process.

    With n_jobs=2 the result must be the same as with n_jobs=1.
    """
    skip_unless_passes(check_pickles, entry)
    skip_unless_passes(check_same_seeds_give_the_same_answer, entry)
    all_trials = successful_trials(entry)
    answers = call_in_worker(
        [partial(trial.explainer.explain, trial.situation.X, trial.situation_seeds) for trial in all_trials]
    )
    for trial, answer in zip(all_trials, answers, strict=True):
        remedy = "Keep all that explain reads in the instance, not in globals of its module"
        _require_same(trial, answer, "the rows were explained in a worker process", remedy)


def _require_same(trial: Trial, answer: Explanations, action: str, remedy: str) -> None:
    change = _describe_change(trial, answer)
    require(change is None, trial.label, f"{action}, and {change}", remedy)


def _describe_change(trial: Trial, answer: Explanations) -> str | None:
    return describe_difference(trial.answer, answer, trial.is_single)
