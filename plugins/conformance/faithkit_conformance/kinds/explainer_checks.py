"""Checks of the answers of explainers: what they explain, and in which form.

Every check uses all situations that the explainer accepts. It may reject some situations with a
`FaithkitError`, but not all. If one fault breaks several promises, only the first check fails.
"""

from copy import deepcopy
from typing import Any
from unittest import SkipTest

import attrs
import numpy as np
import pandas as pd

from faithkit import Explanations, Predictor, relation, score
from faithkit.errors import FaithkitError, InputError
from faithkit.plugin import Sample, group, join_words, n_rows
from faithkit_conformance.checks import (
    BrokenPromiseError,
    Remark,
    for_each,
    forbid,
    require,
    skip_unless_passes,
)
from faithkit_conformance.components import (
    ARRAYS,
    NUMBERS,
    OUTCOMES,
    explained_outcomes,
    input_kind,
    rows_per_chunk,
)
from faithkit_conformance.equality import are_equal, describe_difference, find_foreign_type, pickle_and_load
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate
from faithkit_conformance.relating import evaluate_relation
from faithkit_conformance.situations import get_situation, situation_names
from faithkit_conformance.trials import (
    Trial,
    retry_with_reversed_background,
    silence,
    successful_trials,
    try_explainer,
)
from faithkit_conformance.wording import describe

SLOW = 0.1  # seconds for a row


def explains(candidate: Candidate, situation: str) -> None:
    """Check that a situation is explained, or rejected with a `FaithkitError` that gives the reason.

    Users have data of all kinds. An explainer has to say what it cannot do in a sentence, not in a traceback.
    """
    outcome = try_explainer(candidate, situation)
    if isinstance(outcome, FaithkitError):
        raise SkipTest(f"{candidate.name} refuses it: {outcome}")
    if isinstance(outcome, BaseException):
        kind = input_kind(get_situation(candidate, situation).X)
        kinds = join_words(map(repr, ARRAYS if kind == "array" else (kind,)))
        hint = "" if kind == "table" else f"; if it takes none of the kind, leave {kinds} out of its `inputs`"
        remedy = f"Explain it, or raise a FaithkitError that says what the explainer needs instead{hint}"
        raise BrokenPromiseError(describe(outcome), remedy, place=f" on {situation}")


def check_explains_something(candidate: Candidate) -> None:
    """Check that at least one situation of the declared `inputs` is explained.

    Otherwise none of the other checks apply.
    """
    remedy = "Explain at least one of them, or correct the `inputs` of its Component"
    _require_any(candidate, situation_names(candidate), "it explains none of the situations", remedy)


def check_declared_predictions_are_explained(candidate: Candidate) -> None:
    """Check that `outcomes`, if given, are known words, and that numbers are explained if declared.

    An explainer that does not declare numbers never receives a model that predicts numbers.
    """
    declared = explained_outcomes(create(candidate))
    problem = f"outcomes are {declared!r}; expected a tuple of {join_words(map(repr, OUTCOMES), 'or')}"
    is_known = isinstance(declared, tuple) and {*declared} <= {*OUTCOMES}
    require(is_known, problem, 'Say ("labels", "numbers"), or nothing')
    names = [
        name
        for name in situation_names(candidate)
        if Predictor(get_situation(candidate, name).model).is_regressor
    ]
    if NUMBERS not in declared or not names:
        raise SkipTest("It explains labels." if names else "No situation is of numbers.")
    problem = "it declares numbers, but explains no situation with numbers"
    remedy = 'Explain at least one of them, or leave "numbers" out of its `outcomes`'
    _require_any(candidate, names, problem, remedy)


def _require_any(candidate: Candidate, situations: list[str], problem: str, remedy: str) -> None:
    """Require that one of the situations is explained."""
    outcomes = {name: try_explainer(candidate, name) for name in situations}
    reasons = [
        f"{name}: {describe(error)}" for name, error in outcomes.items() if isinstance(error, Exception)
    ]
    is_explained = any(isinstance(outcome, Trial) for outcome in outcomes.values())
    require(is_explained, f"{problem}. {'; '.join(reasons)}", remedy)


