"""SHAP values leaf by leaf: against the definition, through preparation, and where it must step aside."""

import numpy as np
import pandas as pd
import pytest
from faithkit_feature_importance.shap_values.errors import NotTreesError, UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf import (
    games,
    leaf_tables,
    leaves,
    lookup_tables,
    readers,
    subtrees,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.leaf_shap import LeafShap
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import read_ensemble
from faithkit_feature_importance.shap_values.leaf_by_leaf.rescaling import Rescaling, probability
from faithkit_feature_importance.shap_values.trees import TreeShap
from hypothesis import given, settings
from hypothesis import strategies as st
from leaf_by_leaf import check_by_definition, explained, per_class, raw_scores
from looping import one_test
from shapley_values import shapley_values
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit.run.sheets.results import system_facts

# One leaf


@given(st.integers(1, 4), st.data())
def test_the_shares_of_a_leaf_are_those_of_the_definition(k, data):
    patterns = st.lists(st.booleans(), min_size=k, max_size=k)
    row, reference = data.draw(patterns), data.draw(st.lists(patterns, min_size=1, max_size=4))
    expected = shapley_values(lambda cells: [[all(cell)] for cell in cells], row, reference)[:, 0]
    bits = 2 ** np.arange(k)
    counts = np.bincount(np.array(reference) @ bits, minlength=2**k) / len(reference)
    table, pattern = leaf_tables.build_tables(counts).ravel(), np.array([np.array(row) @ bits])
    for player in range(k):
        first, second = leaf_tables.table_positions(pattern, player, k)
        assert table[first] + table[second] == pytest.approx(expected[player], abs=1e-12)


# Whole models


FEW_LEAVES = {"max_iter": 2, "max_leaf_nodes": 8, "min_samples_leaf": 3}
KINDS = {
    "tree": lambda seed: DecisionTreeClassifier(max_depth=5, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(3, max_depth=4, random_state=seed),
    "extra trees": lambda seed: ExtraTreesClassifier(3, max_depth=4, random_state=seed),
    "boosting": lambda seed: GradientBoostingClassifier(n_estimators=3, random_state=seed),
    "histogram": lambda seed: HistGradientBoostingClassifier(**FEW_LEAVES),
    "categories": lambda seed: HistGradientBoostingClassifier(**FEW_LEAVES, categorical_features=[1, 3]),
}
WITH_GAPS = ("tree", "forest", "histogram", "categories")


@given(st.sampled_from(sorted(KINDS)), st.sampled_from([2, 3]), st.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_raw_scores_are_explained_as_by_all_coalitions(kind, classes, seed):
    """Few distinct values: columns repeat on a path, thresholds are equal, rows lie on both sides of them."""
    random = np.random.default_rng(seed)
    table = random.integers(0, 5, (60, 4)).astype(float)
    if kind in WITH_GAPS:
        table[random.random(table.shape) < 0.15] = np.nan
    labels = random.integers(0, classes, 60)
    labels[:classes] = range(classes)
    model = KINDS[kind](seed % 1000).fit(table, labels)
    check_by_definition(model, table)


def make_numbers(n=200, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5)).round(1)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0.3).astype(int)


@one_test
@pytest.mark.parametrize(
    ("kind", "output"),
    [
        *(("tree", "raw"), ("forest", "probability"), ("extra trees", "raw"), ("boosting", "raw")),
        *(("boosting", "probability"), ("histogram", "raw"), ("histogram", "probability")),
    ],
)
def test_values_are_those_of_shap_for_the_same_reference_rows(kind, output):
    """shap works out its weights in single precision, and rescales rows of equal log-odds by noise."""
    X, y = make_numbers()
    model = KINDS[kind](0).fit(X, y)
    scores, reference = raw_scores(model, X)[:, 1], X[:3]
    rows = X[np.abs(scores[:, None] - scores[:3]).min(axis=1) > 1e-6]
    values = LeafShap(model, output, reference, faithkit.plugin.Encoder(X)).values(rows)
    # of two classes, the second
    shap_values = TreeShap(model, output, reference).values(rows)[..., -values.shape[2] :]
    assert values == pytest.approx(shap_values, abs=1e-7)
    assert len(rows) > 20


@one_test
@pytest.mark.parametrize("rows", [1, 7])
def test_rows_alone_and_in_blocks_have_the_same_bits(monkeypatch, rows):
    X, y = make_numbers(60)
    model = HistGradientBoostingClassifier(**FEW_LEAVES).fit(X, y)
    fitted = LeafShap(model, "probability", X[:20], faithkit.plugin.Encoder(X))
    whole = fitted.values(X)
    monkeypatch.setattr(games, "ROWS_PER_BATCH", rows)
    assert (fitted.values(X) == whole).all()
    assert (fitted.values(X[5:6])[0] == whole[5]).all()


@one_test
@pytest.mark.parametrize("kind", ["boosting", "categories"])
def test_neither_leaves_at_a_time_nor_the_parts_of_trees_change_a_value(monkeypatch, kind):
    X = np.random.default_rng(0).integers(0, 5, (90, 4)).astype(float)
    model = KINDS[kind](0).fit(X, X.sum(axis=1) % 3)

    def explain():
        return LeafShap(model, "raw", X[:20], faithkit.plugin.Encoder(X)).values(X[10:40])

    usual = explain()
    with monkeypatch.context() as patch:
        patch.setattr(lookup_tables, "FLOATS_PER_BATCH", 300)
        patch.setattr(leaves, "SUBTREES_PER_BATCH", 2)
        np.testing.assert_allclose(explain(), usual, atol=1e-11)
    for bits in (0, 2, 12):
        monkeypatch.setattr(subtrees, "MAX_BITS", bits)
        np.testing.assert_allclose(explain(), usual, atol=1e-11)


def test_thresholds_are_compared_in_the_models_precision():
    """scikit-learn's trees turn cells into float32; histogram boosting keeps float64."""
    cells = np.array([1.0, 1.0 + 1e-9, 1.0 + 2e-9, 2.0])[np.arange(80) % 4]
    X, y = np.column_stack([cells, np.arange(80) % 3]), (np.arange(80) % 4 > 1).astype(int)
    for model in (DecisionTreeClassifier(), HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=2)):
        explanations = explained(model.fit(X, y), X, X, output="raw", target="all", algorithm="tree")
        total = per_class(explanations).sum(axis=1) + explanations.shared["base_value"]
        assert total == pytest.approx(raw_scores(model, X), abs=1e-9)
        assert explanations.shared["algorithm"] == "leaves"


