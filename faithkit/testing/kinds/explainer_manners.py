"""What an explainer promises of its manners: to leave alone what is others', and to refuse the unusable."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest import SkipTest

from faithkit.extension.entries import Entry
from faithkit.inputs.models.predictor import Predictor
from faithkit.measure.protocols import said
from faithkit.testing.checks import demand, needs
from faithkit.testing.elsewhere import raised_elsewhere
from faithkit.testing.fixtures import narrower
from faithkit.testing.kinds.component_checks import make
from faithkit.testing.kinds.explainer_checks import check_fit_returns_self
from faithkit.testing.kinds.explainer_function import check_pickles
from faithkit.testing.sameness import same
from faithkit.testing.trials import Trial, backwards, own_predictor, trials
from faithkit.wording import describe, listing

_ROUNDING = 2.0**-26  # of scores, which libraries may add up in another order

_INSTEAD = {
    "stdout": "Say it on stderr, or call faithkit.plugin.rows_done and leave the words to faithkit",
    "warnings.filters": "Put it into `with warnings.catch_warnings():`",
    "numpy.seterr": "Put it into `with numpy.errstate(…):`",
}


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


def check_the_model_is_left_alone(entry: Entry) -> None:
    """Check that after `fit` and `explain` the model predicts and scores as before.

    It is the user's, and what is measured next is measured on it.
    """
    mend = "Work on a copy of predictor.model, such as copy.deepcopy makes"
    for trial in trials(entry):
        rows = trial.situation.background
        try:
            after = _predicted(trial.predictor, rows)
        except Exception as error:
            found = f"fit or explain broke the model, which now fails: {describe(error)}"
            demand(False, trial.who, found, mend, error)
        is_same = same(after, _predicted(own_predictor(trial.situation), rows), _ROUNDING)
        found = "fit or explain changed the model, which now predicts or scores otherwise"
        demand(is_same, trial.who, found, mend)


def _predicted(predictor: Predictor, rows: Any) -> list[Any]:
    scores = [predictor.scores(rows)] if predictor.has_scores else []
    return [predictor.predict(rows), predictor.classes, *scores]


def check_global_random_state_is_untouched(entry: Entry) -> None:
    """Check that `fit` and `explain` leave the global generators of `random` and NumPy as they were.

    Whoever uses them changes the results of all other code that does.
    """
    for trial in trials(entry):
        touched = " and ".join(name for name in trial.touched if name not in _INSTEAD)
        found = f"fit or explain used the global generator of {touched}"
        mend = "Use numpy.random.default_rng(seeds[i]) for row i"
        demand(not touched, trial.who, found, mend)


def check_global_settings_are_untouched(entry: Entry) -> None:
    """Check that `fit` and `explain` print nothing to stdout, and leave warnings and `np.seterr` alone.

    stdout is for results, which other programs read; what is silenced here is silenced for everybody.
    """
    for trial in trials(entry):
        other = backwards(trial)  # a library that is imported may do all this, once
        touched = [name for name in _INSTEAD if isinstance(other, Trial) and name in other.touched]
        found = f"fit or explain used or changed {listing(touched) if touched else ''} of the whole process"
        demand(not touched, trial.who, found, ". ".join(_INSTEAD[name] for name in touched))


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
    fitted = explainer.fit(own_predictor(given), narrower(given.background))
    return fitted.explain(given.X, trial.situation_seeds)


def _demand_refusals(found: list[Trial], what: str, attempts: Sequence[Callable[[], Any]]) -> None:
    mend = "Use faithkit.plugin.Encoder(background), which checks both, or compare the shapes"
    for trial, done in zip(found, raised_elsewhere(attempts), strict=True):
        demand(done is None, trial.who, f"{what}, and {done}; expected a FaithkitError", mend)
