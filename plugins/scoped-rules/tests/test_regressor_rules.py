"""Rules for numbers: leaves that share one, and conditions that keep it within a tolerance."""

import numpy as np
import pytest
from faithkit_scoped_rules.evidence import build_evidence
from looping import one_test
from regressors import BACKGROUND, MODELS, ROWS, TEXTS, X, covered, explained, function
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

import faithkit

# --- trees -----------------------------------------------------------------------------------------------


def test_a_regression_tree_explained_by_its_own_leaves_is_consistent_where_it_can_be_checked():
    result = faithkit.evaluate(
        MODELS["tree"], X, "tree", background=BACKGROUND, estimator="verified-only", progress=False
    )
    assert result.consistency.value == result.sufficiency.value == 1.0
    assert result.n_explanations == len(set(MODELS["tree"].predict(X)))


@one_test
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1e-9, 0.0), (1.0, 1e9), (1e9, 1e9)])
def test_a_surrogate_is_the_same_whatever_the_unit(scale, shift):
    explanations = explained("tree", lambda X: scale * function(X).round(2) + shift, ROWS, BACKGROUND)
    twin = DecisionTreeRegressor(max_leaf_nodes=32, min_samples_leaf=5, random_state=0)
    twin.fit(BACKGROUND, function(BACKGROUND).round(2))
    together = twin.apply(ROWS)[:, None] == twin.apply(ROWS)
    rules = [str(rule) for rule in explanations.values]
    assert [[rule == other for other in rules] for rule in rules] == together.tolist()
    r2 = twin.score(BACKGROUND, function(BACKGROUND).round(2))
    assert explanations.shared["fidelity"] == pytest.approx(r2, abs=1e-6)


@pytest.mark.slow
def test_consistency_of_a_surrogates_leaves_is_its_r2_on_other_rows():
    rng = np.random.default_rng(1)
    many = rng.normal(size=(14_000, 4))
    target = 3 * many[:, 0] + many[:, 1] * many[:, 2] + rng.normal(size=len(many))
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(many[:4000], target[:4000])
    learnt, held_out = many[:4000], many[4000:]
    twin = DecisionTreeRegressor(max_leaf_nodes=32, min_samples_leaf=5, random_state=0)
    r2 = twin.fit(learnt, model.predict(learnt)).score(held_out, model.predict(held_out))
    result = faithkit.evaluate(model, held_out, "tree", background=learnt, progress=False)
    assert result.consistency.value == pytest.approx(r2, abs=0.01)


# --- rules that keep a number ----------------------------------------------------------------------------


def test_by_default_numbers_are_the_same_that_differ_by_half_a_deviation():
    for explainer in ("empirical-anchors", "nearest-counterfactual", "dice"):
        explanations = explained(explainer, function, ROWS[:3], BACKGROUND)
        assert explanations.shared["within"] == pytest.approx(function(BACKGROUND).std() / 2, rel=1e-12)


@one_test
@pytest.mark.parametrize("explainer", ["empirical-anchors", "nearest-counterfactual", "dice"])
def test_what_the_measure_counts_as_equal_the_explainer_does_too(explainer):
    result = faithkit.evaluate(
        function, ROWS[:9], explainer, background=BACKGROUND, agree="within:1.25", progress=False
    )
    assert result.rows.explanations.shared["within"] == 1.25


def test_a_rule_counted_in_the_background_keeps_its_promise_there():
    within = 2.0
    rows = np.random.default_rng(2).normal(size=(1500, 3))
    explanations = explained(
        f"empirical-anchors:within={within};threshold=0.8;delta=0.3", function, rows[:100], rows
    )
    sure = np.flatnonzero([remark is None for remark in explanations.remarked])
    near = np.abs(function(rows)[None, :] - function(rows[sure])[:, None]) <= within
    holds = covered([explanations.values[i] for i in sure], rows)
    assert len(sure) > 20
    assert ((near & holds).sum(axis=1) >= 0.8 * holds.sum(axis=1)).all()
    assert holds[np.arange(len(sure)), sure].all()


def test_rows_near_a_number_are_counted_as_one_by_one():
    rng = np.random.default_rng(3)
    rows, predictions = rng.normal(size=(150, 3)), rng.normal(size=150).round(1)
    predicates = [faithkit.plugin.Interval(j, high=cut) for j in range(3) for cut in (-0.5, 0.0, 0.5)]
    counted = build_evidence(predicates, rows, predictions, faithkit.plugin.Tolerance(within=0.3))
    own = np.array([-9.0, -0.3, 0.0, 0.7, 9.0])
    parents = [(), (0,), (2, 5), (8,), (1, 4)]
    words = np.tile(np.arange(9), (5, 1))
    agree, cover = counted.count_extensions(parents, counted.keys(own), words)
    holds = covered([faithkit.Rule([predicate]) for predicate in predicates], rows)
    for q, parent in enumerate(parents):
        near = np.abs(predictions - own[q]) <= 0.3 + 1e-9
        inside = holds[list(parent)].all(axis=0)
        assert cover[q].tolist() == [(inside & hold).sum() for hold in holds]
        assert agree[q].tolist() == [(inside & hold & near).sum() for hold in holds]
        assert counted.count_agreeing(counted.keys(own))[q] == near.sum()


def test_an_anchor_says_what_keeps_the_number_and_nothing_else():
    def step(X):
        return 10.0 * (X[:, 0] > 0) + 0.01 * X[:, 1]

    background = np.random.default_rng(4).normal(size=(400, 3))
    background[:, 0] += 0.1 * np.sign(background[:, 0])  # so that no cut lies at the step itself
    rows = background[np.abs(background[:, 0]) > 1][:6]
    explanations = explained("anchors:within=1", step, rows, background)
    holds = covered(explanations.values.tolist(), background)
    assert explanations.shared == {"within": 1.0}
    for i in range(len(rows)):
        near = np.abs(step(background) - step(rows)[i]) <= 1
        assert near[holds[i]].mean() >= 0.95
        assert {predicate.column for predicate in explanations.values[i].predicates} == {0}


def test_words_that_keep_the_number_are_found():
    def stars(texts):
        return np.array([4.5 if "fine" in text.split() else 1.5 for text in texts])

    explanations = explained("anchors-text:within=0.5", stars, ["a fine plot", "a long plot"], TEXTS)
    assert str(explanations.values[0]) == "contains 'fine'"
