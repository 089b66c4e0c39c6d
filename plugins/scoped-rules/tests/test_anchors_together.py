"""Anchors of many rows at once: few calls of the model, and for each row what it would get alone."""

import functools

import numpy as np
import pandas as pd
import pytest
from faithkit_scoped_rules.anchors import binned_table, lockstep_searches
from looping import one_test

import faithkit

WORDS = ["fine", "dull", "plot", "cast", "long", "loud"]


def make_table(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(17, 90, n),
            "job": rng.choice(["clerk", "smith", "cook"], n),
            "hours": rng.normal(40, 9, n).round(1),
        }
    )


def is_busy(frame):
    return ((frame["hours"] > 42) & (frame["age"] > 40)).to_numpy() | (frame["job"] == "cook").to_numpy()


def make_reviews(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 5)) for _ in range(n)]


def is_fine(texts):
    return np.array([text.count("fine") > text.count("dull") for text in texts])


SITUATIONS = {
    "table": ("anchors", is_busy, make_table(100), make_table(6, seed=1)),
    "text": ("anchors-text", is_fine, None, make_reviews(6)),
}


class Counted:
    """A model that remembers its queries."""

    def __init__(self, model):
        self.model, self.queries = model, []

    def predict(self, X):
        self.queries.append(X)
        return self.model(X)


def fit_explainer(explainer, model, background, **params):
    return (
        faithkit.plugin.registry()
        .create("explainer", explainer, {"beam_size": 1, "tau": 0.3} | params)
        .fit(faithkit.Predictor(model), background)
    )


def pair_rules(explanations):
    return list(zip(explanations.values.tolist(), explanations.remarked.tolist(), strict=True))


IN_EACH = pytest.mark.parametrize("name", SITUATIONS)


def explain_alone(explainer, X, seeds):
    return [
        rule for i in range(len(X)) for rule in pair_rules(explainer.explain(X[i : i + 1], seeds[i : i + 1]))
    ]


@functools.cache
def explain_together(name):
    """Return the rules of all rows, searched for together, and the queries of the model."""
    explainer, predict, background, X = SITUATIONS[name]
    model = Counted(predict)
    fitted = fit_explainer(explainer, model, background)
    return pair_rules(fitted.explain(X, faithkit.plugin.row_seeds(X, 0))), model.queries


@one_test
@IN_EACH
def test_rows_together_get_the_rules_that_they_get_alone_in_fewer_calls(name):
    explainer, predict, background, X = SITUATIONS[name]
    model = Counted(predict)
    fitted = fit_explainer(explainer, model, background)
    rules, queries = explain_together(name)
    assert rules == explain_alone(fitted, X, faithkit.plugin.row_seeds(X, 0))
    assert len(set(rules)) > 1
    assert len(queries) < len(model.queries) / 2
    assert sum(map(len, queries)) <= sum(map(len, model.queries))


@one_test
@IN_EACH
def test_the_model_is_asked_once_about_a_row(name):
    _, queries = explain_together(name)
    assert not pd.concat([pd.DataFrame(query) for query in queries]).duplicated().any()


ROOMS = [
    {"BYTES_PER_ROUND": 1, "MAX_CACHED_BYTES": 0},
    {"BYTES_PER_ROUND": 10_000, "MAX_CACHED_BYTES": 1_000, "ROWS_PER_CALL": 7},
]


@one_test
@IN_EACH
def test_neither_the_room_for_searches_nor_for_labels_changes_a_rule(name, monkeypatch):
    explainer, predict, background, X = SITUATIONS[name]
    X = X[:2]
    fitted, seeds = fit_explainer(explainer, predict, background), faithkit.plugin.row_seeds(X, 0)
    expected = explain_together(name)[0][:2]
    for room in ROOMS:
        with monkeypatch.context() as patch:
            for what, value in room.items():
                patch.setattr(lockstep_searches, what, value)
            patch.setattr(binned_table, "MAX_CACHED_ROWS", 0)
            assert pair_rules(fitted.explain(X, seeds)) == expected, room


@one_test
@IN_EACH
def test_chunks_change_no_rule(name, monkeypatch):
    from faithkit_scoped_rules.anchors.tables import Anchors
    from faithkit_scoped_rules.anchors.texts import AnchorsText

    explainer, predict, background, X = SITUATIONS[name]
    for kind in (Anchors, AnchorsText):
        monkeypatch.setattr(kind, "rows_per_chunk", 3)
    result = faithkit.evaluate(predict, X, f"{explainer}:beam_size=1,tau=0.3", background=background)
    assert pair_rules(result.rows.explanations) == explain_together(name)[0]


@one_test
@IN_EACH
def test_no_call_is_about_more_rows_than_there_is_room_for(name, monkeypatch):
    monkeypatch.setattr(lockstep_searches, "ROWS_PER_CALL", 40)  # fewer than a table's batch
    explainer, predict, background, X = SITUATIONS[name]
    model = Counted(predict)
    fit_explainer(explainer, model, background).explain(X, faithkit.plugin.row_seeds(X, 0))
    assert max(map(len, model.queries)) <= 40


def test_a_row_that_the_model_fails_on_is_the_only_one_that_is_lost():
    X = make_table(3, seed=1).astype({"age": float})
    X.loc[1, "age"] = np.nan  # the background has no gap: no row is perturbed to one but for this

    def picky(frame):
        if (frame["age"].isna() & (frame["hours"] != X["hours"][1])).any():
            raise ValueError("a gap")
        return is_busy(frame)

    run = {"explainer": "anchors:beam_size=1,tau=0.3", "background": make_table(40)}
    result = faithkit.evaluate(picky, X, **run, on_error="record")
    assert result.rows.explanations.missing.tolist() == [False, True, False]
    expected = faithkit.evaluate(is_busy, X, **run).rows.explanations.values
    assert all(result.rows.explanations.values[i] == expected[i] for i in (0, 2))
    with pytest.raises(faithkit.errors.ExplainerError, match=r"failed on row 1: .*a gap"):
        faithkit.evaluate(picky, X, **run)


@one_test
@pytest.mark.parametrize("strange", [np.nan, 30.5])
def test_a_value_that_changes_a_columns_dtype_is_not_seen_by_other_rows(strange):
    """A frame has one dtype for a column: a single gap among integers makes all of them floats."""

    def by_letters(frame):
        return np.array([len(str(cell)) > 2 for cell in frame["age"]]) ^ (frame["hours"] > 42).to_numpy()

    X = make_table(3, seed=1).astype({"age": float})
    X.loc[1, "age"] = strange
    explainer, seeds = (
        fit_explainer("anchors", by_letters, make_table(60), beam_size=1),
        faithkit.plugin.row_seeds(X, 0),
    )
    assert pair_rules(explainer.explain(X, seeds)) == explain_alone(explainer, X, seeds)


def test_any_number_of_rows_is_explained():
    explainer = fit_explainer("anchors", is_busy, make_table(50))
    assert len(explainer.explain(make_table(0), [])) == 0
    assert len(fit_explainer("anchors-text", is_fine, None).explain([], [])) == 0


def test_seeds_beyond_32_bits_are_taken():
    explainer, X = fit_explainer("anchors", is_busy, make_table(50)), make_table(1, seed=1)
    assert pair_rules(explainer.explain(X, [2**32 + 5])) == pair_rules(explainer.explain(X, [5]))
