"""Examples for numbers: rows whose number is another, or a wanted one, and neighbours that share it."""

import numpy as np
import pytest
from faithkit_example_based import nearest_counterfactual
from faithkit_example_based.nearest_neighbor import NearestNeighbor
from looping import one_test
from regressors import BACKGROUND, ROWS, SITUATIONS, TEXTS, TWO_NUMBERS, X, Y, explained, function

import faithkit

ARRAY, FRAME = "array, forest", "frame, boosting"


def test_a_number_at_the_end_of_the_desired_range_is_in_it_whatever_rounding_does():
    def price(X):
        return 3 * X[:, 0] - 0.3

    X = np.array([[3.0], [2.0], [0.1], [1.0]])
    assert price(X)[2] > 0  # by rounding
    counterfactuals = explained("nearest-counterfactual:desired_range=[-1, 0]", price, X[:1], X)
    assert counterfactuals.values.tolist() == [[0.1]]


@one_test
@pytest.mark.parametrize(
    ("spec", "situation"),
    [
        ("nearest-counterfactual", FRAME),
        ("nearest-counterfactual:within=2", ARRAY),
        ("nearest-counterfactual:refine=true", ARRAY),
        ("nearest-counterfactual:desired_range=[3, 6]", FRAME),
        ("nearest-counterfactual:desired_range=[3, 6];refine=true", ARRAY),
        ("dice", ARRAY),
        ("dice:within=2", ARRAY),
        ("dice:method='kdtree'", FRAME),
        ("dice:method='genetic'", ARRAY),
        ("dice:desired_range=[3, 6]", FRAME),
        ("dice:desired_range=[3, 6];method='genetic'", ARRAY),
        ("dice:desired_range=[3, 6];method='kdtree';sparsity='linear'", ARRAY),
    ],
)
def test_a_counterfactual_leaves_the_range_or_reaches_the_wanted_one(spec, situation):
    model, rows, background = SITUATIONS[situation]
    rows = rows[:6]
    explanations = explained(spec, model, rows, background)
    known = np.flatnonzero(~explanations.missing)
    there, here = model.predict(faithkit.plugin.take_rows(explanations.values, known)), model.predict(rows)
    assert len(known) > len(here) / 2
    if "desired_range" in spec:
        assert ((there >= 3) & (there <= 6)).all()
        already = np.flatnonzero((here >= 3) & (here <= 6))
        remarks = [explanations.remarked[i] for i in already]
        assert set(remarks) <= {"already in the desired range", "a number is missing or infinite"}
        assert not set(already) & set(known)
    else:
        assert (np.abs(there - here[known]) > explanations.shared["within"]).all()


@one_test
@pytest.mark.parametrize("first", [1, 32, 1000])
@pytest.mark.parametrize("within", [0.5, 3.0, 9.0])
def test_the_nearest_counterfactual_is_that_of_the_double_loop(within, first, monkeypatch):
    monkeypatch.setattr(nearest_counterfactual, "N_INSPECTED", first)
    explanations = explained(
        f"nearest-counterfactual:within={within};distance='euclidean'", function, ROWS, BACKGROUND
    )
    far = np.sqrt(((ROWS[:, None] - BACKGROUND[None]) ** 2).sum(axis=2))
    far[np.abs(function(ROWS)[:, None] - function(BACKGROUND)[None]) <= within] = np.inf
    none = np.isinf(far).all(axis=1)
    assert explanations.missing.tolist() == none.tolist()
    assert {explanations.remarked[i] for i in np.flatnonzero(none)} <= {
        "no row of the background differs enough"
    }
    assert explanations.values[~none].tolist() == BACKGROUND[far.argmin(axis=1)][~none].tolist()


def test_a_model_of_neighbours_that_predicts_their_mean_explains_itself():
    knn = NearestNeighbor(k=2, prototypes=8).as_model(BACKGROUND, Y[:200])
    first = NearestNeighbor(k=1).as_model(np.array([[0.0], [0.0], [9.0]]), np.array([1.0, 2.0, 0.25]))
    assert first.predict(np.array([[1.0], [8.0]])).tolist() == [1.5, 0.25]
    result = faithkit.evaluate(knn, X, explainer=knn, estimator="verified-only", progress=False)
    assert result.setup.outcome.kind == "numbers"
    assert result.consistency.value == pytest.approx(1.0, abs=1e-12)


def explain_with_store(folder, explainer, model, **options):
    options = {"background": BACKGROUND, "progress": False, "executor": f"stored:folder={folder}"} | options
    return faithkit.evaluate(model, ROWS, explainer, **options).rows.explanations


def test_a_store_does_not_answer_for_another_tolerance(tmp_path):
    values = [
        explain_with_store(
            tmp_path, "nearest-counterfactual", function, agree=f"within:{within}"
        ).values.tolist()
        for within in (1, 4, 1)
    ]
    assert values[0] == values[2] != values[1]


def test_a_store_keeps_what_is_said_of_several_numbers(tmp_path):
    first, again = (explain_with_store(tmp_path, "shap", TWO_NUMBERS).values for _ in range(2))
    assert first.tolist() == again.tolist()


def test_a_store_does_not_answer_for_another_spread_of_numbers(tmp_path):
    def stars(texts):
        return np.array([text.count("fine") + 0.25 for text in texts])

    options = {"explainer": "anchors-text:beam_size=1,tau=0.4", "progress": False}
    options["executor"] = f"stored:folder={tmp_path}"
    few = [text for text in TEXTS if text.count("fine") < 2]
    withins = [
        faithkit.evaluate(
            stars, ["fine book", "dull film"], background=background, **options
        ).rows.explanations.shared["within"]
        for background in (TEXTS, few)
    ]
    assert withins == pytest.approx([stars(TEXTS).std() / 2, stars(few).std() / 2])


def test_a_distance_of_ones_own_finds_the_nearest_number_that_is_another():
    def compare_first_column(row, other):
        return abs(row[0] - other[0])

    fitted = faithkit.plugin.registry().create(
        "explainer", "nearest-counterfactual", {"distance": compare_first_column, "within": 3}
    )
    fitted.fit(faithkit.Predictor(function, background=BACKGROUND), BACKGROUND)
    values = fitted.explain(ROWS[:5], None).values
    far = np.abs(ROWS[:5, None, 0] - BACKGROUND[None, :, 0])
    far[np.abs(function(ROWS[:5])[:, None] - function(BACKGROUND)[None]) <= 3] = np.inf
    assert np.abs(values[:, 0] - ROWS[:5, 0]) == pytest.approx(far.min(axis=1))
    assert (np.abs(function(values) - function(ROWS[:5])) > 3).all()
