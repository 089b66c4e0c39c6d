"""Consistency cannot be below 1/k where the model declares k labels."""

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit.explanations.explanations import Explanations

X = np.random.default_rng(0).normal(size=(40, 3))


class Model:
    """Two labels, drawn by the noise in a column that no explanation shows."""

    def __init__(self, classes=None):
        if classes is not None:
            self.classes_ = np.array(classes)

    def predict(self, X):
        return (np.floor(1e6 * X[:, 2]) % 2).astype(int)


def explain_all_differently(X):
    return X[:, :2]


def explain_some(X):
    return Explanations.vectors(X[:, :2], missing=X[:, 0] > 1)


def measure_consistency(model, explainer=explain_all_differently, **options):
    return faithkit.evaluate(model, X, explainer=explainer, **options).consistency


def test_where_the_model_declares_its_labels_the_lower_end_is_never_below_one_over_their_number():
    free = measure_consistency(Model())
    assert free.low < 0.5
    assert free.floor is None
    for k in (2, 3):
        result = measure_consistency(Model(range(k)))
        assert (result.floor, result.low) == (1 / k, max(1 / k, free.low))
        assert result.statistics == free.statistics  # the estimate itself is not touched


@one_test
@pytest.mark.parametrize(
    "model",
    [Model(), Model().predict, Model(["yes", "no"]), faithkit.Predictor(Model(), background=X)],
    ids=["no classes", "a function", "other labels than it gives", "labels seen in a background"],
)
def test_labels_that_a_sample_shows_are_no_declaration(model):
    assert measure_consistency(model).floor is None


def test_a_predictor_can_declare_them():
    assert measure_consistency(faithkit.Predictor(Model().predict, classes=[0, 1])).floor == 0.5
    wrapped = faithkit.Predictor(faithkit.Predictor(Model().predict, classes=[0, 1]))
    assert measure_consistency(wrapped).floor == 0.5


def test_rows_without_an_explanation_count_as_nothing_and_leave_no_floor():
    assert measure_consistency(Model([0, 1]), explain_some).floor is None


def test_a_log_declares_nothing_and_sufficiency_has_no_floor():
    assert faithkit.score([0, 1, 0], [1, 2, 3]).consistency.floor is None
    result = faithkit.evaluate(
        Model([0, 1]),
        X,
        explainer=explain_all_differently,
        relation=faithkit.relation("near-explanation:tau=0.1"),
    )
    assert result.sufficiency.floor is None
    assert result.consistency.floor == 0.5


def test_groups_and_later_rows_have_the_same_floor():
    result = faithkit.evaluate(Model([0, 1]), X, explainer=explain_all_differently)
    assert {part.consistency.floor for part in result.by(X[:, 0] > 0).values()} == {0.5}
    assert result.on(X + 1).consistency.floor == 0.5


EXPLAINERS = {
    "nothing is shared": explain_all_differently,
    "all share one": lambda X: ["same"] * len(X),
    "pairs that disagree": lambda X: (
        np.argsort(np.argsort(Model().predict(X), kind="stable")) % 20
    ).tolist(),
}


@one_test
@pytest.mark.parametrize("explainer", EXPLAINERS)
@pytest.mark.parametrize("classes", [None, 2, 3])
def test_no_bound_is_below_the_floor_and_all_are_in_order(explainer, classes):
    declared = None if classes is None else range(classes)
    result = faithkit.evaluate(Model(declared), X, explainer=EXPLAINERS[explainer])
    consistency, floor = result.consistency, 0.0 if classes is None else 1 / classes
    assert floor <= consistency.low <= consistency.estimate <= consistency.bracket[1] <= 1
    assert consistency.estimate == consistency.bracket[0] == max(floor, consistency.statistics.estimate)
    assert f"  {consistency.estimate:.3f}  " in str(result)


def test_the_best_discretizer_of_those_at_the_floor_is_found():
    result = faithkit.evaluate(Model([0, 1]), X, explainer=EXPLAINERS["pairs that disagree"])
    assert "recommended" in faithkit.try_discretizers(result).attrs["note"].lower()


def test_systems_at_the_floor_are_ordered_by_their_estimates():
    comparison = faithkit.compare(
        Model([0, 1]), X, explainers=list(EXPLAINERS.values()), discretizers=["original"]
    )
    assert all(pair.difference.value >= 0 for pair in comparison.pairs())
