"""Examples for numbers: rows whose number is another, or a wanted one, and neighbours that share it."""

import numpy as np
import pytest
from faithkit_example_based.nearest_neighbor import NearestNeighbor
from regressors import BACKGROUND, ROWS, SITUATIONS, X, Y, explained, function

import faithkit


@pytest.mark.parametrize(
    "spec",
    [
        "nearest-counterfactual",
        "nearest-counterfactual:within=2",
        "nearest-counterfactual:refine=true",
        "nearest-counterfactual:desired_range=[3, 6]",
        "nearest-counterfactual:desired_range=[3, 6];refine=true",
        "dice",
        "dice:within=2",
        "dice:method='kdtree'",
        "dice:method='genetic'",
        "dice:desired_range=[3, 6]",
        "dice:desired_range=[3, 6];method='genetic'",
        "dice:desired_range=[3, 6];method='kdtree';sparsity='linear'",
    ],
)
@pytest.mark.parametrize("situation", ["array, forest", "frame, boosting"])
def test_a_counterfactual_leaves_the_range_or_reaches_the_wanted_one(spec, situation):
    model, rows, background = SITUATIONS[situation]
    found = explained(spec, model, rows, background)
    known = np.flatnonzero(~found.missing)
    there, here = model.predict(faithkit.take_rows(found.values, known)), model.predict(rows)
    assert len(known) > len(here) / 2
    if "desired_range" in spec:
        assert ((there >= 3) & (there <= 6)).all()
        already = np.flatnonzero((here >= 3) & (here <= 6))
        told = [found.remarked[i] for i in already]
        assert set(told) <= {"already in the desired range", "a number is missing or infinite"}
        assert not set(already) & set(known)
    else:
        assert (np.abs(there - here[known]) > found.shared["within"]).all()


@pytest.mark.parametrize("within", [0.5, 3.0, 9.0])
def test_the_nearest_counterfactual_is_that_of_the_double_loop(within):
    found = explained(
        f"nearest-counterfactual:within={within};distance='euclidean'", function, ROWS, BACKGROUND
    )
    far = np.sqrt(((ROWS[:, None] - BACKGROUND[None]) ** 2).sum(axis=2))
    far[np.abs(function(ROWS)[:, None] - function(BACKGROUND)[None]) <= within] = np.inf
    none = np.isinf(far).all(axis=1)
    assert found.missing.tolist() == none.tolist()
    assert {found.remarked[i] for i in np.flatnonzero(none)} <= {"no row of the background differs enough"}
    assert found.values[~none].tolist() == BACKGROUND[far.argmin(axis=1)][~none].tolist()


def test_a_model_of_neighbours_that_predicts_their_mean_explains_itself():
    knn = NearestNeighbor(k=2, prototypes=8).as_model(BACKGROUND, Y[:200])
    first = NearestNeighbor(k=1).as_model(np.array([[0.0], [0.0], [9.0]]), np.array([1.0, 2.0, 0.25]))
    assert first.predict(np.array([[1.0], [8.0]])).tolist() == [1.5, 0.25]
    result = faithkit.evaluate(knn, X, explainer=knn, estimator="verified-only", progress=False)
    assert result.setup.outcome.kind == "numbers"
    assert result.consistency.value == pytest.approx(1.0, abs=1e-12)
