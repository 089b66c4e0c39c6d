"""Kernel and Permutation SHAP: exact where all is tried, as good as shap where it is not, many rows in a call."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from faithkit_feature_importance.shap_values import mixtures
from faithkit_feature_importance.shap_values.sampling import CoalitionRegression, PermutationWalks
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import one_test
from pages import json_of
from shapley_values import shapley_values
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import faithkit

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4)).round(1)
WIDE = rng.normal(size=(40, 13))  # of 13 columns no algorithm tries all coalitions
FRAME = pd.DataFrame(
    {
        "age": np.where(rng.random(60) < 0.2, np.nan, rng.integers(20, 60, 60)),
        "job": pd.Series(rng.choice(["clerk", "cook", "smith"], 60), dtype="str").where(rng.random(60) < 0.9),
        "town": pd.Categorical(rng.choice(["Bonn", "Ulm"], 60)),
        "owner": rng.random(60) < 0.5,
        "children": rng.integers(0, 3, 60),
    }
)
ALGORITHMS = ["kernel", "permutation"]


class Spy:
    """Scores by a function of the table; it keeps the rows of every call."""

    classes_ = np.array([0, 1])

    def __init__(self, function):
        self.function, self.calls = function, []

    def predict_proba(self, X):
        self.calls.append(X)
        p = np.asarray(self.function(X), dtype=float)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return (np.asarray(self.function(X)) > 0.5).astype(int)


def score_wide(Z):
    """More than two columns interact."""
    return 1 / (1 + np.exp(-Z[:, 0] * Z[:, 1] * Z[:, 2] - Z[:, 3:].sum(axis=1) * Z[:, 0]))


def score_frame(table):
    """Words, missing cells, and columns that interact."""
    clerk, old = (
        table["job"].eq("clerk").fillna(False).to_numpy(bool),
        table["age"].fillna(33).to_numpy() / 60,
    )
    cook = table["job"].isin(["cook", "pilot"]).to_numpy(bool)
    ulm, owner = table["town"].eq("Ulm").to_numpy(bool), table["owner"].to_numpy(bool)
    return (
        0.2 + 0.3 * clerk * old * owner + 0.2 * ulm * ~owner + 0.1 * cook * (table["children"] > 1)
    ).to_numpy()


def fit_shap(model, table, algorithm, background="sample:5", **params):
    params = {"algorithm": algorithm, "background": background, **params}
    return (
        faithkit.plugin.registry().create("explainer", "shap", params).fit(faithkit.Predictor(model), table)
    )


# The regression of Kernel SHAP


def average_over_orders(players, worth):
    """Each player's mean gain over all orders, by the definition: worth takes a set."""
    result = np.zeros(players)
    for size in range(players):
        share = math.factorial(size) * math.factorial(players - size - 1) / math.factorial(players)
        for coalition in map(frozenset, itertools.combinations(range(players), size)):
            for player in set(range(players)) - coalition:
                result[player] += share * (worth[coalition | {player}] - worth[coalition])
    return result


@one_test
@pytest.mark.parametrize("players", [0, 1, 2, 3, 8, 11])
def test_the_regression_on_all_coalitions_gives_shapleys_values(players):
    regression = CoalitionRegression.for_players(players)
    coalitions = [frozenset(np.flatnonzero(coalition)) for coalition in regression.coalitions]
    assert len(set(coalitions)) == 2**players
    worth = dict(zip(coalitions, np.random.default_rng(players).normal(size=len(coalitions)), strict=True))
    result = regression.values(np.array([[worth[coalition]] for coalition in coalitions]))
    np.testing.assert_allclose(result[:, 0], average_over_orders(players, worth), rtol=0, atol=1e-12)


@one_test
@pytest.mark.parametrize("players", [12, 13, 64])
def test_of_many_coalitions_a_sample_is_tried_each_beside_its_complement(players):
    coalitions = CoalitionRegression.for_players(players).coalitions
    names = {coalition.tobytes() for coalition in coalitions}
    assert len(coalitions) == len(names) == 2 + 2 * players + 2048
    assert {(~coalition).tobytes() for coalition in coalitions} == names
    assert (CoalitionRegression.for_players(players).coalitions == coalitions).all()


def draw_game(players, sizes, random):
    """Sum of products: one that takes all of k players gives each of them a k-th of it."""
    parts = [
        (random.normal(), random.choice(players, random.choice(sizes), replace=False)) for _ in range(30)
    ]
    values = np.zeros(players)
    for gain, coalition in parts:
        values[coalition] += gain / len(coalition)
    return values, lambda Z: sum(gain * Z[:, coalition].prod(axis=1) for gain, coalition in parts)


@one_test
@pytest.mark.parametrize("players", [12, 20, 64])
def test_a_sample_of_coalitions_is_exact_where_two_players_interact(players):
    regression = CoalitionRegression.for_players(players)
    expected, game = draw_game(players, [1, 2], np.random.default_rng(players))
    values = regression.values(game(regression.coalitions.astype(float))[:, None])[:, 0]
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)


