"""Where MLflow is not installed, logging says how to get it; its numbers can be had without it."""

import sys

import pytest
from faithkit_integrations.mlflow import log_result, metrics
from looping import one_test

import faithkit

RESULT = faithkit.score(["yes", "no", "yes"], ["a", "b", "c"])


def test_logging_without_mlflow_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(faithkit.errors.PluginError, match=r"pip install mlflow-skinny"):
        log_result(RESULT)


@one_test
@pytest.mark.parametrize("given", [None, RESULT.consistency, "result.json"])
def test_what_is_no_result_is_refused(given):
    with pytest.raises(faithkit.errors.InputError, match=f"got a {type(given).__name__}: log the results"):
        log_result(given)


@one_test
@pytest.mark.parametrize(
    ("labels", "reasons", "expected"),
    [
        (["yes", "no", "yes"], ["a", "b", "c"], {"verified"}),  # nothing is known
        (
            ["yes", "no"] * 50,
            ["a", "b"] * 50,
            {"value", "estimate", "low", "high", "verified", "chance"},
        ),
    ],
)
def test_only_what_was_found_is_a_number(labels, reasons, expected):
    result = metrics(faithkit.score(labels, reasons))
    assert {name for name in result if name.startswith("consistency/")} == {
        f"consistency/{n}" for n in expected
    }
    assert not [name for name in result if name.startswith("sufficiency/")]
