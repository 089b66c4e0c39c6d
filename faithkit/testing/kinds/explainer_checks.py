"""What an explainer promises of its answer: what it explains, and in which form.

Every check looks at all situations that the explainer accepts. It may refuse a situation with a
`FaithkitError`, but not all of them. Where one fault would break several promises only the first check fails.
"""

from unittest import SkipTest

import attrs
import numpy as np

from faithkit.arrays.containers import n_rows
from faithkit.arrays.grouping import group
from faithkit.errors import FaithkitError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import fitted, holds_bits, key_of
from faithkit.extension.component import ARRAYS
from faithkit.extension.entries import Entry
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.predictions.outcome import KINDS, NUMBERS
from faithkit.inputs.rows import input_kind
from faithkit.inputs.seeds import fingerprint
from faithkit.measure.protocols import said
from faithkit.run.components.discretization import accepted_kinds, discretizer_for
from faithkit.run.components.resolution import installed_component
from faithkit.run.explaining.job import declared_rows
from faithkit.testing.checks import Check, bind, demand, needs
from faithkit.testing.fixtures import fresh, situation_named, situation_names
from faithkit.testing.kinds.component_checks import make
from faithkit.testing.sameness import difference, stored
from faithkit.testing.trials import Trial, outcome, trials
from faithkit.wording import describe, listing


def explains(entry: Entry, situation: str) -> None:
    """Check that a situation is explained, or refused with a `FaithkitError` that says why.

    Users meet all kinds of data; what an explainer cannot do it has to say in a sentence, not in a traceback.
    """
    found = outcome(entry, situation)
    if isinstance(found, FaithkitError):
        raise SkipTest(f"{entry.component.name} refuses it: {found}")
    demand(
        isinstance(found, Trial),
        f"{entry.component.name} on {situation}",
        describe(found) if isinstance(found, BaseException) else "",
        "Explain it, or raise a FaithkitError that says what the explainer needs instead"
        + _or_declare(situation),
    )


def _or_declare(situation: str) -> str:
    kind = input_kind(situation_named(situation).X)
    words = listing(map(repr, ARRAYS if kind == "array" else (kind,)))
    return "" if kind == "table" else f"; if it takes none of the kind, leave {words} out of its `inputs`"


def situation_checks(entry: Entry) -> list[Check]:
    """Make one check for each situation: ``explains_mixed_frame``."""
    name = entry.component.name
    return [
        bind(explains, "explainer", name, entry, situation, name=f"explains_{situation}")
        for situation in situation_names(entry.component.inputs)
    ]


def check_explains_something(entry: Entry) -> None:
    """Check that at least one situation of the declared `inputs` is explained.

    Otherwise nothing below was checked at all.
    """
    names = situation_names(entry.component.inputs)
    found = {name: outcome(entry, name) for name in names}
    reasons = "; ".join(f"{name}: {describe(o)}" for name, o in found.items() if isinstance(o, Exception))
    works = any(isinstance(found[name], Trial) for name in names)
    mend = "Explain at least one of them, or correct the `inputs` of its Component"
    demand(works, entry.component.name, f"it explains none of the situations. {reasons}", mend)


def check_declared_predictions_are_explained(entry: Entry) -> None:
    """Check that `outcomes`, where it has them, are known words, and that it explains numbers if it says so.

    A model that predicts numbers is refused before an explainer that does not say that it explains them.
    """
    who, told = entry.component.name, said(make(entry), "outcomes")
    found = f"outcomes are {told!r}; expected a tuple of {listing(map(repr, KINDS), 'or')}"
    demand(
        isinstance(told, tuple) and {*told} <= {*KINDS}, who, found, 'Say ("labels", "numbers"), or nothing'
    )
    names = [name for name in situation_names(entry.component.inputs) if _is_of_numbers(name)]
    if NUMBERS not in told or not names:
        raise SkipTest("It explains labels." if names else "No situation is of numbers.")
    tried = {name: outcome(entry, name) for name in names}
    reasons = "; ".join(f"{name}: {describe(o)}" for name, o in tried.items() if isinstance(o, Exception))
    found = f"it says that it explains numbers, and explains none of the situations of numbers. {reasons}"
    works = any(isinstance(one, Trial) for one in tried.values())
    demand(works, who, found, 'Explain at least one of them, or leave "numbers" out of its `outcomes`')


