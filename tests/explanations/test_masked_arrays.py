"""Masked arrays keep their mask: a hidden value never counts, wherever an array goes in."""

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit import Explanations
from faithkit.errors import FaithkitError

VALUES = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
LABELS = ["a", "a", "b"]


def mask_row(values, row=1):
    """Hide what stands in a row."""
    mask = np.zeros(np.shape(values), dtype=bool)
    mask[row] = True
    return np.ma.array(values, mask=mask)


def evaluate_rows(explainer=lambda X: X, model=lambda X: X[:, 0], X=VALUES, **options):
    return faithkit.evaluate(model, X, explainer=explainer, **options)


HIDDEN = {
    "explanations": lambda: faithkit.score(LABELS, mask_row(VALUES)),
    "integers as explanations": lambda: faithkit.score(LABELS, mask_row(VALUES.astype(int))),
    "a column of explanations": lambda: faithkit.score(LABELS, mask_row([1, 1, 2])),
    "texts as explanations": lambda: faithkit.score(LABELS, mask_row(np.array(["x", "x", "y"]))),
    "rows of explanations": lambda: faithkit.score(LABELS, list(mask_row(VALUES))),
    "values of explanations": lambda: faithkit.score(LABELS, list(mask_row([1, 1, 2]))),
    "vectors": lambda: Explanations.vectors(mask_row(VALUES)),
    "values": lambda: Explanations(kind="vector", values=mask_row(VALUES)),
    "identities": lambda: faithkit.score(LABELS, VALUES, discretizer=lambda explanations: mask_row(VALUES)),
    "marks of missing explanations": lambda: Explanations.vectors(VALUES, missing=mask_row([0, 0, 0])),
    "predictions": lambda: faithkit.score(mask_row([1, 1, 2]), VALUES),
    "texts as predictions": lambda: faithkit.score(mask_row(np.array(LABELS)), VALUES),
    "truth values as predictions": lambda: faithkit.score(mask_row([True, True, False]), VALUES),
    "values of predictions": lambda: faithkit.score(list(mask_row([1, 1, 2])), VALUES),
    "instances": lambda: faithkit.score(LABELS, VALUES, X=mask_row(VALUES)),
    "groups": lambda: faithkit.score(LABELS, VALUES).by(mask_row([1, 1, 2])),
    "a model's labels": lambda: evaluate_rows(model=lambda X: mask_row(X[:, 0], row=0)),
    "a model's scores": lambda: faithkit.Predictor(Scores()).scores(VALUES),
    "an explainer's answer": lambda: evaluate_rows(explainer=lambda X: mask_row(X, row=0)),
    "the sample": lambda: evaluate_rows(X=mask_row(VALUES)),
    "the background": lambda: evaluate_rows(background=mask_row(VALUES)),
}


class Scores:
    classes_ = np.array([0, 1])

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def predict_proba(self, X):
        return mask_row(np.full((len(X), 2), 0.5))


@one_test
@pytest.mark.parametrize("use_array", HIDDEN.values(), ids=HIDDEN)
def test_an_array_with_hidden_values_is_refused_in_one_line(use_array):
    with pytest.raises(FaithkitError, match=r"[Mm]ask|missing") as error:
        use_array()
    assert len(str(error.value).splitlines()) == 1


SHOWN = {
    "explanations": lambda: faithkit.score(LABELS, np.ma.array(VALUES)),
    "predictions": lambda: faithkit.score(np.ma.array(LABELS), VALUES),
    "values": lambda: faithkit.score(LABELS, Explanations(kind="vector", values=np.ma.array(VALUES))),
    "identities": lambda: faithkit.score(
        LABELS, VALUES, discretizer=lambda explanations: np.ma.array(VALUES)
    ),
    "instances": lambda: faithkit.score(LABELS, VALUES, X=np.ma.array(VALUES)),
}


@one_test
@pytest.mark.parametrize("use_array", SHOWN.values(), ids=SHOWN)
def test_a_masked_array_that_hides_nothing_is_an_array(use_array):
    result = use_array()
    assert (result.n_explanations, result.consistency.value) == (2, pytest.approx(2 / 3))


def test_groups_that_hide_nothing_are_groups():
    assert list(faithkit.score(LABELS, VALUES).by(np.ma.array([1, 2, 2]))) == [1, 2]
