"""Limits in Python: kept, missed, or not to be checked, by the lower end of the interval, as on the command line."""

import numpy as np
import pytest
from looping import one_test

import faithkit

LABELS = ["yes", "no"] * 50
REASONS = ["a", "b", "c", "d"] * 25  # two for each label
RESULT = faithkit.score(LABELS, REASONS)
LOW = RESULT.consistency.low


@one_test
@pytest.mark.parametrize(
    ("limit", "is_kept"),
    [(0, True), (LOW, True), (np.float32(0.5), True), (round(LOW, 9) + 1e-8, False), (1, False)],
)
def test_the_lower_end_is_compared_with_the_limit(limit, is_kept):
    (judgement,) = RESULT.judge(consistency=limit)
    assert (judgement.measure, judgement.limit, judgement.is_kept) == ("consistency", float(limit), is_kept)
    assert (", not below " if is_kept else ", below ") in judgement.words


@one_test
@pytest.mark.parametrize(
    ("result", "measure", "reason"),
    [
        (RESULT, "sufficiency", "need a relation that says where they apply"),
        (
            faithkit.score(["yes", "no"], ["a", "b"]),
            "consistency",
            "nothing else shows that it is above chance",
        ),
        (faithkit.score(["yes", "no"], [None, None]), "consistency", "no row has an explanation"),
        (
            faithkit.score(LABELS, REASONS, estimator="majority"),
            "consistency",
            "the estimator has no interval",
        ),
    ],
)
def test_what_is_not_known_is_neither_kept_nor_missed(result, measure, reason):
    (judgement,) = result.judge(**{measure: 0})
    assert judgement.is_kept is None
    assert reason in judgement.words
    assert judgement.unchecked == f"{measure}=0 cannot be checked: {judgement.words}."


def test_sufficiency_is_compared_with_its_own_chance_which_a_pool_changes():
    X = np.arange(60.0)[:, None]
    rule = faithkit.Rule([faithkit.Interval(0, high=29)])
    explanations = faithkit.Explanations.of([rule] * 30, kind="rule")
    result = faithkit.score(
        ["no"] * 30, explanations, X[:30], relation="in-scope", pool=(X[30:], ["yes"] * 30)
    )
    (limit,) = result.judge(sufficiency=0.5)
    assert (limit.is_kept, limit.is_above_chance) == (True, True)  # 29 of 59 others are refused
    limit, gate = result.judge(sufficiency=0.5, above_chance=True)
    assert gate.words.endswith("above chance (0.492)")


def test_a_result_from_a_file_is_judged_alike(tmp_path):
    RESULT.write(tmp_path / "r.json")
    assert faithkit.load(tmp_path / "r.json").judge(consistency=0.9) == RESULT.judge(consistency=0.9)


def test_limits_are_judged_in_order_and_none_without_any():
    judgements = RESULT.judge(sufficiency=0.5, consistency=0.5)
    assert [judgement.measure for judgement in judgements] == ["consistency", "sufficiency"]
    assert RESULT.judge() == []


@one_test
@pytest.mark.parametrize("limit", [80, -0.1, float("nan"), float("inf"), "0.8", True, [0.8]])
def test_what_is_no_share_is_refused(limit):
    with pytest.raises(
        faithkit.errors.InputError, match="consistency must be a number from 0 to 1, as a limit, got"
    ):
        RESULT.judge(consistency=limit)
