"""With k labels consistency cannot be below 1/k, where somebody says that there are k."""

import numpy as np
import pytest

import faithkit
from faithkit.measure.explanations import Explanations

X = np.random.default_rng(0).normal(size=(40, 3))


class Model:
    """Two labels, drawn by the noise in a column that no explanation shows."""

    def __init__(self, classes=None):
        if classes is not None:
            self.classes_ = np.array(classes)

    def predict(self, X):
        return (np.floor(1e6 * X[:, 2]) % 2).astype(int)


def distinct(X):
    return X[:, :2]


def with_gaps(X):
    return Explanations.vectors(X[:, :2], missing=X[:, 0] > 1)


def low(model, explainer=distinct, **options):
    return faithkit.evaluate(model, X, explainer=explainer, **options).consistency


def test_where_the_model_declares_its_labels_the_lower_end_is_never_below_one_over_their_number():
    free = low(Model())
    assert free.low < 0.5
    assert free.floor is None
    for k in (2, 3):
        found = low(Model(range(k)))
        assert (found.floor, found.low) == (1 / k, max(1 / k, free.low))
        assert found.at_least == free.at_least  # the estimate itself is not touched


@pytest.mark.parametrize(
    "model",
    [Model(), Model().predict, Model(["yes", "no"]), faithkit.Predictor(Model(), background=X)],
    ids=["no classes", "a function", "other labels than it gives", "labels seen in a background"],
)
def test_labels_that_a_sample_shows_are_no_declaration(model):
    assert low(model).floor is None


def test_a_predictor_can_declare_them():
    assert low(faithkit.Predictor(Model().predict, classes=[0, 1])).floor == 0.5
    wrapped = faithkit.Predictor(faithkit.Predictor(Model().predict, classes=[0, 1]))
    assert low(wrapped).floor == 0.5


def test_rows_without_an_explanation_count_as_nothing_and_leave_no_floor():
    assert low(Model([0, 1]), with_gaps).floor is None


def test_a_log_declares_nothing_and_sufficiency_has_no_floor():
    assert faithkit.score([0, 1, 0], [1, 2, 3]).consistency.floor is None
    result = faithkit.evaluate(
        Model([0, 1]), X, explainer=distinct, relation=faithkit.relation("near-explanation:tau=0.1")
    )
    assert result.sufficiency.floor is None
    assert result.consistency.floor == 0.5


def test_groups_and_later_rows_have_the_same_floor():
    result = faithkit.evaluate(Model([0, 1]), X, explainer=distinct)
    assert {part.consistency.floor for part in result.by(X[:, 0] > 0).values()} == {0.5}
    assert result.on(X + 1).consistency.floor == 0.5