def check_declared_chunks_are_possible(candidate: Candidate) -> None:
    """Check that `rows_per_chunk`, if given, is an integer of at least 1, and `learns` a Boolean.

    The kernel cuts samples into chunks of this size, and warns about explainers that learn.
    """
    trial = successful_trials(candidate)[0]
    rows = rows_per_chunk(trial.instance, trial.predictor)
    is_number = isinstance(rows, int | np.integer) and not isinstance(rows, bool) and bool(rows >= 1)
    problem = f"rows_per_chunk is {rows!r}; expected a whole number of at least 1"
    require(is_number, problem, "Say how many rows to explain at a time, or nothing: 32 are usual")
    learns = getattr(trial.instance, "learns", True)
    problem = f"learns is {learns!r}; expected True or False"
    is_boolean = isinstance(learns, bool | np.bool_)
    require(is_boolean, problem, "Say False if fit reads nothing of the background")


@for_each(successful_trials)
def check_rows_are_explained_quickly(trial: Trial) -> None:
    """Check that a row is explained in 0.1 s; a slower explainer gets a remark, and does not fail.

    Samples have thousands of rows, and whoever chooses an explainer should know what to expect.
    """
    trials = (trial, retry_with_reversed_background(trial))  # the first one may import libraries
    seconds = min(each.seconds for each in trials if isinstance(each, Trial)) / n_rows(trial.situation.X)
    if seconds > SLOW:
        minutes = seconds * 10_000 / 60
        text = f"a row takes {seconds:.1g} s, and a sample of 10,000 rows {minutes:,.0f} minutes on one core"
        raise Remark(f"{text}. Say so in its docstring.")


@for_each(successful_trials)
def check_fit_returns_self(trial: Trial) -> None:
    """Check that `fit` returns the explainer.

    The kernel uses the result of `fit`.
    """
    problem = f"fit returned a {type(trial.fit_result).__name__} instead of the explainer"
    require(trial.fit_result is trial.instance, problem, "End fit with `return self`")


@for_each(successful_trials)
def check_one_explanation_per_row(trial: Trial) -> None:
    """Check that `explain` returns `Explanations`, one for each row.

    Explanations and predictions are matched by position. If one row is absent, every count is wrong.
    """
    answer, n = trial.answer, n_rows(trial.situation.X)
    problem = f"explain returned a {type(answer).__name__}; expected Explanations"
    remedy = "Wrap vectors in faithkit.Explanations.vectors, rules in .of"
    require(isinstance(answer, Explanations), problem, remedy)
    problem = f"explain returned {len(answer)} explanations for {n} rows; expected one per row"
    require(len(answer) == n, problem, "Mark rows without an explanation in `missing`")


def check_some_rows_have_an_explanation(candidate: Candidate) -> None:
    """Check that some row is explained, and that not all vectors of a situation are NaN without a remark.

    A vector of nothing but NaN is no explanation, so that nothing could be checked. A remark says why a row
    has none.
    """
    skip_unless_passes(check_one_explanation_per_row, candidate)
    remedy = "Look where NaN comes from; where there is no explanation to find, say so in `remarks`"
    trials = successful_trials(candidate)
    for trial in trials:
        if trial.answer.kind == "vector" and trial.answer.missing.all() and trial.answer.remarks is None:
            problem = "every vector is nothing but NaN, which is no explanation"
            raise BrokenPromiseError(problem, remedy, place=f" on {trial.name}")
    is_explained = any(not trial.answer.missing.all() for trial in trials)
    require(is_explained, "no row of any situation has an explanation", remedy)


@for_each(successful_trials, check_one_explanation_per_row)
def check_explanations_can_be_compared(trial: Trial) -> None:
    """Check that identities are rows of an array or hashable values.

    Consistency compares explanations, so equality must be defined.
    """
    with forbid(FaithkitError, "identities cannot be compared", "Set a hashable `identity`"):
        group(trial.answer.identities, trial.answer.missing)


@for_each(successful_trials, check_one_explanation_per_row)
def check_explanations_are_of_a_declared_kind(trial: Trial) -> None:
    """Check that the explanations are of one of the `kinds` that the component declares.

    Relations and discretizers are chosen by kind, before anything is explained.
    """
    kind, kinds = trial.answer.kind, trial.candidate.component.kinds
    problem = f"the explanations are of kind {kind!r}, and the component declares {kinds}"
    require(not kinds or kind in kinds, problem, "Make the two agree")


