"""Checks of explainers: an explanation depends only on the row, its seed and the fitted explainer.

It does not depend on the row's position, its index, the other rows, the chunk, the process, or the order of
the background.
"""

from collections.abc import Iterable
from functools import partial
from unittest import SkipTest

import cloudpickle
import numpy as np
import pandas as pd

from faithkit import Explanations
from faithkit.plugin import n_rows
from faithkit_conformance.checks import for_each, forbid, require
from faithkit_conformance.components import input_kind, rows_per_chunk
from faithkit_conformance.equality import describe_difference
from faithkit_conformance.kinds.explainer_checks import (
    check_declared_chunks_are_possible,
    check_explanations_are_storable,
    check_explanations_can_be_compared,
)
from faithkit_conformance.kit import Candidate
from faithkit_conformance.situations import EQUAL_ROWS
from faithkit_conformance.trials import Trial, retry_with_reversed_background, successful_trials
from faithkit_conformance.worker_process import call_in_worker

_MAX_ROWS = 64  # of a chunk in checks, even if the explainer accepts more


@for_each(successful_trials, check_explanations_can_be_compared)
def check_same_seeds_give_the_same_answer(trial: Trial) -> None:
    """Check that explaining the same rows with the same seeds twice gives equal explanations.

    Only then is the explainer a function, and its measurement reproducible.
    """
    remedy = "Take randomness from seeds alone, and keep nothing between calls"
    answer = trial.explain(slice(None))
    _require_same(trial, answer, "the same rows and seeds were explained twice", remedy)


@for_each(successful_trials, check_same_seeds_give_the_same_answer)
def check_fitting_again_gives_the_same_answer(trial: Trial) -> None:
    """Check that a second explainer, fitted on the same background, gives equal explanations.

    Workers and later sessions rebuild the explainer from its name and parameters, and `fit` gets no seed.
    """
    reversed_trial = retry_with_reversed_background(trial)
    if isinstance(reversed_trial, Trial) and _describe_change(trial, reversed_trial.answer) is None:
        return  # the answer is the same even for another order of the background
    remedy = "Use a fixed seed in fit, or one made from the background by faithkit.plugin.row_seeds"
    answer = trial.refit_and_explain()
    _require_same(trial, answer, "a second one was fitted on the same background", remedy)


@for_each(successful_trials, check_fitting_again_gives_the_same_answer)
def check_order_of_the_background_is_irrelevant(trial: Trial) -> None:
    """Check that fitting on the background in the opposite order gives equal explanations.

    The same rows in another order are the same background. The order of a file has no meaning.
    """
    reversed_trial = retry_with_reversed_background(trial)
    if not isinstance(reversed_trial, Trial):
        raise reversed_trial
    remedy = (
        "Use all rows of the background, or choose some by their content: faithkit.plugin.row_seeds "
        "gives every row a number that depends on nothing else"
    )
    _require_same(trial, reversed_trial.answer, "the background was given in the opposite order", remedy)


def _trials_without_learning(candidate: Candidate) -> list[Trial]:
    # for numbers, any explainer may learn from the background how far apart they lie
    trials = [
        trial
        for trial in successful_trials(candidate)
        if not getattr(trial.instance, "learns", True) and not trial.predictor.is_regressor
    ]
    if not trials:
        raise SkipTest("It learns from the background.")
    return trials


