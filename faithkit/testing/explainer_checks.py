"""What an explainer promises: that its explanation is a function of the row, its seed and what was fitted.

Every check looks at all situations that the explainer accepts. It may refuse a situation with a
`FaithkitError`, but not all of them. Where one fault would break several promises only the first check fails.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest import SkipTest

import attrs
import cloudpickle

from faithkit.errors import FaithkitError
from faithkit.extension.entries import Entry
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.predictions.outcome import KINDS, NUMBERS
from faithkit.inputs.rows import input_kind
from faithkit.inputs.seeds import fingerprint
from faithkit.measure.containers import n_rows
from faithkit.measure.explanations import Explanations
from faithkit.measure.grouping import group
from faithkit.measure.protocols import said
from faithkit.run.discretizing import accepted_kinds, discretizer_for
from faithkit.testing.checks import Check, bind, demand, needs
from faithkit.testing.component_checks import make
from faithkit.testing.elsewhere import elsewhere, raised_elsewhere
from faithkit.testing.fixtures import TWINS, narrower, situation_named, situation_names
from faithkit.testing.sameness import difference, same, stored
from faithkit.testing.trials import Trial, again, one_by_one, outcome, refitted, reversed_rows, trials
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
    return "" if kind == "table" else f"; if it takes none of the kind, leave {kind!r} out of its `inputs`"


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


def check_explain_leaves_its_input_alone(entry: Entry) -> None:
    """Check that `explain` changes neither X nor seeds.

    The same rows are predicted, explained and related, in this order or another.
    """
    for trial in trials(entry):
        mend = "Work on a copy"
        demand(same(trial.X, trial.situation.X), trial.who, "explain changed X in place", mend)
        demand(same(trial.seeds, trial.situation_seeds), trial.who, "explain changed seeds in place", mend)


def check_fit_leaves_the_background_alone(entry: Entry) -> None:
    """Check that `fit` does not change the background.

    It is the user's own data, and other components are fitted on it, too.
    """
    for trial in trials(entry):
        is_same = same(trial.background, trial.situation.background)
        demand(is_same, trial.who, "fit changed the background in place", "Work on a copy")


def check_global_random_state_is_untouched(entry: Entry) -> None:
    """Check that `fit` and `explain` leave the global generators of `random` and NumPy as they were.

    Whoever uses them changes the results of all other code that does.
    """
    for trial in trials(entry):
        touched = " and ".join(trial.touched_generators)
        found = f"fit or explain used the global generator of {touched}"
        mend = "Use numpy.random.default_rng(seeds[i]) for row i"
        demand(not touched, trial.who, found, mend)


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
        mend = "Use a fixed seed in fit, or one made from the background by faithkit.row_seeds"
        _demand_same(trial, refitted(trial), "a second one was fitted on the same background", mend)


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


def check_row_order_is_irrelevant(entry: Entry) -> None:
    """Check that rows explained in the opposite order get the same explanations.

    Results must not depend on how a file happens to be sorted.
    """
    needs(check_equal_rows_get_equal_explanations, entry)
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


def check_background_of_another_width_is_refused(entry: Entry) -> None:
    """Check that a background with too few columns gives a `FaithkitError`, in `fit` or in `explain`.

    The wrong file was given; a number all the same, or a traceback, would hide that.
    """
    needs(check_fit_returns_self, entry)
    needs(check_pickles, entry)
    found = [trial for trial in _with_columns(entry) if said(trial.explainer, "learns")]
    attempts = [partial(_explain_from_narrow, make(entry), trial) for trial in found]
    _demand_refusals(found, "the background has one column instead of four", attempts)


def check_rows_of_another_width_are_refused(entry: Entry) -> None:
    """Check that rows with too few columns give a `FaithkitError`.

    The wrong file was given; a number all the same, or a traceback, would hide that.
    """
    needs(check_pickles, entry)
    found = _with_columns(entry)
    attempts = [partial(t.explainer.explain, narrower(t.situation.X), t.situation_seeds) for t in found]
    _demand_refusals(found, "X has one column instead of four", attempts)


def _with_columns(entry: Entry) -> list[Trial]:
    found = [trial for trial in trials(entry) if narrower(trial.situation.X) is not None]
    if not found:
        raise SkipTest("Texts have no columns.")
    return found


def _explain_from_narrow(explainer: Any, trial: Trial) -> Any:
    given = trial.situation
    fitted = explainer.fit(trial.predictor, narrower(given.background))
    return fitted.explain(given.X, trial.situation_seeds)


def _demand_refusals(found: list[Trial], what: str, attempts: Sequence[Callable[[], Any]]) -> None:
    mend = "Use faithkit.Encoder(background), which checks both, or compare the shapes"
    for trial, done in zip(found, raised_elsewhere(attempts), strict=True):
        demand(done is None, trial.who, f"{what}, and {done}; expected a FaithkitError", mend)


def _demand_same(trial: Trial, answer: Explanations, what: str, mend: str) -> None:
    unlike = difference(trial.answer, answer, trial.is_single)
    demand(unlike is None, trial.who, f"{what}, and {unlike}", mend)
