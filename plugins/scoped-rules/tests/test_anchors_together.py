"""Anchors of many rows at once: few calls of the model, and for each row what it would get alone."""

import numpy as np
import pandas as pd
import pytest
from faithkit_scoped_rules.anchors import lockstep_searches
from looping import one_test

import faithkit

WORDS = ["fine", "dull", "plot", "cast", "long", "loud"]


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(17, 90, n),
            "job": rng.choice(["clerk", "smith", "cook"], n),
            "hours": rng.normal(40, 9, n).round(1),
        }
    )


def busy(frame):
    return ((frame["hours"] > 42) & (frame["age"] > 40)).to_numpy() | (frame["job"] == "cook").to_numpy()


def reviews(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 5)) for _ in range(n)]


def tone(texts):
    return np.array([text.count("fine") > text.count("dull") for text in texts])


SITUATIONS = {
    "table": ("anchors", busy, table(100), table(6, seed=1)),
    "text": ("anchors-text", tone, None, reviews(6)),
}


class Counted:
    """A model that remembers what it was asked."""

    def __init__(self, model):
        self.model, self.asked = model, []

    def predict(self, X):
        self.asked.append(X)
        return self.model(X)


def fitted(explainer, model, background, **params):
    return (
        faithkit.plugin.registry()
        .create("explainer", explainer, {"beam_size": 1, "tau": 0.3} | params)
        .fit(faithkit.Predictor(model), background)
    )


def rules(explanations):
    return list(zip(explanations.values.tolist(), explanations.remarked.tolist(), strict=True))


IN_EACH = pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)


def alone(explainer, X, seeds):
    return [rule for i in range(len(X)) for rule in rules(explainer.explain(X[i : i + 1], seeds[i : i + 1]))]


@one_test
@IN_EACH
def test_rows_together_get_the_rules_that_they_get_alone(situation):
    name, model, background, X = situation
    explainer, seeds = fitted(name, model, background), faithkit.plugin.row_seeds(X, 0)
    lockstep_searches = rules(explainer.explain(X, seeds))
    assert lockstep_searches == alone(explainer, X, seeds)
    assert len(set(lockstep_searches)) > 1


ROOMS = [
    {"BYTES_PER_ROUND": 1},
    {"MAX_CACHED_BYTES": 0},
    {"BYTES_PER_ROUND": 10_000, "MAX_CACHED_BYTES": 1_000, "ROWS_PER_CALL": 7},
]


@one_test
@IN_EACH
def test_neither_the_room_for_searches_nor_for_labels_changes_a_rule(situation, monkeypatch):
    name, model, background, X = situation
    X = X[:3]
    explainer, seeds = fitted(name, model, background), faithkit.plugin.row_seeds(X, 0)
    expected = rules(explainer.explain(X, seeds))
    for room in ROOMS:
        with monkeypatch.context() as patch:
            for what, value in room.items():
                patch.setattr(lockstep_searches, what, value)
            assert rules(explainer.explain(X, seeds)) == expected, room


@one_test
@IN_EACH
def test_chunks_change_no_rule(situation, monkeypatch):
    from faithkit_scoped_rules.anchors.tables import Anchors
    from faithkit_scoped_rules.anchors.texts import AnchorsText

    name, model, background, X = situation
    run = {"explainer": f"{name}:beam_size=1,tau=0.3", "background": background}
    whole = faithkit.evaluate(model, X, **run).rows.explanations
    for explainer in (Anchors, AnchorsText):
        monkeypatch.setattr(explainer, "rows_per_chunk", 3)
    assert rules(faithkit.evaluate(model, X, **run).rows.explanations) == rules(whole)


@one_test
@IN_EACH
def test_a_call_of_the_model_is_about_all_rows(situation):
    name, model, background, X = situation
    lockstep_searches, one_by_one, seeds = Counted(model), Counted(model), faithkit.plugin.row_seeds(X, 0)
    fitted(name, lockstep_searches, background).explain(X, seeds)
    alone(fitted(name, one_by_one, background), X, seeds)
    assert len(lockstep_searches.asked) < len(one_by_one.asked) / 2
    assert sum(map(len, lockstep_searches.asked)) <= sum(map(len, one_by_one.asked))


@one_test
@IN_EACH
def test_the_model_is_asked_once_about_a_row(situation):
    name, model, background, X = situation
    counted = Counted(model)
    fitted(name, counted, background).explain(X, faithkit.plugin.row_seeds(X, 0))
    asked = pd.concat([pd.DataFrame(part) for part in counted.asked])
    assert not asked.duplicated().any()


@one_test
@IN_EACH
def test_no_call_is_about_more_rows_than_there_is_room_for(situation, monkeypatch):
    monkeypatch.setattr(lockstep_searches, "ROWS_PER_CALL", 40)  # fewer than a table's batch
    name, model, background, X = situation
    counted = Counted(model)
    fitted(name, counted, background, beam_size=1).explain(X, faithkit.plugin.row_seeds(X, 0))
    assert max(map(len, counted.asked)) <= 40


def test_a_row_that_the_model_fails_on_is_the_only_one_that_is_lost():
    X = table(5, seed=1).astype({"age": float})
    X.loc[3, "age"] = np.nan  # the background has no gap: no row is perturbed to one but for this

    def picky(frame):
        if (frame["age"].isna() & (frame["hours"] != X["hours"][3])).any():
            raise ValueError("a gap")
        return busy(frame)

    run = {"explainer": "anchors:beam_size=1,tau=0.3", "background": table(100)}
    result = faithkit.evaluate(picky, X, **run, on_error="record")
    assert result.rows.explanations.missing.tolist() == [i == 3 for i in range(5)]
    expected = faithkit.evaluate(busy, X, **run).rows.explanations.values
    assert all(result.rows.explanations.values[i] == expected[i] for i in (0, 1, 2, 4))
    with pytest.raises(faithkit.errors.ExplainerError, match=r"failed on row 3: .*a gap"):
        faithkit.evaluate(picky, X, **run)


@one_test
@pytest.mark.parametrize("strange", [np.nan, 30.5])
def test_a_value_that_changes_a_columns_dtype_is_not_seen_by_other_rows(strange):
    """A frame has one dtype for a column: a single gap among integers makes all of them floats."""

    def by_letters(frame):
        return np.array([len(str(cell)) > 2 for cell in frame["age"]]) ^ (frame["hours"] > 42).to_numpy()

    X = table(4, seed=1).astype({"age": float})
    X.loc[2, "age"] = strange
    explainer, seeds = fitted("anchors", by_letters, table(60), beam_size=1), faithkit.plugin.row_seeds(X, 0)
    assert rules(explainer.explain(X, seeds)) == alone(explainer, X, seeds)


def test_any_number_of_rows_is_explained():
    explainer = fitted("anchors", busy, table(50))
    assert len(explainer.explain(table(0), [])) == 0
    assert len(fitted("anchors-text", tone, None).explain([], [])) == 0


def test_seeds_beyond_32_bits_are_taken():
    explainer, X = fitted("anchors", busy, table(50)), table(1, seed=1)
    assert rules(explainer.explain(X, [2**32 + 5])) == rules(explainer.explain(X, [5]))
