"""What a diagnostic promises: a report that programs and people can read, the same whenever it is asked."""

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
from faithkit.measure.protocols import said
from faithkit.report.sheets import Sheet
from faithkit.run.api import evaluate, score
from faithkit.run.evaluation import Evaluation
from faithkit.testing.checks import demand, needs
from faithkit.testing.kinds.component_checks import make
from faithkit.wording import describe

_NEAR = 1e-9


def check_answers_something(entry: Entry) -> None:
    """Check that at least one of the kit's results is diagnosed, and that others are refused in words.

    A diagnostic may need a model, or labels; then a FaithkitError says so.
    """
    refusals = {}
    for name, result in results().items():
        try:
            make(entry).diagnose(result)
        except FaithkitError as error:
            refusals[name] = str(error)
        except Exception as error:
            mend = "Answer, or raise a FaithkitError that says what the diagnostic needs"
            demand(False, _who(entry, name), describe(error), mend, error)
    reasons = " ".join(f"{name}: {reason}" for name, reason in refusals.items())
    problem = f"it answers nothing about any result. {reasons}"
    demand(len(refusals) < len(results()), entry.component.name, problem, "Answer about at least one of them")


def check_report_has_values_and_a_sheet(entry: Entry) -> None:
    """Check that the report has JSON values, and a sheet for people.

    The command line prints the sheet, and writes both.
    """
    mend = "Return a faithkit.plugin.Report with to_dict and sheet"
    for name, report in _reports(entry):
        values, sheet = (getattr(report, method, lambda: None)() for method in ("to_dict", "sheet"))
        demand(isinstance(values, dict), _who(entry, name), "the report has no to_dict", mend)
        demand(isinstance(sheet, Sheet), _who(entry, name), "the report has no sheet", mend)
        try:
            json.dumps(values, allow_nan=False)
        except (TypeError, ValueError) as error:
            demand(False, _who(entry, name), f"to_dict is no JSON: {error}", "Use numbers, texts and None")


def check_asking_again_gives_the_same(entry: Entry) -> None:
    """Check that the same result gets the same answer when asked twice.

    Otherwise the same question has two answers.
    """
    needs(check_report_has_values_and_a_sheet, entry)
    for name, report in _reports(entry):
        again = make(entry).diagnose(results()[name])
        is_same = _are_near(report.to_dict(), again.to_dict())
        mend = "Draw random numbers from the result's seed only"
        demand(is_same, _who(entry, name), "two answers about one result differ", mend)


def check_order_of_rows_is_irrelevant(entry: Entry) -> None:
    """Check that the same rows in the opposite order get the same answer.

    The order of rows means nothing.
    """
    needs(check_asking_again_gives_the_same, entry)
    for name, report in _reports(entry):
        turned = make(entry).diagnose(results(backwards=True)[name])
        is_same = _are_near(report.to_dict(), turned.to_dict())
        problem = "rows in the opposite order got another answer"
        demand(is_same, _who(entry, name), problem, "Let seeds belong to rows: faithkit.plugin.row_seeds")


def check_says_whether_it_is_automatic(entry: Entry) -> None:
    """Check that `is_automatic`, where there is one, gives True or False for every result.

    Commands ask it before they run a diagnostic that nobody has named.
    """
    runs = said(make(entry), "is_automatic")
    if runs is None:
        raise SkipTest("It runs only where it is named.")
    for name, result in results().items():
        answer = runs(result)
        problem = f"is_automatic gave {answer!r:.60}"
        demand(isinstance(answer, bool | np.bool_), _who(entry, name), problem, "Return True or False")


def _reports(entry: Entry) -> Iterator[tuple[str, Any]]:
    needs(check_answers_something, entry)
    for name, result in results().items():
        try:
            yield name, make(entry).diagnose(result)
        except FaithkitError:
            continue


@cache
def results(backwards: bool = False) -> dict[str, Evaluation]:
    """Return results to ask about: of logs of labels and of numbers, and of a model with additive values."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    background = rng.normal(size=(40, 4))
    model = LogisticRegression().fit(background, background[:, 0] - background[:, 1] > 0)
    X = X[::-1].copy() if backwards else X
    values = model.coef_[0] * (X - background.mean(axis=0))

    def explain(rows: Any) -> Explanations:
        return Explanations.vectors(model.coef_[0] * (rows - background.mean(axis=0)))

    return {
        "a_log_of_labels": score(model.predict(X), values),
        "a_log_of_numbers": score(values.sum(axis=1), values),
        "a_model": evaluate(Predictor(model), X, explain, background=background, progress=False),
    }


def _are_near(first: Any, second: Any) -> bool:
    """Whether JSON values are the same but for rounding."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_are_near(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_are_near, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=_NEAR, abs_tol=_NEAR)
    return bool(first == second)


def _who(entry: Entry, name: str) -> str:
    return f"{entry.component.name} on {name}"
