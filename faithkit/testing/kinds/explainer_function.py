"""What an explainer promises: that its explanation is a function of the row, its seed and what was fitted.

Not of the row's place, its label, the other rows, the chunk or the process; nor of the background's order.
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
from faithkit.run.explaining.job import declared_rows
from faithkit.testing.checks import demand, needs
from faithkit.testing.elsewhere import elsewhere
from faithkit.testing.fixtures import TWINS
from faithkit.testing.kinds.explainer_checks import (
    check_declared_chunks_are_possible,
    check_explanations_can_be_compared,
)
from faithkit.testing.sameness import difference
from faithkit.testing.trials import (
    Trial,
    again,
    backwards,
    no_rows,
    one_by_one,
    refitted,
    relabelled,
    repeated,
    reversed_rows,
    trials,
)
from faithkit.wording import describe

_LARGEST = 64  # rows that are explained at once, even by those who would take more


def check_same_seeds_give_the_same_answer(entry: Entry) -> None:
    """Check that explaining the same rows with the same seeds twice gives equal explanations.

    Only then is the explainer a function, and a measurement of it repeatable.
    """
    needs(check_explanations_can_be_compared, entry)
    for trial in trials(entry):
        mend = "Take randomness from seeds alone, and keep nothing between calls"
        _demand_same(trial, again(trial), "the same rows and seeds were explained twice", mend)


def check_fitting_again_gives_the_same_answer(entry: Entry) -> None:
    """Check that a second explainer, fitted on the same background, gives equal explanations.

    Workers and later sessions rebuild the explainer by its name and parameters, and `fit` is given no seed.
    """
    needs(check_same_seeds_give_the_same_answer, entry)
    for trial in trials(entry):
        other = backwards(trial)
        if isinstance(other, Trial) and _unlike(trial, other.answer) is None:
            continue  # it gives the same even where the background's order changes
        mend = "Use a fixed seed in fit, or one made from the background by faithkit.plugin.row_seeds"
        _demand_same(trial, refitted(trial), "a second one was fitted on the same background", mend)


def check_order_of_the_background_is_irrelevant(entry: Entry) -> None:
    """Check that fitting on the background in the opposite order gives equal explanations.

    The same rows in another order are the same background; how a file happens to be sorted means nothing.
    """
    needs(check_fitting_again_gives_the_same_answer, entry)
    for trial in trials(entry):
        other = backwards(trial)
        if not isinstance(other, Trial):
            raise other
        mend = (
            "Use all rows of the background, or choose some by their content: faithkit.plugin.row_seeds "
            "gives every row a number that depends on nothing else"
        )
        what = "the background was given in the opposite order"
        _demand_same(trial, other.answer, what, mend)


def check_equal_rows_get_equal_explanations(entry: Entry) -> None:
    """Check that two equal rows, which have equal seeds, get equal explanations.

    Consistency compares explanations of different rows; noise between equal rows would count as unfaithful.
    """
    needs(check_same_seeds_give_the_same_answer, entry)
    for trial in trials(entry):
        first, second = (trial.answer.take([row]) for row in TWINS)
        unlike = difference(first, second, trial.is_single)
        found = f"rows {TWINS[0]} and {TWINS[1]} are equal, and their explanations are not"
        mend = "Take randomness from seeds[i] for row i, and nothing from i"
        demand(unlike is None, trial.who, found, mend)


def check_labels_of_rows_are_irrelevant(entry: Entry) -> None:
    """Check that the rows of a frame get the same explanations under another index.

    Labels say where rows came from, and change when a table is filtered, sorted or read again.
    """
    needs(check_equal_rows_get_equal_explanations, entry)
    for trial in trials(entry):
        if not isinstance(trial.situation.X, pd.DataFrame) or _unlike(trial, reversed_rows(trial)) is None:
            continue  # reversed rows have other labels, too
        mend = "Read the columns, and never X.index: X.reset_index(drop=True) gives rows their places"
        _demand_same(trial, relabelled(trial), "the rows had other labels", mend)


def check_row_order_is_irrelevant(entry: Entry) -> None:
    """Check that rows explained in the opposite order get the same explanations.

    Results must not depend on how a file happens to be sorted.
    """
    needs(check_labels_of_rows_are_irrelevant, entry)
    for trial in trials(entry):
        mend = "Explain every row by itself, whatever stands before it"
        _demand_same(trial, reversed_rows(trial), "the rows were explained in the opposite order", mend)


def check_chunking_is_irrelevant(entry: Entry) -> None:
    """Check that rows explained one by one get the same explanations as all at once.

    The kernel cuts samples into chunks for workers and for resuming.
    """
    needs(check_row_order_is_irrelevant, entry)
    for trial in trials(entry):
        mend = "Use nothing of the batch but the row itself; what must be learnt is learnt in fit"
        _demand_same(trial, one_by_one(trial), "the rows were explained one by one", mend)


def check_no_rows_get_no_explanations(entry: Entry) -> None:
    """Check that a batch without rows gets a batch without explanations, instead of an exception.

    The last part of a file may be empty, and so may a group.
    """
    needs(check_same_seeds_give_the_same_answer, entry)
    for trial in trials(entry):
        mend = "Return Explanations of no rows: arrays of shape (0, columns), or an empty list"
        try:
            answer: Any = no_rows(trial)
        except Exception as error:
            demand(False, trial.who, f"no rows were explained, and {describe(error)} was raised", mend, error)
        rows = len(answer) if isinstance(answer, Explanations) else None
        found = f"no rows were explained, and explain returned {type(answer).__name__} of {rows} rows"
        demand(rows == 0, trial.who, found, mend)


def check_a_full_chunk_changes_nothing(entry: Entry) -> None:
    """Check that rows get the same explanations in a batch as large as the explainer takes, up to 64 rows.

    Six rows and thousands are explained by the same function; what is done for speed must not show.
    """
    needs(check_chunking_is_irrelevant, entry)
    needs(check_declared_chunks_are_possible, entry)
    first = trials(entry)[0]
    rows = min(declared_rows(first.made, first.predictor), _LARGEST)
    for trial in _one_of_each_kind(trials(entry)):
        expected = trial.answer.take(np.arange(rows) % n_rows(trial.situation.X))
        unlike = difference(expected, repeated(trial, rows), trial.is_single)
        found = f"the same rows were explained again and again, {rows} at once, and {unlike}"
        mend = "Use nothing of the batch but the row itself, however many there are"
        demand(unlike is None, trial.who, found, mend)


def _one_of_each_kind(found: list[Trial]) -> list[Trial]:
    """Return the first of those whose rows are of one kind: many rows take their time."""
    return list({input_kind(trial.situation.X): trial for trial in reversed(found)}.values())


def check_pickles(entry: Entry) -> None:
    """Check that the fitted explainer can be pickled (by cloudpickle) and loaded again.

    That is how it travels to a worker process.
    """
    for trial in trials(entry):
        try:
            cloudpickle.loads(cloudpickle.dumps(trial.explainer))
        except Exception as error:
            mend = "Hold arrays and plain objects; make locks, handles and generators when they are needed"
            demand(False, trial.who, f"once fitted, it cannot be pickled: {describe(error)}", mend)


def check_survives_a_worker_process(entry: Entry) -> None:
    """Check that the fitted explainer gives the same explanations in another process.

    With n_jobs=2 the result must be the same as with n_jobs=1.
    """
    needs(check_pickles, entry)
    needs(check_same_seeds_give_the_same_answer, entry)
    found = trials(entry)
    answers = elsewhere([partial(t.explainer.explain, t.situation.X, t.situation_seeds) for t in found])
    for trial, answer in zip(found, answers, strict=True):
        mend = "Keep all that explain reads in the instance, not in globals of its module"
        _demand_same(trial, answer, "the rows were explained in a worker process", mend)


def _demand_same(trial: Trial, answer: Explanations, what: str, mend: str) -> None:
    unlike = _unlike(trial, answer)
    demand(unlike is None, trial.who, f"{what}, and {unlike}", mend)


def _unlike(trial: Trial, answer: Explanations) -> str | None:
    return difference(trial.answer, answer, trial.is_single)
