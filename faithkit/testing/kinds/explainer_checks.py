"""Checks of the answers of explainers: what they explain, and in which form.

Every check uses all situations that the explainer accepts. It may reject some situations with a
`FaithkitError`, but not all. If one fault breaks several promises, only the first check fails.
"""

from unittest import SkipTest

import attrs
import numpy as np

from faithkit.arrays.containers import n_rows
from faithkit.arrays.grouping import group
from faithkit.errors import FaithkitError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import fit_relation, holds_bits, key_of
from faithkit.extension.component import ARRAYS
from faithkit.extension.entries import Entry
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.predictions.outcome import KINDS, NUMBERS
from faithkit.inputs.rows import input_kind
from faithkit.inputs.seeds import fingerprint
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.components.discretization import accepted_kinds, choose_discretizer
from faithkit.run.components.resolution import resolve_installed_component
from faithkit.run.explaining.job import declared_rows_per_chunk
from faithkit.testing.checks import Check, bind, require, skip_unless_passes
from faithkit.testing.equality import describe_difference, save_and_load
from faithkit.testing.kinds.component_checks import create
from faithkit.testing.situations import current_situation, deep_copy, situation_names
from faithkit.testing.trials import Trial, successful_trials, try_explainer
from faithkit.wording import describe, join_words


def explains(entry: Entry, situation: str) -> None:
    """Check that a situation is explained, or rejected with a `FaithkitError` that gives the reason.

    Users have data of all kinds. An explainer has to say what it cannot do in a sentence, not in a traceback.
    """
    outcome = try_explainer(entry, situation)
    if isinstance(outcome, FaithkitError):
        raise SkipTest(f"{entry.component.name} refuses it: {outcome}")
    require(
        isinstance(outcome, Trial),
        f"{entry.component.name} on {situation}",
        describe(outcome) if isinstance(outcome, BaseException) else "",
        "Explain it, or raise a FaithkitError that says what the explainer needs instead"
        + _inputs_hint(situation),
    )


def _inputs_hint(situation: str) -> str:
    kind = input_kind(current_situation(situation).X)
    kinds = join_words(map(repr, ARRAYS if kind == "array" else (kind,)))
    return "" if kind == "table" else f"; if it takes none of the kind, leave {kinds} out of its `inputs`"


def situation_checks(entry: Entry) -> list[Check]:
    """Return one check for each situation: ``explains_mixed_frame``."""
    name = entry.component.name
    return [
        bind(explains, "explainer", name, entry, situation, name=f"explains_{situation}")
        for situation in situation_names(entry.component.inputs)
    ]


def check_explains_something(entry: Entry) -> None:
    """Check that at least one situation of the declared `inputs` is explained.

    Otherwise none of the other checks apply.
    """
    names = situation_names(entry.component.inputs)
    outcomes = {name: try_explainer(entry, name) for name in names}
    works, reasons = _summarise(outcomes)
    remedy = "Explain at least one of them, or correct the `inputs` of its Component"
    require(works, entry.component.name, f"it explains none of the situations. {reasons}", remedy)


def check_declared_predictions_are_explained(entry: Entry) -> None:
    """Check that `outcomes`, if given, are known words, and that numbers are explained if declared.

    An explainer that does not declare numbers never receives a model that predicts numbers.
    """
    subject, declared = entry.component.name, get_optional_attribute(create(entry), "outcomes")
    problem = f"outcomes are {declared!r}; expected a tuple of {join_words(map(repr, KINDS), 'or')}"
    require(
        isinstance(declared, tuple) and {*declared} <= {*KINDS},
        subject,
        problem,
        'Say ("labels", "numbers"), or nothing',
    )
    names = [name for name in situation_names(entry.component.inputs) if _predicts_numbers(name)]
    if NUMBERS not in declared or not names:
        raise SkipTest("It explains labels." if names else "No situation is of numbers.")
    works, reasons = _summarise({name: try_explainer(entry, name) for name in names})
    problem = f"it declares numbers, but explains no situation with numbers. {reasons}"
    require(works, subject, problem, 'Explain at least one of them, or leave "numbers" out of its `outcomes`')