# The scale of probabilities


@one_test
@pytest.mark.parametrize(("low", "high"), [(-10.0, 10.0), (-40.0, 25.0), (5.0, 5.0)])
def test_the_factor_to_probabilities_is_a_short_sum_of_products(low, high):
    x, r = np.linspace(low, high, 41)[:, None], np.linspace(low, high, 38)[None, :]
    rescaling = Rescaling.on_interval(low, high)
    factors = (rescaling.signs * rescaling.terms(x[:, 0])) @ rescaling.terms(r[0]).T
    with np.errstate(invalid="ignore"):
        expected = (probability(x) - probability(r)) / (x - r)
    slope = probability(x) * probability(-x)
    expected = np.where(np.abs(x - r) < 1e-4, slope, expected)
    np.testing.assert_allclose(factors, expected, rtol=0, atol=1e-9)
    assert len(rescaling.signs) <= (9 if high <= 10 else 14)


@one_test
@pytest.mark.parametrize(
    ("model", "steepness"),
    [
        (HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=8, learning_rate=0.3), 1),
        (GradientBoostingClassifier(n_estimators=3, loss="exponential"), 2),  # half of log-odds
    ],
)
def test_probabilities_are_log_odds_rescaled_for_each_reference_row(model, steepness):
    X, y = make_numbers()
    model.fit(X, y)
    rows, reference = X[100:110], X[:2]
    p, margin = model.predict_proba(X)[:, 1], model.decision_function(X)
    expected = np.zeros(rows.shape)
    for i, other in enumerate(reference):
        log_odds = explained(model, other[None], rows, output="raw").values
        apart = margin[100:110] - margin[i]
        near, slope = np.abs(apart) < 1e-9, steepness * p[i] * (1 - p[i])
        factor = np.where(near, slope, (p[100:110] - p[i]) / np.where(near, 1, apart))
        expected += log_odds * factor[:, None]
    explanations = explained(model, reference, rows, output="probability")
    assert explanations.shared["algorithm"] == "leaves"
    assert explanations.values == pytest.approx(expected / 2, abs=1e-9)


