"""Every error class is documented, and raised by what it is for."""

import inspect
from pathlib import Path

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit import errors

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "errors.rst").read_text()
CLASSES = [found for _, found in inspect.getmembers(errors, inspect.isclass)]
X = np.arange(4.0).reshape(-1, 1)


def model(X):
    return X[:, 0] > 1


def explain_one_row_too_few(X):
    return faithkit.Explanations.of(["a"] * (len(X) - 1))


def fail(X):
    raise RuntimeError("no licence")


def missing_predictions(_):
    faithkit.score([None, "yes"], ["a", "b"])


def unknown_name(_):
    faithkit.score([0, 1], ["a", "b"], estimator="leave-two-out")


def unknown_parameter(_):
    faithkit.score([0, 1], ["a", "b"], estimator="majority:tau=1")


def broken_promise(_):
    faithkit.evaluate(model, X, explainer=explain_one_row_too_few)


def factory_that_cannot_be_imported(_):
    faithkit.plugin.Component(name="lost", factory="a_module_that_nobody_has:Lost", summary="Lost.").load()


def explainer_that_fails(_):
    faithkit.evaluate(model, X, explainer=fail)


def store_that_is_a_file(folder):
    (folder / "file").write_text("")
    faithkit.evaluate(model, X, explainer=lambda X: X.tolist(), store=folder / "file")


RAISED = {
    errors.InputError: missing_predictions,
    errors.UnknownComponentError: unknown_name,
    errors.ParameterError: unknown_parameter,
    errors.ContractError: broken_promise,
    errors.PluginError: factory_that_cannot_be_imported,
    errors.ExplainerError: explainer_that_fails,
    errors.StoreError: store_that_is_a_file,
}


def test_all_errors_are_faithkits_and_each_has_a_way_to_be_raised():
    assert {found for found in CLASSES if issubclass(found, Exception)} - set(RAISED) == {
        errors.FaithkitError,
        errors.FaithkitWarning,
    }
    assert all(issubclass(found, errors.FaithkitError) for found in RAISED)


@one_test
@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_the_error_is_raised_with_a_message_that_is_one_sentence_or_more(error, tmp_path):
    with pytest.raises(errors.FaithkitError) as raised:
        RAISED[error](tmp_path)
    assert type(raised.value) is error
    assert len(str(raised.value).split()) > 5


def test_the_warning_is_given():
    with pytest.warns(errors.FaithkitWarning, match="no background was given"):
        faithkit.evaluate(model, X, explainer=Learns())


class Learns:
    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        return faithkit.Explanations.of([True] * len(X))


@one_test
@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_the_error_is_documented(error):
    assert error.__doc__
    home = "faithkit" if hasattr(faithkit, error.__name__) else "faithkit.errors"
    assert f".. autoexception:: {home}.{error.__name__}\n" in PAGE