def test_a_sample_of_coalitions_errs_no_more_than_that_of_shap():
    players = 30
    package, random = pytest.importorskip("shap"), np.random.default_rng(players)
    regression, errors = CoalitionRegression.for_players(players), []
    for seed in range(4):
        expected, game = draw_game(players, [3, 4, 5, 6, 7], random)
        own_values = regression.values(game(regression.coalitions.astype(float))[:, None])[:, 0]
        with faithkit.plugin.seed_global_generators(seed):
            kernel = package.KernelExplainer(game, np.zeros((1, players)))
            shap_values = kernel.shap_values(np.ones(players), l1_reg=False, silent=True)
        assert own_values.sum() == pytest.approx(expected.sum(), abs=1e-9)
        errors.append([((values - expected) ** 2).mean() for values in (own_values, shap_values)])
    own_error, shap_error = np.sqrt(np.mean(errors, axis=0))
    assert 0 < own_error < 1.05 * shap_error


# The walks of Permutation SHAP


def test_walks_gain_what_each_step_adds():
    """One walk after the other, step by step."""
    random = np.random.default_rng(1)
    worth = {
        frozenset(coalition): random.normal()
        for k in range(6)
        for coalition in itertools.combinations(range(5), k)
    }
    walks = PermutationWalks.draw(5, seed=3)
    assert walks.orders.shape == (40, 5)
    assert (walks.orders[1::2] == walks.orders[::2, ::-1]).all()
    expected = np.zeros(5)
    for order in walks.orders:
        for step, player in enumerate(order):
            expected[player] += (worth[frozenset(order[: step + 1])] - worth[frozenset(order[:step])]) / 40
    result = walks.values(
        np.array([[worth[frozenset(np.flatnonzero(coalition))]] for coalition in walks.coalitions])
    )
    np.testing.assert_allclose(result[:, 0], expected, rtol=0, atol=1e-12)


@pytest.mark.slow  # shap's own code is compiled first
def test_permutations_give_what_shap_gives_with_the_same_seed():
    package = pytest.importorskip("shap")
    wide = np.random.default_rng(3).normal(size=(30, 12)).round(1)
    model = RandomForestClassifier(5, random_state=0).fit(wide, wide[:, 0] * wide[:, 1] * wide[:, 2] > 0)
    seeds = faithkit.plugin.row_seeds(wide[:4], 0)
    explanations = fit_shap(model, wide, "permutation", "rows").explain(wide[:4], seeds).values
    explainer = package.PermutationExplainer(model.predict_proba, package.maskers.Independent(wide))
    for row, seed, values in zip(wide, seeds, explanations, strict=False):
        with faithkit.plugin.seed_global_generators(int(seed)):
            expected = explainer(row[None, :], max_evals=20 * 25, silent=True).values[0, :, 1]
        assert values == pytest.approx(expected, abs=1e-9)


# Mixtures of rows


def compute_by_definition(table, row, reference):
    """Shapley values of a row of a frame: every coalition, filled in from the reference rows."""
    cells = [table.iloc[[i]] for i in reference]

    def score(mixed):
        frame = pd.DataFrame(mixed, columns=table.columns)
        return score_frame(frame.assign(owner=frame["owner"].astype(bool)))[:, None]

    return shapley_values(score, row.iloc[0].tolist(), [part.iloc[0].tolist() for part in cells])[:, 0]


def test_mixed_columns_have_the_values_of_the_definition():
    table = FRAME[:7]  # all of which are reference rows
    explanations = fit_shap(Spy(score_frame), table, "kernel", "rows").explain(FRAME[20:25], range(5)).values
    for i, values in enumerate(explanations):
        expected = compute_by_definition(table, FRAME[20 + i : 21 + i], range(7))
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9)
    assert (np.abs(explanations).max(axis=0) > 0.005).all()


@settings(deadline=None, max_examples=8)
@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=4, max_size=4), min_size=2, max_size=9
    ),
    st.integers(1, 5),
)
def test_values_are_those_of_the_definition_however_cells_repeat(rows, references):
    """Few values make many mixtures equal, within a row and across rows."""
    table = np.array(rows)

    def score(Z):
        gaps = np.isnan(Z).sum(axis=1)
        return 0.1 + 0.2 * np.nan_to_num(Z[:, 0], nan=0.5) * (Z[:, 1] == 1) + 0.1 * gaps

    background = table[:references]
    explainer = fit_shap(Spy(score), background, "kernel", "rows")
    explanations = explainer.explain(table, np.arange(len(table))).values
    for row, values in zip(table, explanations, strict=True):
        expected = shapley_values(lambda Z: score(np.array(Z))[:, None], row.tolist(), background.tolist())
        np.testing.assert_allclose(values, expected[:, 0], rtol=0, atol=1e-9)