def _vector_trials(candidate: Candidate) -> list[Trial]:
    return [trial for trial in successful_trials(candidate) if trial.answer.kind == "vector"]


@for_each(_vector_trials, check_one_explanation_per_row)
def check_every_column_has_a_name(trial: Trial) -> None:
    """Check that `shared["names"]`, if given, has one text for each column of the vectors.

    Reports, discretizers and comparisons find columns by these names.
    """
    names, width = trial.answer.shared.get("names"), trial.answer.values.shape[1]
    if names is None:
        return
    problem = f"shared['names'] has {len(names)} names for {width} columns; expected one for each"
    require(len(names) == width, problem, "Name every column, in order, or leave names out")
    are_distinct_texts = all(isinstance(name, str) for name in names) and len(set(names)) == width
    problem = "shared['names'] are not all texts, or two are the same"
    require(are_distinct_texts, problem, "Call every column by a text of its own")


@for_each(successful_trials, check_explanations_are_of_a_declared_kind)
def check_the_named_discretizer_takes_them(trial: Trial) -> None:
    """Check that the discretizer named by the explanations is installed, and accepts their kind.

    It is the default, so without it nothing can be measured.
    """
    if trial.answer.discretizer is None:
        return
    explanations = attrs.evolve(trial.answer, relation=None)  # of which the next check asks
    with (
        forbid(FaithkitError, "it cannot be measured", "Without one, explanations count as they are"),
        silence(),
    ):
        _ = score(np.arange(len(explanations)) % 2, explanations).consistency


@for_each(successful_trials, check_one_explanation_per_row)
def check_instances_are_the_explained_rows(trial: Trial) -> None:
    """Check that `instances`, if given, are the rows of X in their order.

    Relations such as in-ball read the explained instance together with its explanation.
    """
    instances, X = trial.answer.instances, trial.situation.X
    is_same = instances is None or are_equal(_without_labels(instances), _without_labels(X))
    problem = "the explanations' instances are not the rows that were explained"
    require(is_same, problem, "Pass instances=X, as it was given, or leave it out")


def _without_labels(rows: Any) -> Any:
    return rows.reset_index(drop=True) if isinstance(rows, pd.DataFrame) else rows


@for_each(
    successful_trials, check_explanations_are_of_a_declared_kind, check_instances_are_the_explained_rows
)
def check_the_named_relation_takes_them(trial: Trial) -> None:
    """Check that the relation named by the explanations is installed, and accepts them.

    It is the default, so without it there is no sufficiency.
    """
    name = trial.answer.relation
    if name is not None:
        problem = f"the explanations name the relation {name}, which rejects them"
        with forbid(Exception, problem, "Name another one, or none"):
            _evaluate_relation(name, trial)


def _evaluate_relation(name: str, trial: Trial) -> None:
    kinds, kind = relation(name).declared_kinds, trial.answer.kind
    if kinds and kind not in kinds:
        raise InputError(f"it takes explanations of kind {join_words(kinds, 'or')}, and these are {kind!r}")
    X, answer = deepcopy(trial.situation.X), deepcopy(trial.answer)
    explanations = answer if answer.instances is not None else attrs.evolve(answer, instances=X)
    fitted = relation(name).fit(deepcopy(trial.situation.background), n_rows(trial.situation.background))
    fitted.key(explanations)
    evaluate_relation(fitted, Sample(X, explanations), explanations)


@for_each(successful_trials, check_explanations_can_be_compared)
def check_explanations_are_storable(trial: Trial) -> None:
    """Check that explanations survive `pickle`, and that `shared` holds arrays, tables and JSON values.

    Workers send them back, and an interrupted run resumes from a store of them, without the explainer.
    """
    remedy = "Hold arrays, frames, rules and JSON values: convert others with tolist(), sorted() or str()"
    foreign_type = find_foreign_type(trial.answer.shared)
    require(foreign_type is None, f"`shared` holds a {foreign_type}, which no store can keep", remedy)
    problem = "the explanations do not survive pickle"
    with forbid(Exception, problem, remedy):
        change = describe_difference(trial.answer, pickle_and_load(trial.answer))
    require(change is None, f"{problem}: {change}", remedy)