def _summarise(outcomes: dict[str, Trial | BaseException]) -> tuple[bool, str]:
    """Return whether any trial was successful, and the reasons of the others."""
    errors = {name: error for name, error in outcomes.items() if isinstance(error, Exception)}
    reasons = "; ".join(f"{name}: {describe(error)}" for name, error in errors.items())
    return any(isinstance(outcome, Trial) for outcome in outcomes.values()), reasons


def _predicts_numbers(situation: str) -> bool:
    return Predictor(current_situation(situation).model).is_regressor


def check_declared_chunks_are_possible(entry: Entry) -> None:
    """Check that `rows_per_chunk`, if given, is an integer of at least 1, and `learns` a Boolean.

    The kernel cuts samples into chunks of this size, and warns about explainers that learn.
    """
    trial, subject = successful_trials(entry)[0], entry.component.name
    rows, learns = (
        declared_rows_per_chunk(trial.instance, trial.predictor),
        get_optional_attribute(trial.instance, "learns"),
    )
    is_number = isinstance(rows, int | np.integer) and not isinstance(rows, bool) and bool(rows >= 1)
    problem = f"rows_per_chunk is {rows!r}; expected a whole number of at least 1"
    require(is_number, subject, problem, "Say how many rows to explain at a time, or nothing: 32 are usual")
    problem = f"learns is {learns!r}; expected True or False"
    require(
        isinstance(learns, bool | np.bool_),
        subject,
        problem,
        "Say False if fit reads nothing of the background",
    )


def check_fit_returns_self(entry: Entry) -> None:
    """Check that `fit` returns the explainer.

    The kernel uses the result of `fit`.
    """
    for trial in successful_trials(entry):
        fit_result = trial.fit_result
        problem = f"fit returned a {type(fit_result).__name__} instead of the explainer"
        require(fit_result is trial.instance, trial.label, problem, "End fit with `return self`")


def check_one_explanation_per_row(entry: Entry) -> None:
    """Check that `explain` returns `Explanations`, one for each row.

    Explanations and predictions are matched by position. If one row is absent, every count is wrong.
    """
    for trial in successful_trials(entry):
        answer, n = trial.answer, n_rows(trial.situation.X)
        is_batch = isinstance(answer, Explanations)
        problem = f"explain returned a {type(answer).__name__}; expected Explanations"
        require(is_batch, trial.label, problem, "Wrap vectors in faithkit.Explanations.vectors, rules in .of")
        problem = f"explain returned {len(answer)} explanations for {n} rows; expected one per row"
        require(len(answer) == n, trial.label, problem, "Mark rows without an explanation in `missing`")


def check_explanations_can_be_compared(entry: Entry) -> None:
    """Check that identities are rows of an array or hashable values.

    Consistency compares explanations, so equality must be defined.
    """
    skip_unless_passes(check_one_explanation_per_row, entry)
    for trial in successful_trials(entry):
        try:
            group(trial.answer.identities, trial.answer.missing)
        except FaithkitError as error:
            require(
                False, trial.label, f"identities cannot be compared: {error}", "Set a hashable `identity`"
            )


def check_explanations_are_of_a_declared_kind(entry: Entry) -> None:
    """Check that the explanations are of one of the `kinds` that the component declares.

    Relations and discretizers are chosen by kind, before anything is explained.
    """
    skip_unless_passes(check_one_explanation_per_row, entry)
    kinds = entry.component.kinds
    for trial in successful_trials(entry):
        problem = f"the explanations are of kind {trial.answer.kind!r}, and the component declares {kinds}"
        require(not kinds or trial.answer.kind in kinds, trial.label, problem, "Make the two agree")


def check_numbers_are_finite(entry: Entry) -> None:
    """Check that vectors hold no infinite numbers; NaN stands for no number.

    Infinities are equal whatever caused them, and have no distance or mean.
    """
    skip_unless_passes(check_one_explanation_per_row, entry)
    for trial in _vector_trials(entry):
        infinite = np.argwhere(np.isinf(trial.answer.values) & ~trial.answer.missing[:, None])
        row, column = infinite[0] if len(infinite) else (0, 0)
        problem = f"the number in column {column} of the explanation of row {row} is infinite"
        remedy = "Do not divide by 0; use NaN where there is no number, or mark the row as missing"
        require(not len(infinite), trial.label, problem, remedy)