@for_each(_trials_without_learning, check_fitting_again_gives_the_same_answer)
def check_learns_nothing_if_it_says_so(trial: Trial) -> None:
    """Check that an explainer with `learns = False` explains the same after fitting on fewer rows.

    Its stored explanations are used again with any background.
    """
    half = slice(n_rows(trial.situation.background) // 2)
    remedy = "Remove `learns = False`, or use no values of the background"
    _require_same(trial, trial.refit_and_explain(half), "only half of the background was given", remedy)


@for_each(successful_trials, check_same_seeds_give_the_same_answer)
def check_equal_rows_get_equal_explanations(trial: Trial) -> None:
    """Check that two equal rows, which have equal seeds, get equal explanations.

    Consistency compares explanations of different rows. Noise between equal rows would count as unfaithful.
    """
    first, second = (trial.answer.take([row]) for row in EQUAL_ROWS)
    change = describe_difference(first, second, trial.is_single)
    problem = f"rows {EQUAL_ROWS[0]} and {EQUAL_ROWS[1]} are equal, and their explanations are not"
    require(change is None, problem, "Take randomness from seeds[i] for row i, and nothing from i")


@for_each(successful_trials, check_equal_rows_get_equal_explanations)
def check_labels_of_rows_are_irrelevant(trial: Trial) -> None:
    """Check that the rows of a frame get the same explanations under another index.

    The index shows where rows came from. It changes when a table is filtered, sorted or read again.
    """
    if isinstance(trial.situation.X, pd.DataFrame):
        answer = trial.explain(slice(None), labels=range(n_rows(trial.situation.X))[::-1])
        remedy = "Read the columns, and never X.index: X.reset_index(drop=True) gives rows their places"
        _require_same(trial, answer, "the rows had other labels", remedy)


@for_each(successful_trials, check_labels_of_rows_are_irrelevant)
def check_chunking_is_irrelevant(trial: Trial) -> None:
    """Check that rows explained one by one, the last one first, get the same explanations as all at once.

    The kernel cuts samples into chunks for workers and for resuming. The order of a file has no meaning.
    """
    rows = reversed(range(n_rows(trial.situation.X)))
    answers = [trial.explain(slice(row, row + 1)) for row in rows]
    answer = Explanations.concat(answers[::-1])
    remedy = "Use nothing of the batch but the row itself; what must be learnt is learnt in fit"
    _require_same(trial, answer, "the rows were explained one by one", remedy)


@for_each(successful_trials, check_same_seeds_give_the_same_answer)
def check_no_rows_get_no_explanations(trial: Trial) -> None:
    """Check that an empty batch gets no explanations, instead of an exception.

    The last slice of a file may be empty, and so may a group.
    """
    remedy = "Return Explanations of no rows: arrays of shape (0, columns), or an empty list"
    with forbid(Exception, "an empty batch is not explained", remedy):
        answer = trial.explain(slice(0, 0))
    is_empty = isinstance(answer, Explanations) and len(answer) == 0
    require(is_empty, f"no rows were explained, and explain returned {answer!r:.80}", remedy)


def _one_trial_per_input_kind(candidate: Candidate) -> Iterable[Trial]:
    """Return the first trial of each kind of input, since many rows take long."""
    trials = reversed(successful_trials(candidate))
    return {input_kind(trial.situation.X): trial for trial in trials}.values()


@for_each(_one_trial_per_input_kind, check_chunking_is_irrelevant, check_declared_chunks_are_possible)
def check_a_full_chunk_changes_nothing(trial: Trial) -> None:
    """Check that rows get the same explanations in a full chunk of the explainer, up to 64 rows.

    Optimisations for large chunks must not change explanations.
    """
    n = min(rows_per_chunk(trial.instance, trial.predictor), _MAX_ROWS)
    rows = np.arange(n) % n_rows(trial.situation.X)
    change = describe_difference(trial.answer.take(rows), trial.explain(rows), trial.is_single)
    problem = f"the same rows were explained again and again, {n} at once, and {change}"
    remedy = "Use nothing of the batch but the row itself, however many there are"
    require(change is None, problem, remedy)


@for_each(successful_trials)
def check_pickles(trial: Trial) -> None:
    """Check that the fitted explainer can be pickled (by cloudpickle) and loaded again.

    It is sent to worker processes in this way.
    """
    remedy = "Hold arrays and plain objects; make locks, handles and generators when they are needed"
    with forbid(Exception, "once fitted, it cannot be pickled", remedy):
        cloudpickle.loads(cloudpickle.dumps(trial.explainer))


@for_each(
    successful_trials,
    check_pickles,
    check_explanations_are_storable,
    check_same_seeds_give_the_same_answer,
)
def check_survives_a_worker_process(trial: Trial) -> None:
    """Check that the fitted explainer gives the same explanations in another process.

    With n_jobs=2 the result must be the same as with n_jobs=1.
    """
    explain = partial(trial.explainer.explain, trial.situation.X, trial.situation_seeds)
    answer = call_in_worker(explain)
    remedy = "Keep all that explain reads in the instance, not in globals of its module"
    _require_same(trial, answer, "the rows were explained in a worker process", remedy)


def _require_same(trial: Trial, answer: Explanations, action: str, remedy: str) -> None:
    change = _describe_change(trial, answer)
    require(change is None, f"{action}, and {change}", remedy)


def _describe_change(trial: Trial, answer: Explanations) -> str | None:
    return describe_difference(trial.answer, answer, trial.is_single)
