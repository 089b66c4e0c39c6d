"""Searches of many rows advance together, and none of them notices the others."""

from functools import cache

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


def predict_three_labels(frame):
    """Return three labels by age and job; an old row is old whatever its job."""
    old, cook = (frame["age"] > 60).to_numpy(), (frame["job"] == "a").to_numpy()
    return np.where(old, "old", np.where(cook, "cook", "young"))


class Counted:
    """A model that counts how often it is asked, and about how many rows."""

    def __init__(self, model):
        self.model, self.calls = model, []

    def predict(self, frame):
        self.calls.append(len(frame))
        return self.model(frame)


def fit_dice(model, **params):
    dice = faithkit.plugin.registry().create("explainer", "dice", params)
    return dice.fit(faithkit.Predictor(model), workers(150))


def explain(dice, X, seed=0):
    return dice.explain(X, faithkit.plugin.row_seeds(X, seed))


@cache
def explain_six_rows(method):
    """Return an explainer, six rows, and their counterfactuals."""
    X, dice = workers(6, seed=1), fit_dice(predict_three_labels, method=method)
    return dice, X, explain(dice, X).values


# --- the rows of a batch ---------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("method", "sparsity"), [("random", "binary"), ("genetic", "linear"), ("kdtree", None)]
)
def test_rows_alone_equal_rows_in_a_batch_in_any_order(method, sparsity):
    X, dice = workers(3, seed=1), fit_dice(predict_three_labels, method=method, sparsity=sparsity)
    together = explain(dice, X).values
    alone = pd.concat([explain(dice, X[i : i + 1]).values for i in range(len(X))], ignore_index=True)
    turned = explain(dice, X[::-1]).values[::-1].reset_index(drop=True)
    pd.testing.assert_frame_equal(together, alone)
    pd.testing.assert_frame_equal(together, turned)


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_how_many_rows_a_call_takes_changes_nothing(method, monkeypatch):
    dice, X, expected = explain_six_rows(method)
    monkeypatch.setattr(lockstep, "ROWS_PER_CALL", 2)
    pd.testing.assert_frame_equal(explain(dice, X).values, expected)


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_a_row_that_dice_cannot_take_changes_no_other(method):
    dice, X, expected = explain_six_rows(method)
    spoilt = X.astype({"age": float})
    spoilt.loc[[1, 2, 4], "age"] = [np.nan, 30.5, np.inf]
    spoilt.loc[5, "job"] = "king"
    explanations = explain(dice, spoilt)
    assert explanations.missing.tolist() == [False, True, True, False, True, True]
    pd.testing.assert_frame_equal(explanations.values.iloc[[0, 3]], expected.iloc[[0, 3]])


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_ten_times_the_rows_are_hardly_more_calls(method):
    model = Counted(predict_three_labels)
    dice = fit_dice(model, method=method)
    n_calls = []
    for n_rows in (2, 20):
        model.calls.clear()
        explain(dice, workers(n_rows, seed=1))
        n_calls.append(len(model.calls))
    assert n_calls[1] < 3 * n_calls[0]


def test_the_random_search_asks_about_few_rows():
    # dice-ml asks about two thousand copies of each; here many of them have the other label
    model = Counted(lambda frame: (frame["age"] > 40).to_numpy() ^ (frame["sex"] == "m").to_numpy())
    dice, X = fit_dice(model, sparsity=None), workers(40, seed=1)
    model.calls.clear()
    explain(dice, X)
    assert sum(model.calls) < 60 * len(X)


# --- the limit on questions ------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(("method", "max_calls"), [("random", 9), ("genetic", 5), ("kdtree", 3)])
def test_the_limit_on_questions_holds_for_each_row(method, max_calls):
    X, dice = workers(3, seed=1), fit_dice(predict_three_labels, method=method, max_calls=max_calls)
    together = explain(dice, X)
    alone = [explain(dice, X[i : i + 1]) for i in range(len(X))]
    assert together.remarks.tolist() == [explanations.remarks[0] for explanations in alone]
    pd.testing.assert_frame_equal(
        together.values, pd.concat([explanations.values for explanations in alone], ignore_index=True)
    )


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_a_hopeless_row_ends_and_the_others_have_their_counterfactuals(method):
    # the job alone may change
    X = workers(12, seed=1)
    old = predict_three_labels(X) == "old"
    model = Counted(predict_three_labels)
    dice = fit_dice(model, method=method, features_to_vary=["job"], max_calls=30)
    model.calls.clear()
    explanations = explain(dice, X)
    assert explanations.missing[old].all()
    assert set(explanations.remarks[old]) == {NOT_FOUND}
    assert method == "kdtree" or not explanations.missing[~old & (X["job"] == "a")].any()
    assert len(model.calls) <= 30 + 2  # all rows together; and their own labels, and what was found


# --- generators ------------------------------------------------------------------------------------------


def sum_answers(n):
    """Ask n times, about one more row each time; return the sum of the answers."""
    total = 0
    try:
        for i in range(n):
            total += (yield np.full((i + 1, 1), n)).sum()
    except OutOfCalls:
        return -total
    return total


def test_searches_of_different_lengths_get_their_own_answers():
    n_rows = []

    def ask(rows):
        n_rows.append(len(rows))
        return rows * 10

    results = run_in_lockstep([sum_answers(n) for n in (2, 0, 3, 1)], ask, max_calls=9)
    assert results == [2 * 10 * 3, 0, 3 * 10 * 6, 10]
    assert n_rows == [3, 4, 3]  # as many rows as searches in the first round, twice as many as in the second


def test_searches_begin_when_there_is_room_in_a_call(monkeypatch):
    begun = []

    def note_begin(n):
        begun.append(n)
        return (yield from sum_answers(n))

    calls = []

    def ask(rows):
        calls.append((len(rows), len(begun)))
        return rows

    monkeypatch.setattr(lockstep, "ROWS_PER_CALL", 3)
    assert run_in_lockstep([note_begin(2) for _ in range(5)], ask, max_calls=2) == [6] * 5
    assert calls == [(3, 3), (4, 3), (3, 4), (3, 5), (2, 5)]


def test_a_search_that_asks_too_often_is_told_so():
    assert run_in_lockstep([sum_answers(2), sum_answers(3)], lambda rows: rows, max_calls=2) == [6, -9]


def test_no_search_needs_no_call():
    assert run_in_lockstep([], pytest.fail, max_calls=1) == []


def test_the_models_error_ends_them_all():
    def ask(rows):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        run_in_lockstep([sum_answers(2)], ask, max_calls=2)