def _is_of_numbers(situation: str) -> bool:
    return Predictor(situation_named(situation).model).is_regressor


def check_declared_chunks_are_possible(entry: Entry) -> None:
    """Check that `rows_per_chunk`, where it says so, is a whole number of at least 1, and `learns` a Boolean.

    The kernel cuts samples by the one, and warns by the other.
    """
    trial, who = trials(entry)[0], entry.component.name
    rows, learns = declared_rows(trial.made, trial.predictor), said(trial.made, "learns")
    is_number = isinstance(rows, int | np.integer) and not isinstance(rows, bool) and bool(rows >= 1)
    found = f"rows_per_chunk is {rows!r}; expected a whole number of at least 1"
    demand(is_number, who, found, "Say how many rows to explain at a time, or nothing: 32 are usual")
    found = f"learns is {learns!r}; expected True or False"
    demand(
        isinstance(learns, bool | np.bool_), who, found, "Say False if fit reads nothing of the background"
    )


def check_fit_returns_self(entry: Entry) -> None:
    """Check that `fit` returns the explainer.

    The kernel goes on with what `fit` returns.
    """
    for trial in trials(entry):
        returned = trial.fit_returned
        found = f"fit returned a {type(returned).__name__} instead of the explainer"
        demand(returned is trial.made, trial.who, found, "End fit with `return self`")


def check_one_explanation_per_row(entry: Entry) -> None:
    """Check that `explain` returns `Explanations`, one for each row.

    Explanations and predictions are matched by position: one row less, and every count is wrong.
    """
    for trial in trials(entry):
        answer, n = trial.answer, n_rows(trial.situation.X)
        is_batch = isinstance(answer, Explanations)
        found = f"explain returned a {type(answer).__name__}; expected Explanations"
        demand(is_batch, trial.who, found, "Wrap vectors in faithkit.Explanations.vectors, rules in .of")
        found = f"explain returned {len(answer)} explanations for {n} rows; expected one per row"
        demand(len(answer) == n, trial.who, found, "Mark rows without an explanation in `missing`")


def check_explanations_can_be_compared(entry: Entry) -> None:
    """Check that identities are rows of an array or hashable values.

    Consistency is about equal explanations, so equality has to be defined.
    """
    needs(check_one_explanation_per_row, entry)
    for trial in trials(entry):
        try:
            group(trial.answer.identities, trial.answer.missing)
        except FaithkitError as error:
            demand(False, trial.who, f"identities cannot be compared: {error}", "Set a hashable `identity`")


def check_explanations_are_of_a_declared_kind(entry: Entry) -> None:
    """Check that the explanations are of one of the `kinds` that the component declares.

    Relations and discretizers are chosen by kind, before anything is explained.
    """
    needs(check_one_explanation_per_row, entry)
    kinds = entry.component.kinds
    for trial in trials(entry):
        found = f"the explanations are of kind {trial.answer.kind!r}, and the component declares {kinds}"
        demand(not kinds or trial.answer.kind in kinds, trial.who, found, "Make the two agree")


def check_numbers_are_finite(entry: Entry) -> None:
    """Check that vectors hold no infinite numbers; NaN says that there is none.

    Two infinities are equal whatever led to them, and no distance or mean can be had of them.
    """
    needs(check_one_explanation_per_row, entry)
    for trial in _of_vectors(entry):
        infinite = np.argwhere(np.isinf(trial.answer.values) & ~trial.answer.missing[:, None])
        row, column = infinite[0] if len(infinite) else (0, 0)
        found = f"the number in column {column} of the explanation of row {row} is infinite"
        mend = (
            "Divide by nothing that can be 0; where there is no number, say NaN, or mark the row as missing"
        )
        demand(not len(infinite), trial.who, found, mend)