def check_every_column_has_a_name(entry: Entry) -> None:
    """Check that `shared["names"]`, if given, has one text for each column of the vectors.

    Reports, discretizers and comparisons find columns by these names.
    """
    skip_unless_passes(check_one_explanation_per_row, entry)
    for trial in _vector_trials(entry):
        names, width = trial.answer.shared.get("names"), trial.answer.values.shape[1]
        if names is None:
            continue
        problem = f"shared['names'] has {len(names)} names for {width} columns; expected one for each"
        require(len(names) == width, trial.label, problem, "Name every column, in order, or leave names out")
        is_text = all(isinstance(name, str) for name in names)
        problem = "shared['names'] are not all texts, or two are the same"
        require(
            is_text and len(set(names)) == width,
            trial.label,
            problem,
            "Call every column by a text of its own",
        )


def _vector_trials(entry: Entry) -> list[Trial]:
    return [trial for trial in successful_trials(entry) if trial.answer.kind == "vector"]


def check_the_named_discretizer_takes_them(entry: Entry) -> None:
    """Check that the discretizer named by the explanations is installed, and accepts their kind.

    It is the default, so without it nothing can be measured.
    """
    skip_unless_passes(check_explanations_are_of_a_declared_kind, entry)
    for trial in successful_trials(entry):
        try:
            discretizer = choose_discretizer(None, trial.answer)
        except FaithkitError as error:
            require(False, trial.label, str(error).rstrip("."), "Without one, explanations count as they are")
        kinds, kind = accepted_kinds(discretizer), trial.answer.kind
        problem = (
            f"the explanations name the discretizer {discretizer.text}, which takes {kinds}, and are {kind!r}"
        )
        require(not kinds or kind in kinds, trial.label, problem, "Name another one, or none")


def check_the_named_relation_takes_them(entry: Entry) -> None:
    """Check that the relation named by the explanations is installed, and accepts them.

    It is the default, so without it there is no sufficiency.
    """
    skip_unless_passes(check_explanations_are_of_a_declared_kind, entry)
    skip_unless_passes(check_instances_are_the_explained_rows, entry)
    for trial in successful_trials(entry):
        relation_name = trial.answer.relation
        if relation_name is None:
            continue
        try:
            _evaluate_relation(relation_name, deep_copy(trial.answer), trial)
        except FaithkitError as error:
            name = f"the explanations name the relation {relation_name}"
            problem = f"{name}, which rejects them: {error}"
            require(False, trial.label, problem, "Name another one, or none", error)


def _evaluate_relation(relation_name: str, answer: Explanations, trial: Trial) -> None:
    X = deep_copy(trial.situation.X)
    explanations = answer if answer.instances is not None else attrs.evolve(answer, instances=X)
    relation = fit_relation(
        resolve_installed_component("relation", relation_name).instance, deep_copy(trial.situation.background)
    )
    key_of(relation, explanations)
    holds_bits(relation, Sample(X, explanations), explanations)


def check_instances_are_the_explained_rows(entry: Entry) -> None:
    """Check that `instances`, if given, are the rows of X in their order.

    Relations such as in-ball read the explained instance together with its explanation.
    """
    skip_unless_passes(check_one_explanation_per_row, entry)
    for trial in successful_trials(entry):
        instances, X = trial.answer.instances, trial.situation.X
        is_same = instances is None or (
            type(instances) is type(X) and fingerprint(instances) == fingerprint(X)
        )
        problem = "the explanations' instances are not the rows that were explained"
        require(is_same, trial.label, problem, "Pass instances=X, as it was given, or leave it out")


def check_explanations_are_storable(entry: Entry) -> None:
    """Check that explanations are unchanged after saving and loading.

    An interrupted run resumes from the store, without the explainer and without pickle.
    """
    skip_unless_passes(check_explanations_can_be_compared, entry)
    remedy = "Hold arrays, frames, rules and JSON values: convert others with tolist(), sorted() or str()"
    for trial in successful_trials(entry):
        # the store leaves identities to discretizers
        explanations = attrs.evolve(trial.answer, identity=None)
        try:
            problem = describe_difference(explanations, save_and_load(explanations))
        except Exception as error:
            problem = describe(error)
        require(problem is None, trial.label, f"the store cannot keep the explanations: {problem}", remedy)
