"""Checks of diagnostics: they return a reproducible report for programs and people."""

import json
from copy import deepcopy
from functools import cache
from typing import Any
from unittest import SkipTest

import numpy as np
from attrs import frozen

from faithkit import Evaluation, Explanations, Predictor, evaluate, score
from faithkit.errors import FaithkitError
from faithkit.plugin import Report, Sheet
from faithkit_conformance.checks import BrokenPromiseError, for_each, forbid, require, skip_unless_passes
from faithkit_conformance.equality import are_equal, first_changed_column
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate
from faithkit_conformance.wording import describe

_TOLERANCE = 1e-9


@frozen(eq=False)
class DiagnosticTrial:
    """A diagnostic, a copy of one of the kit's results as the diagnostic left it, and its report about it."""

    candidate: Candidate
    name: str
    result: Evaluation
    report: Any

    def require_same(self, result: Evaluation, problem: str, remedy: str) -> None:
        """Require that a new instance reports the same about a result."""
        report = create(self.candidate).diagnose(deepcopy(result))
        require(are_equal(self.report.to_dict(), report.to_dict(), _TOLERANCE), problem, remedy)


@frozen(repr=False)
class _Shown(Report):
    """A report that shows the sheet of another one."""

    shown: Sheet

    def line(self) -> str:
        return ""

    def sheet(self) -> Sheet:
        return self.shown


def _diagnose(candidate: Candidate, name: str) -> DiagnosticTrial | FaithkitError:
    """Return the report about a result, or the error that refuses it."""
    diagnostic, result = create(candidate), deepcopy(example_results()[name])
    try:
        return DiagnosticTrial(candidate, name, result, diagnostic.diagnose(result))
    except FaithkitError as error:
        return error
    except Exception as error:
        remedy = "Answer, or raise a FaithkitError that says what the diagnostic needs"
        raise BrokenPromiseError(describe(error), remedy, place=f" on {name}") from error


def check_answers_something(candidate: Candidate) -> None:
    """Check that at least one of the kit's results is diagnosed, and that others raise a `FaithkitError`.

    A diagnostic may need a model, or labels. Then the error has to say so.
    """
    outcomes = {name: _diagnose(candidate, name) for name in example_results()}
    refusals = [f"{name}: {error}" for name, error in outcomes.items() if isinstance(error, FaithkitError)]
    problem = f"it answers nothing about any result. {' '.join(refusals)}"
    require(len(refusals) < len(outcomes), problem, "Answer about at least one of them")


def _diagnostic_trials(candidate: Candidate) -> list[DiagnosticTrial]:
    skip_unless_passes(check_answers_something, candidate)
    outcomes = [_diagnose(candidate, name) for name in example_results()]
    return [outcome for outcome in outcomes if isinstance(outcome, DiagnosticTrial)]


@for_each(_diagnostic_trials)
def check_report_has_values_and_a_sheet(trial: DiagnosticTrial) -> None:
    """Check that the report has JSON values, and a sheet for people.

    The command line prints the sheet, and writes both to files.
    """
    remedy = "Return a faithkit.plugin.Report with to_dict and sheet"
    report: Any = trial.report
    values, sheet = (getattr(report, method, lambda: None)() for method in ("to_dict", "sheet"))
    require(isinstance(values, dict), "the report has no to_dict", remedy)
    require(isinstance(sheet, Sheet), "the report has no sheet", remedy)
    assert isinstance(sheet, Sheet)
    with forbid(Exception, "to_dict is no JSON", "Use numbers, texts and None"):
        json.dumps(values, allow_nan=False)
    with forbid(Exception, "the sheet cannot be shown", "Give Sheet.of texts, tables and sheets"):
        str(_Shown(sheet))


@for_each(_diagnostic_trials, check_report_has_values_and_a_sheet)
def check_asking_again_gives_the_same(trial: DiagnosticTrial) -> None:
    """Check that the same result gets the same report twice.

    Otherwise the same question has two answers.
    """
    remedy = "Draw random numbers from the result's seed only"
    trial.require_same(example_results()[trial.name], "two answers about one result differ", remedy)


@for_each(_diagnostic_trials, check_asking_again_gives_the_same)
def check_order_of_rows_is_irrelevant(trial: DiagnosticTrial) -> None:
    """Check that the same rows in the opposite order get the same report.

    The order of rows has no meaning.
    """
    reversed_result = example_results(is_reversed=True)[trial.name]
    remedy = "Let seeds belong to rows: faithkit.plugin.row_seeds"
    trial.require_same(reversed_result, "rows in the opposite order got another answer", remedy)


@for_each(_diagnostic_trials)
def check_rows_are_left_alone(trial: DiagnosticTrial) -> None:
    """Check that `diagnose` does not change the rows of the result.

    The result is measured and diagnosed again afterwards.
    """
    rows, expected = trial.result.rows, example_results()[trial.name].rows
    column = first_changed_column(expected.explanations, rows.explanations)
    require(column is None, f"diagnose changed the explanations' {column} in place", "Work on a copy")
    is_same = are_equal((expected.codes, expected.X), (rows.codes, rows.X))
    require(is_same, "diagnose changed codes or X in place", "Work on a copy")


def check_says_whether_it_applies(candidate: Candidate) -> None:
    """Check that `applies`, if there is one, returns True or False for every result.

    It is called before a diagnostic runs that the user did not name.
    """
    applies = getattr(create(candidate), "applies", None)
    if applies is None:
        raise SkipTest("It applies to every result.")
    for name, result in example_results().items():
        answer = applies(result)
        is_boolean = isinstance(answer, bool | np.bool_)
        require(is_boolean, f"applies gave {answer!r:.60} for {name}", "Return True or False")


@cache
def example_results(is_reversed: bool = False) -> dict[str, Evaluation]:
    """Return results to diagnose: of logs of labels and of numbers, and of a model with additive values."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    background = rng.normal(size=(40, 4))
    model = LogisticRegression().fit(background, background[:, 0] - background[:, 1] > 0)
    X = X[::-1].copy() if is_reversed else X
    values = model.coef_[0] * (X - background.mean(axis=0))

    def explain(rows: Any) -> Explanations:
        return Explanations.vectors(model.coef_[0] * (rows - background.mean(axis=0)))

    return {
        "a_log_of_labels": score(model.predict(X), values),
        "a_log_of_numbers": score(values.sum(axis=1), values),
        "a_model": evaluate(Predictor(model), X, explain, background=background, progress=False),
    }