def test_categories_that_the_model_encodes_itself_are_its_own_columns():
    X, y = make_numbers()
    table = pd.DataFrame(X[:, :4].round(), columns=list("abcd")).astype({"b": "category", "d": "category"})
    check_by_definition(HistGradientBoostingClassifier(**FEW_LEAVES).fit(table, y), table)


# Reference rows


def test_all_of_the_background_is_compared_with_by_default():
    X, y = make_numbers()
    model = GradientBoostingClassifier(n_estimators=5).fit(X, y)
    explanations = explained(model, X, X[:3], background=None, output="probability")
    assert explanations.shared["base_value"] == pytest.approx(model.predict_proba(X).mean(axis=0), abs=1e-12)
    assert (
        explanations.values.tolist()
        == explained(model, X, X[:3], background="rows", output="probability").values.tolist()
    )


def test_the_result_and_its_facts_say_which_algorithm_ran():
    X, y = make_numbers()
    model = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    result = faithkit.evaluate(model, X[:20], "shap", background=X[50:])
    assert result.to_dict()["explained_by"] == {
        "adds_up_to": "raw score",
        "algorithm": "leaves",
        "target": "positive",
        "class": "1",
    }
    assert "algorithm leaves" in system_facts(result)["explained by"]


def test_where_the_model_is_asked_a_hundred_rows_are_compared_with_by_default():
    X, y = make_numbers()
    model = LogisticRegression().fit(X, y)
    explanations = explained(model, X, X[:2], background=None)
    assert explanations.values.tolist() == explained(model, X, X[:2], background="sample:100").values.tolist()


# Where it steps aside


TREES = GradientBoostingClassifier(n_estimators=2)
AROUND = {
    "starts from LogisticRegression": GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2),
    "CalibratedClassifierCV changes the scores of GradientBoosting": CalibratedClassifierCV(TREES, cv=2),
    "StackingClassifier changes the scores of GradientBoosting": StackingClassifier([("a", TREES)], cv=2),
    "VotingClassifier changes the scores of GradientBoosting": VotingClassifier(
        [("a", TREES)], voting="soft"
    ),
}


@one_test
@pytest.mark.parametrize("why", AROUND)
def test_a_model_whose_trees_do_not_say_all_is_not_read(why):
    X, y = np.random.default_rng(0).normal(size=(60, 10)), np.arange(60) % 2
    with pytest.raises(UnreadableError, match=why):
        read_ensemble(AROUND[why].fit(X, y))


def test_a_model_that_is_not_read_is_asked_and_a_warning_says_why():
    X, y = np.random.default_rng(0).normal(size=(60, 10)), np.arange(60) % 2
    why, model = next(iter(AROUND.items()))
    with pytest.warns(faithkit.errors.FaithkitWarning, match=f"{why}.*so Permutation SHAP steps in"):
        explained(model.fit(X, y), X, X[:1], background="sample:2")


def test_a_file_of_another_form_is_named(monkeypatch):
    """As a later version of a library may write it."""

    def lost(model):
        raise KeyError("trees")

    X, y = make_numbers()
    monkeypatch.setitem(readers.READERS, "sklearn.DecisionTreeClassifier", lost)
    with pytest.raises(
        UnreadableError, match="reading the trees of DecisionTreeClassifier failed with KeyErr"
    ):
        read_ensemble(DecisionTreeClassifier().fit(X, y))


def test_a_model_around_other_models_than_trees_is_none_of_trees():
    X, y = make_numbers()
    with pytest.raises(NotTreesError):
        read_ensemble(CalibratedClassifierCV(LogisticRegression(), cv=2).fit(X, y))


@one_test
@pytest.mark.parametrize(
    ("where", "limit", "value"), [(subtrees, "MAX_PLAYERS", 2), (leaves, "MAX_TABLE_ENTRIES", 100)]
)
def test_trees_that_are_too_large_are_left_to_shap(monkeypatch, where, limit, value):
    X, y = make_numbers()
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    monkeypatch.setattr(where, limit, value)
    explanations = explained(model, X, X[:3], background=None)
    assert explanations.shared["algorithm"] == "tree"
    few = explained(model, X, X[:3], background="sample:100")
    assert explanations.values.tolist() == few.values.tolist()