def check_every_column_has_a_name(entry: Entry) -> None:
    """Check that `shared["names"]`, where given, has one text for each column of the vectors.

    Reports, discretizers and other batches find columns by these names.
    """
    needs(check_one_explanation_per_row, entry)
    for trial in _of_vectors(entry):
        names, width = trial.answer.shared.get("names"), trial.answer.values.shape[1]
        if names is None:
            continue
        found = f"shared['names'] has {len(names)} names for {width} columns; expected one for each"
        demand(len(names) == width, trial.who, found, "Name every column, in order, or leave names out")
        is_text = all(isinstance(name, str) for name in names)
        found = "shared['names'] are not all texts, or two are the same"
        demand(
            is_text and len(set(names)) == width, trial.who, found, "Call every column by a text of its own"
        )


def _of_vectors(entry: Entry) -> list[Trial]:
    return [trial for trial in trials(entry) if trial.answer.kind == "vector"]


def check_the_named_discretizer_takes_them(entry: Entry) -> None:
    """Check that the discretizer that the explanations name is installed, and takes their kind.

    It is used where nobody names another, so without it nothing can be measured.
    """
    needs(check_explanations_are_of_a_declared_kind, entry)
    for trial in trials(entry):
        try:
            named = discretizer_for(None, trial.answer)
        except FaithkitError as error:
            demand(False, trial.who, str(error).rstrip("."), "Without one, explanations count as they are")
        kinds, kind = accepted_kinds(named), trial.answer.kind
        found = f"the explanations name the discretizer {named.text}, which takes {kinds}, and are {kind!r}"
        demand(not kinds or kind in kinds, trial.who, found, "Name another one, or none")


def check_the_named_relation_takes_them(entry: Entry) -> None:
    """Check that the relation that the explanations name is installed, and can be asked about them.

    It is used where nobody names another, so without it there is no sufficiency.
    """
    needs(check_explanations_are_of_a_declared_kind, entry)
    needs(check_instances_are_the_explained_rows, entry)
    for trial in trials(entry):
        named = trial.answer.relation
        if named is None:
            continue
        try:
            _relate(named, fresh(trial.answer), trial)
        except FaithkitError as error:
            found = f"the explanations name the relation {named}, which cannot be asked about them: {error}"
            demand(False, trial.who, found, "Name another one, or none", error)


def _relate(named: str, answer: Explanations, trial: Trial) -> None:
    X = fresh(trial.situation.X)
    given = answer if answer.instances is not None else attrs.evolve(answer, instances=X)
    relation = fitted(installed_component("relation", named).instance, fresh(trial.situation.background))
    key_of(relation, given)
    holds_bits(relation, Sample(X, given), given)


def check_instances_are_the_explained_rows(entry: Entry) -> None:
    """Check that `instances`, where given, are the rows of X in their order.

    Relations such as in-ball read the explained instance beside its explanation.
    """
    needs(check_one_explanation_per_row, entry)
    for trial in trials(entry):
        given, X = trial.answer.instances, trial.situation.X
        is_same = given is None or (type(given) is type(X) and fingerprint(given) == fingerprint(X))
        found = "the explanations' instances are not the rows that were explained"
        demand(is_same, trial.who, found, "Pass instances=X, as it was given, or leave it out")


def check_explanations_are_storable(entry: Entry) -> None:
    """Check that explanations come back from the store as they were.

    A killed run goes on from there, without the explainer and without pickle.
    """
    needs(check_explanations_can_be_compared, entry)
    mend = "Hold arrays, frames, rules and JSON values: convert others with tolist(), sorted() or str()"
    for trial in trials(entry):
        given = attrs.evolve(trial.answer, identity=None)  # the store leaves identities to discretizers
        try:
            unlike = difference(given, stored(given))
        except Exception as error:
            unlike = describe(error)
        demand(unlike is None, trial.who, f"the store cannot keep the explanations: {unlike}", mend)
