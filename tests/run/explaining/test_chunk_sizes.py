"""How many rows are explained at a time: what the explainer declares, and fewer where rows are wide."""

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit.run.explaining import sample


class Counting:
    """Notes how many rows each call explains."""

    learns = False

    def __init__(self):
        self.sizes = []

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        self.sizes.append(len(X))
        return faithkit.Explanations.of(X[:, 0].tolist())


class ByModel(Counting):
    def rows_per_chunk(self, predictor):
        return predictor.model.rows


class Model:
    def __init__(self, rows=1):
        self.rows = rows

    def predict(self, X):
        return X[:, 0] > 5


def explain_in_chunks(explainer, columns=1, rows=1):
    X = np.repeat(np.arange(12.0)[:, None], columns, axis=1)
    faithkit.evaluate(Model(rows), X, explainer=explainer)
    return explainer.sizes


def build_explainer(rows):
    explainer = Counting()
    explainer.rows_per_chunk = rows
    return explainer


@one_test
@pytest.mark.parametrize(("declared", "sizes"), [(5, [5, 5, 2]), (12, [12]), (4096, [12])])
def test_chunks_have_as_many_rows_as_the_explainer_declares(declared, sizes):
    assert explain_in_chunks(build_explainer(declared)) == sizes


@one_test
@pytest.mark.parametrize(("columns", "sizes"), [(1, [12]), (5, [4, 4, 4]), (100, [1] * 12)])
def test_wide_rows_come_in_smaller_chunks(columns, sizes, monkeypatch):
    monkeypatch.setattr(sample, "MAX_VALUES", 20)
    assert explain_in_chunks(build_explainer(4096), columns) == sizes


def test_an_explainer_may_decide_by_the_model():
    assert explain_in_chunks(ByModel(), rows=6) == [6, 6]


def test_a_declaration_that_is_no_number_of_rows_is_refused():
    with pytest.raises(faithkit.errors.ContractError, match=r"rows_per_chunk must be .* got 0"):
        explain_in_chunks(ByModel(), rows=0)
