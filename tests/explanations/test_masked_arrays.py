"""Masked arrays keep their mask: a hidden value never counts, wherever an array goes in."""

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit import Explanations, FaithkitError

VALUES = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
LABELS = ["a", "a", "b"]


def masked(values, row=1):
    """Hide what stands in a row."""
    mask = np.zeros(np.shape(values), dtype=bool)
    mask[row] = True
    return np.ma.array(values, mask=mask)


def explained(explainer=lambda X: X, model=lambda X: X[:, 0], X=VALUES, **options):
    return faithkit.evaluate(model, X, explainer=explainer, **options)


HIDDEN = {
    "explanations": lambda: faithkit.score(LABELS, masked(VALUES)),
    "integers as explanations": lambda: faithkit.score(LABELS, masked(VALUES.astype(int))),
    "a column of explanations": lambda: faithkit.score(LABELS, masked([1, 1, 2])),
    "texts as explanations": lambda: faithkit.score(LABELS, masked(np.array(["x", "x", "y"]))),
    "rows of explanations": lambda: faithkit.score(LABELS, list(masked(VALUES))),
    "values of explanations": lambda: faithkit.score(LABELS, list(masked([1, 1, 2]))),
    "vectors": lambda: Explanations.vectors(masked(VALUES)),
    "values": lambda: Explanations(kind="vector", values=masked(VALUES)),
    "identities": lambda: faithkit.score(LABELS, VALUES, discretizer=lambda given: masked(VALUES)),
    "marks of missing explanations": lambda: Explanations.vectors(VALUES, missing=masked([0, 0, 0])),
    "predictions": lambda: faithkit.score(masked([1, 1, 2]), VALUES),
    "texts as predictions": lambda: faithkit.score(masked(np.array(LABELS)), VALUES),
    "truth values as predictions": lambda: faithkit.score(masked([True, True, False]), VALUES),
    "values of predictions": lambda: faithkit.score(list(masked([1, 1, 2])), VALUES),
    "instances": lambda: faithkit.score(LABELS, VALUES, X=masked(VALUES)),
    "groups": lambda: faithkit.score(LABELS, VALUES).by(masked([1, 1, 2])),
    "a model's labels": lambda: explained(model=lambda X: masked(X[:, 0], row=0)),
    "a model's scores": lambda: faithkit.Predictor(Scores()).scores(VALUES),
    "an explainer's answer": lambda: explained(explainer=lambda X: masked(X, row=0)),
    "the sample": lambda: explained(X=masked(VALUES)),
    "the background": lambda: explained(background=masked(VALUES)),
}


class Scores:
    classes_ = np.array([0, 1])

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def predict_proba(self, X):
        return masked(np.full((len(X), 2), 0.5))


@one_test
@pytest.mark.parametrize("give", HIDDEN.values(), ids=HIDDEN)
def test_an_array_with_hidden_values_is_refused_in_one_line(give):
    with pytest.raises(FaithkitError, match=r"[Mm]ask|missing") as error:
        give()
    assert len(str(error.value).splitlines()) == 1


SHOWN = {
    "explanations": lambda: faithkit.score(LABELS, np.ma.array(VALUES)),
    "predictions": lambda: faithkit.score(np.ma.array(LABELS), VALUES),
    "values": lambda: faithkit.score(LABELS, Explanations(kind="vector", values=np.ma.array(VALUES))),
    "identities": lambda: faithkit.score(LABELS, VALUES, discretizer=lambda given: np.ma.array(VALUES)),
    "instances": lambda: faithkit.score(LABELS, VALUES, X=np.ma.array(VALUES)),
}


@one_test
@pytest.mark.parametrize("give", SHOWN.values(), ids=SHOWN)
def test_a_masked_array_that_hides_nothing_is_an_array(give):
    result = give()
    assert (result.n_explanations, result.consistency.value) == (2, pytest.approx(2 / 3))


def test_groups_that_hide_nothing_are_groups():
    assert list(faithkit.score(LABELS, VALUES).by(np.ma.array([1, 2, 2]))) == [1, 2]
