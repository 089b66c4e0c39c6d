"""Searches of many rows advance together, and none of them notices the others."""

import numpy as np
import pandas as pd
import pytest
from faithkit_example_based.dice_search import lockstep
from faithkit_example_based.dice_search.lockstep import OutOfCalls, run_in_lockstep
from looping import one_test
from mixed_tables import workers

import faithkit

METHODS = ["random", "genetic", "kdtree"]
NOT_FOUND = "no counterfactual found"


def three(frame):
    """Three labels by age and job; who is old is so whatever the job."""
    old, cook = (frame["age"] > 60).to_numpy(), (frame["job"] == "a").to_numpy()
    return np.where(old, "old", np.where(cook, "cook", "young"))


class Counted:
    """A model that counts how often it is asked, and about how many rows."""

    def __init__(self, model):
        self.model, self.calls = model, []

    def predict(self, frame):
        self.calls.append(len(frame))
        return self.model(frame)


def fitted(model, **params):
    made = faithkit.plugin.registry().create("explainer", "dice", params)
    return made.fit(faithkit.Predictor(model), workers(150))


def explained(dice, X, seed=0):
    return dice.explain(X, faithkit.plugin.row_seeds(X, seed))


# --- the rows of a batch ---------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("method", "sparsity"),
    [
        ("random", "binary"),
        ("random", None),
        ("genetic", "linear"),
        ("kdtree", "binary"),
        ("kdtree", "linear"),
    ],
)
def test_rows_alone_equal_rows_in_a_batch_in_any_order(method, sparsity):
    X, dice = workers(5, seed=1), fitted(three, method=method, sparsity=sparsity)
    together = explained(dice, X).values
    alone = pd.concat([explained(dice, X[i : i + 1]).values for i in range(len(X))], ignore_index=True)
    turned = explained(dice, X[::-1]).values[::-1].reset_index(drop=True)
    pd.testing.assert_frame_equal(together, alone)
    pd.testing.assert_frame_equal(together, turned)


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_how_many_rows_a_call_takes_changes_nothing(method, monkeypatch):
    X, dice = workers(12, seed=1), fitted(three, method=method)
    usual = explained(dice, X).values
    monkeypatch.setattr(lockstep, "ROWS_PER_CALL", 5)
    pd.testing.assert_frame_equal(usual, explained(dice, X).values)


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_a_row_that_dice_cannot_take_changes_no_other(method):
    X, dice = workers(6, seed=1), fitted(three, method=method)
    spoilt = X.astype({"age": float})
    spoilt.loc[[1, 2, 4], "age"] = [np.nan, 30.5, np.inf]
    spoilt.loc[5, "job"] = "king"
    kept = [0, 3]
    expected, found = explained(dice, X).values, explained(dice, spoilt)
    assert found.missing.tolist() == [False, True, True, False, True, True]
    pd.testing.assert_frame_equal(found.values.iloc[kept], expected.iloc[kept])


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_ten_times_the_rows_are_hardly_more_calls(method):
    model = Counted(three)
    dice = fitted(model, method=method)
    spent = []
    for n in (5, 50):
        model.calls.clear()
        explained(dice, workers(n, seed=1))
        spent.append(len(model.calls))
    assert spent[1] < 3 * spent[0]


def test_the_random_search_asks_about_few_rows():
    # dice-ml asks about two thousand copies of each; here many of them have the other label
    model = Counted(lambda frame: (frame["age"] > 40).to_numpy() ^ (frame["sex"] == "m").to_numpy())
    dice, X = fitted(model, sparsity=None), workers(100, seed=1)
    model.calls.clear()
    explained(dice, X)
    assert sum(model.calls) < 60 * len(X)


# --- the limit on questions ------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("method", "max_calls"),
    [
        ("random", 1),
        ("random", 9),
        ("genetic", 5),
        ("kdtree", 3),
    ],
)
def test_the_limit_on_questions_holds_for_each_row(method, max_calls):
    X, dice = workers(5, seed=1), fitted(three, method=method, max_calls=max_calls)
    together = explained(dice, X)
    alone = [explained(dice, X[i : i + 1]) for i in range(len(X))]
    assert together.remarks.tolist() == [explanations.remarks[0] for explanations in alone]
    pd.testing.assert_frame_equal(
        together.values, pd.concat([explanations.values for explanations in alone], ignore_index=True)
    )


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_a_hopeless_row_ends_and_the_others_have_their_counterfactuals(method):
    # the job alone may change
    X = workers(30, seed=1)
    old = three(X) == "old"
    model = Counted(three)
    dice = fitted(model, method=method, features_to_vary=["job"], max_calls=30)
    model.calls.clear()
    explanations = explained(dice, X)
    assert explanations.missing[old].all()
    assert set(explanations.remarks[old]) == {NOT_FOUND}
    assert method == "kdtree" or not explanations.missing[~old & (X["job"] == "a")].any()
    assert len(model.calls) <= 30 + 2  # all rows together; and their own labels, and what was found


# --- generators ------------------------------------------------------------------------------------------


def counting(n):
    """Ask n times, about one more row each time; return the sum of the answers."""
    total = 0
    try:
        for i in range(n):
            total += (yield np.full((i + 1, 1), n)).sum()
    except OutOfCalls:
        return -total
    return total


def test_searches_of_different_lengths_get_their_own_answers():
    asked = []

    def ask(rows):
        asked.append(len(rows))
        return rows * 10

    results = run_in_lockstep([counting(n) for n in (2, 0, 3, 1)], ask, max_calls=9)
    assert results == [2 * 10 * 3, 0, 3 * 10 * 6, 10]
    assert asked == [3, 4, 3]  # as many rows as searches in the first round, twice as many as in the second


def test_searches_begin_when_there_is_room_in_a_call(monkeypatch):
    begun = []

    def noted(n):
        begun.append(n)
        return (yield from counting(n))

    calls = []

    def ask(rows):
        calls.append((len(rows), len(begun)))
        return rows

    monkeypatch.setattr(lockstep, "ROWS_PER_CALL", 3)
    assert run_in_lockstep([noted(2) for _ in range(5)], ask, max_calls=2) == [6] * 5
    assert calls == [(3, 3), (4, 3), (3, 4), (3, 5), (2, 5)]


def test_a_search_that_asks_too_often_is_told_so():
    assert run_in_lockstep([counting(2), counting(3)], lambda rows: rows, max_calls=2) == [6, -9]


def test_no_search_needs_no_call():
    assert run_in_lockstep([], pytest.fail, max_calls=1) == []


def test_the_models_error_ends_them_all():
    def ask(rows):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        run_in_lockstep([counting(2)], ask, max_calls=2)
