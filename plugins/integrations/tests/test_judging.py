"""Limits in Python: kept, missed, or not to be checked, by the lower end of the interval, as on the command line."""

import re

import numpy as np
import pytest
from faithkit_integrations import judge
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
    (judgement,) = judge(RESULT, consistency=limit)
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
    (judgement,) = judge(result, **{measure: 0})
    assert judgement.is_kept is None
    assert reason in judgement.words
    assert judgement.unchecked == f"{measure}=0 cannot be checked: {judgement.words}."


def test_sufficiency_is_compared_with_its_own_chance_which_a_pool_changes():
    X = np.arange(60.0)[:, None]
    rule = faithkit.Rule([faithkit.plugin.Interval(0, high=29)])
    explanations = faithkit.Explanations.of([rule] * 30, kind="rule")
    result = faithkit.score(
        ["no"] * 30, explanations, X[:30], relation="in-scope", pool=(X[30:], ["yes"] * 30)
    )
    (limit,) = judge(result, sufficiency=0.5)
    assert (limit.is_kept, limit.is_above_chance) == (True, True)  # 29 of 59 others are refused
    limit, gate = judge(result, sufficiency=0.5, above_chance=True)
    assert gate.words.endswith("above chance (0.492)")


def test_a_result_from_a_file_is_judged_alike(tmp_path):
    RESULT.write(tmp_path / "r.json")
    loaded = faithkit.load(tmp_path / "r.json")
    assert list(judge(loaded, consistency=0.9)) == list(judge(RESULT, consistency=0.9))


def test_limits_are_judged_in_order():
    judgements = judge(RESULT, sufficiency=0.5, consistency=0.5)
    assert [judgement.measure for judgement in judgements] == ["consistency", "sufficiency"]
    assert judgements[0] == next(iter(judgements))


@one_test
@pytest.mark.parametrize(
    ("limits", "is_kept"),
    [
        ({"consistency": 0.5}, True),
        ({"consistency": 1}, False),
        ({"sufficiency": 0}, None),
        ({"consistency": 1, "sufficiency": 0}, None),
    ],
)
def test_a_judgement_is_true_only_if_every_gate_is_kept(limits, is_kept):
    judgement = judge(RESULT, **limits)
    assert (judgement.is_kept, bool(judgement)) == (is_kept, is_kept is True)
    assert judgement.to_dict()["is_kept"] is is_kept


@one_test
@pytest.mark.parametrize(
    ("read", "new"),
    [
        (lambda: RESULT.judge, "faithkit_integrations.judge(result, consistency=0.8)"),
        (lambda: faithkit.scorer, "faithkit_integrations.scorer"),
        (lambda: faithkit.results.GateResult, "faithkit_integrations.GateResult"),
    ],
)
def test_an_old_name_says_the_new_one(read, new):
    with pytest.raises(AttributeError, match=re.escape(new)):
        read()


def test_what_is_no_result_is_refused():
    with pytest.raises(
        faithkit.errors.InputError, match="judge takes what evaluate, score or load returned, got a str"
    ):
        judge("result.json", consistency=0.5)


@one_test
@pytest.mark.parametrize("limit", [80, -0.1, float("nan"), float("inf"), "0.8", True, [0.8]])
def test_what_is_no_share_is_refused(limit):
    with pytest.raises(
        faithkit.errors.InputError, match="consistency must be a number from 0 to 1, as a limit, got"
    ):
        judge(RESULT, consistency=limit)
