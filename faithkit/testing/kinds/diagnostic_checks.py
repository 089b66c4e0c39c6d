"""Checks of diagnostics: they return a reproducible report for programs and people."""

import json
import math
from collections.abc import Iterator
from functools import cache
from typing import Any
from unittest import SkipTest

import numpy as np

from faithkit.errors import FaithkitError
from faithkit.explanations.explanations import Explanations
from faithkit.extension.entries import Entry
from faithkit.inputs.models.predictor import Predictor
from faithkit.measure.protocols import get_optional_attribute
from faithkit.report.sheets.sheet import Sheet
from faithkit.run.api import evaluate, score
from faithkit.run.evaluation import Evaluation
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.kinds.component_checks import create
from faithkit.wording import describe

_TOLERANCE = 1e-9


def check_answers_something(entry: Entry) -> None:
    """Check that at least one of the kit's results is diagnosed, and that others raise a `FaithkitError`.

    A diagnostic may need a model, or labels. Then the error has to say so.
    """
    refusals = {}
    for name, result in example_results().items():
        try:
            create(entry).diagnose(result)
        except FaithkitError as error:
            refusals[name] = str(error)
        except Exception as error:
            remedy = "Answer, or raise a FaithkitError that says what the diagnostic needs"
            require(False, _subject(entry, name), describe(error), remedy, error)
    reasons = " ".join(f"{name}: {reason}" for name, reason in refusals.items())
    problem = f"it answers nothing about any result. {reasons}"
    require(
        len(refusals) < len(example_results()),
        entry.component.name,
        problem,
        "Answer about at least one of them",
    )


def check_report_has_values_and_a_sheet(entry: Entry) -> None:
    """Check that the report has JSON values, and a sheet for people.

    The command line prints the sheet, and writes both to files.
    """
    remedy = "Return a faithkit.plugin.Report with to_dict and sheet"
    for name, report in _reports(entry):
        values, sheet = (getattr(report, method, lambda: None)() for method in ("to_dict", "sheet"))
        require(isinstance(values, dict), _subject(entry, name), "the report has no to_dict", remedy)
        require(isinstance(sheet, Sheet), _subject(entry, name), "the report has no sheet", remedy)
        try:
            json.dumps(values, allow_nan=False)
        except (TypeError, ValueError) as error:
            require(
                False, _subject(entry, name), f"to_dict is no JSON: {error}", "Use numbers, texts and None"
            )


def check_asking_again_gives_the_same(entry: Entry) -> None:
    """Check that the same result gets the same report twice.

    Otherwise the same question has two answers.
    """
    skip_unless_passes(check_report_has_values_and_a_sheet, entry)
    for name, report in _reports(entry):
        second = create(entry).diagnose(example_results()[name])
        is_same = _are_nearly_equal(report.to_dict(), second.to_dict())
        remedy = "Draw random numbers from the result's seed only"
        require(is_same, _subject(entry, name), "two answers about one result differ", remedy)


def check_order_of_rows_is_irrelevant(entry: Entry) -> None:
    """Check that the same rows in the opposite order get the same report.

    The order of rows has no meaning.
    """
    skip_unless_passes(check_asking_again_gives_the_same, entry)
    for name, report in _reports(entry):
        reversed_report = create(entry).diagnose(example_results(is_reversed=True)[name])
        is_same = _are_nearly_equal(report.to_dict(), reversed_report.to_dict())
        problem = "rows in the opposite order got another answer"
        require(
            is_same, _subject(entry, name), problem, "Let seeds belong to rows: faithkit.plugin.row_seeds"
        )


def check_says_whether_it_is_automatic(entry: Entry) -> None:
    """Check that `is_automatic`, if there is one, returns True or False for every result.

    Commands call it before they run a diagnostic that the user did not name.
    """
    is_automatic = get_optional_attribute(create(entry), "is_automatic")
    if is_automatic is None:
        raise SkipTest("It runs only where it is named.")
    for name, result in example_results().items():
        answer = is_automatic(result)
        problem = f"is_automatic gave {answer!r:.60}"
        require(isinstance(answer, bool | np.bool_), _subject(entry, name), problem, "Return True or False")


def _reports(entry: Entry) -> Iterator[tuple[str, Any]]:
    skip_unless_passes(check_answers_something, entry)
    for name, result in example_results().items():
        try:
            yield name, create(entry).diagnose(result)
        except FaithkitError:
            continue


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


def _are_nearly_equal(first: Any, second: Any) -> bool:
    """Return whether JSON values are equal up to rounding."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            _are_nearly_equal(first[key], second[key]) for key in first
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_are_nearly_equal, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return bool(first == second)


def _subject(entry: Entry, name: str) -> str:
    return f"{entry.component.name} on {name}"
