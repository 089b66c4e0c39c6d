"""Checks of executors: wherever rows are explained, the results are those of this process."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit import Evaluation, Explanations, evaluate
from faithkit.errors import ExplainerError
from faithkit_conformance.checks import forbid, require, skip_unless_passes
from faithkit_conformance.equality import describe_difference
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate

_ROWS = np.arange(20.0).reshape(-1, 1)
_FAILING = 11


class _Signs:
    """Explain by the sign of a value less ten, in five chunks; it fails on one row."""

    rows_per_chunk, learns = 4, False

    def fit(self, predictor: Any, background: Any) -> "_Signs":
        return self

    def explain(self, X: Any, seeds: NDArray[np.uint32]) -> Explanations:
        if (X == _FAILING).any():
            raise ValueError("the kit's failing row")
        return Explanations.vectors(np.sign(X - 10), instances=X)


def _is_large(X: Any) -> Any:
    return X[:, 0] > 8


def check_results_are_those_of_this_process(candidate: Candidate) -> None:
    """Check that every row gets the explanation that this process gives, and a failing row its reason.

    An executor decides where rows are explained, and never what is measured.
    """
    result, expected = _evaluate(create(candidate)), _evaluate("here")
    change = describe_difference(expected.rows.explanations, result.rows.explanations)
    require(change is None, f"{change}", "Yield each chunk with faithkit.plugin.explain_chunk(job, chunk)")
    reasons = [list(outcome.rows.explanations.remarked) for outcome in (expected, result)]
    problem = f"row {_FAILING} has the reason {reasons[1][_FAILING]!r} instead of {reasons[0][_FAILING]!r}"
    remedy = "Pass results on as faithkit.plugin.explain_chunk returns them"
    require(reasons[0] == reasons[1], problem, remedy)


def check_a_failing_row_ends_a_run_that_raises(candidate: Candidate) -> None:
    """Check that the error of a failing row is raised, if the user does not record failures.

    Otherwise a run would go on for hours after its first failure, or hide it.
    """
    skip_unless_passes(check_results_are_those_of_this_process, candidate)
    executor, is_raised = create(candidate), False
    try:
        _evaluate_all(executor, "raise")
    except ExplainerError as error:
        is_raised = f"row {_FAILING}" in str(error)
    problem = f"the error of row {_FAILING} was not raised"
    require(is_raised, problem, "Let exceptions of faithkit.plugin.explain_chunk pass")


def _evaluate(executor: Any) -> Evaluation:
    """Measure the kit's rows, one of which fails."""
    problem = "it does not explain the kit's rows"
    with forbid(Exception, problem, "Yield each chunk once with its result, in any order"):
        return _evaluate_all(executor, "record")


def _evaluate_all(executor: Any, on_error: str) -> Evaluation:
    explainer = _Signs()
    return evaluate(_is_large, _ROWS, explainer, executor=executor, on_error=on_error, progress=False)