@one_test
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_equal_mixtures_are_asked_about_once(algorithm):
    model = Spy(score_frame)
    explainer = fit_shap(model, FRAME, algorithm, "sample:20")
    model.calls.clear()
    explainer.explain(FRAME[:12], range(12))
    scores, mixed = model.calls  # of the rows themselves, and of the mixtures of all rows
    assert len(scores) == 12
    assert len(mixed) == len(mixed.drop_duplicates())
    assert len(mixed) < 12 * 20 * 2**5 / 4


@one_test
@pytest.mark.parametrize(("algorithm", "cells"), [("kernel", 1), ("permutation", 3000)])
def test_values_are_the_same_however_many_rows_are_mixed_at_a_time(algorithm, cells, monkeypatch):
    explainer = fit_shap(Spy(lambda Z: 1 / (1 + np.exp(-Z[:, 0] * Z[:, 1] - Z[:, 2]))), X, algorithm)
    whole = explainer.explain(X[:3], range(3)).values
    monkeypatch.setattr(mixtures, "VALUES_PER_BATCH", cells)
    assert explainer.explain(X[:3], range(3)).values == pytest.approx(whole, abs=1e-12)


@one_test
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_columns_in_which_a_row_agrees_with_all_reference_rows_have_no_value(algorithm):
    """A sample of the coalitions would give them some noise."""
    table = WIDE.copy()
    table[:, 5] = 7.0
    rows = table[:3].copy()
    rows[1, 5] = 8.0
    values = fit_shap(Spy(score_wide), table, algorithm).explain(rows, [1, 2, 3]).values
    assert (values[:, 5] == 0).tolist() == [True, False, True]
    single = fit_shap(Spy(score_wide), table[:1], algorithm, "rows").explain(table[:1], [1]).values
    assert (single == 0).all()


# One row is one row


@one_test
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_estimates_depend_on_the_row_and_its_seed_alone(algorithm):
    explainer = fit_shap(Spy(score_wide), WIDE, algorithm)
    rows, seeds = WIDE[:3], [1, 2, 3]
    before = np.random.get_state()[1].tolist()
    whole = explainer.explain(rows, seeds).values
    assert np.random.get_state()[1].tolist() == before
    np.testing.assert_allclose(
        explainer.explain(rows[::-1], seeds[::-1]).values[::-1], whole, rtol=0, atol=1e-11
    )
    alone = [explainer.explain(rows[i : i + 1], seeds[i : i + 1]).values[0] for i in range(3)]
    np.testing.assert_allclose(alone, whole, rtol=0, atol=1e-11)
    other = explainer.explain(rows, [9, 2, 3]).values
    np.testing.assert_allclose(other[1:], whole[1:], rtol=0, atol=1e-11)
    moved = np.abs(other[0] - whole[0]).max()
    assert moved == 0 if algorithm == "kernel" else moved > 1e-4  # coalitions are the same for all rows


@one_test
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_with_categories_that_the_background_lacks_are_explained_as_if_alone(algorithm):
    rows = FRAME[:4].assign(job=["pilot", "clerk", "baker", None])
    model = Spy(score_frame)
    explainer = fit_shap(model, FRAME[6:], algorithm, "sample:10")
    together = explainer.explain(rows, range(4)).values
    model.calls.clear()
    alone = [explainer.explain(rows[i : i + 1], [i]).values[0] for i in range(4)]
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-11)
    assert {"pilot", "baker"} <= {job for call in model.calls for job in call["job"].dropna()}


@pytest.mark.slow  # workers have to start
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_evaluations_have_the_same_bytes_whatever_the_chunks_and_workers(algorithm, monkeypatch):
    model = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(WIDE, WIDE[:, 0] > 0)
    payloads = []
    for chunk, n_jobs in ((16, 1), (3, 1), (5, 2)):
        explainer = faithkit.plugin.registry().create(
            "explainer", "shap", {"algorithm": algorithm, "background": "sample:3"}
        )
        monkeypatch.setattr(explainer, "rows_per_chunk", chunk)
        result = faithkit.evaluate(
            model, WIDE[:11], explainer, discretizer="1fp", background=WIDE, n_jobs=n_jobs
        )
        payloads.append(json_of(result))
    assert payloads[0] == payloads[1] == payloads[2]


@one_test
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_categories_of_the_background_survive_beside_those_of_the_instance(algorithm):
    pay = {"cook": 5.0, "clerk": 1.0, "smith": -3.0}  # anything else would be paid 100
    model = faithkit.Predictor(
        lambda X: X["job"].astype(object).map(pay).fillna(100.0).to_numpy(float), outcome="numbers"
    )
    background = pd.DataFrame({"job": pd.Categorical(["smith", "clerk"]), "age": [1.0, 2.0]})
    X = pd.DataFrame({"job": pd.Categorical(["cook", "clerk"]), "age": [3.0, 4.0]})
    shap = faithkit.plugin.registry().create("explainer", "shap", {"algorithm": algorithm})
    explanations = shap.fit(model, background).explain(X, np.array([1, 2]))
    assert explanations.values == pytest.approx(np.array([[6.0, 0.0], [2.0, 0.0]]))  # the mean is −1
