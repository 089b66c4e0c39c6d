"""A warning shows the line of the user's code that called faithkit."""

import re

import numpy as np
import pytest

import faithkit

X = np.arange(40.0).reshape(20, 2)
LABELS = (X[:, 0] > 9).tolist()


class OneLabel:
    """A learner, so that faithkit warns about learning from the sample."""

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        return faithkit.Explanations.of(["a"] * len(X))


def model(X):
    return X[:, 0] > 9


def model_at_random(X, rng=np.random.default_rng(0)):  # noqa: B008
    return rng.random(len(X)) > 0.5


def group_by_prediction():
    faithkit.score(LABELS, [["a"]] * 20, X=X).by(LABELS)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: faithkit.evaluate(model, X, OneLabel()), "no background was given"),
        (lambda: faithkit.compare(model, X, [OneLabel()]), "no background was given"),
        (lambda: faithkit.evaluate(model_at_random, X, np.round), "differently when it was asked again"),
        (lambda: faithkit.score(["1.5", "2.5"] * 10, X, discretizer="original"), "taken for labels"),
        (lambda: faithkit.score(LABELS, X, discretizer="quantile"), "quantile learns from the rows"),
        (group_by_prediction, "follow from the prediction"),
    ],
)
def test_a_warning_shows_the_line_that_called_faithkit(call, words):
    with pytest.warns(faithkit.errors.FaithkitWarning, match=re.escape(words)) as caught:
        call()
    assert {warning.filename for warning in caught} == {__file__}
