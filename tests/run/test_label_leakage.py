"""An explanation that names the prediction is pointed out, and one that only reads so is not."""

import numpy as np
import pandas as pd
import pytest
from faithkit_integrations import judge
from looping import one_test

import faithkit
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log

NOTE = "Nearly every explanation names the prediction of its own row"

TELLING = {
    "an arrow": (["approved", "declined"], ["debt ≤ 3 → approved", "debt > 3 → declined"]),
    "letters of another size": (
        ["Approved", "Declined"],
        ["APPROVED for low debt", "declined for high debt"],
    ),
    "one label in another": (["approved", "not approved"], ["low -> approved", "high -> not approved"]),
    "one label before another": (["high", "high risk"], ["class high by age", "class high risk by age"]),
    "numbers": ([1, 0], ["IF x > 1 THEN 1", "IF x <= 1 THEN 0"]),
    "a class": (["yes", "no"], ["class: yes", "class = no"]),
    "the label alone": (["yes", "no"], ["yes", "no"]),
    "an answer": (
        ["A", "B"],
        ["a rose: (A) or (B)? The best answer is: (A)", "a stone: (A) or (B)? The best answer is: (B)"],
    ),
    "an answer in brackets": (["(A)", "(B)"], ["So the answer is (A).", "So the answer is: (B)."]),
    "a reason": (["setosa", "virginica"], ["setosa because petal < 2", "virginica because petal > 5"]),
    "a part of it": (["setosa", "virginica"], [("petal < 2", "setosa"), ("petal > 5", "virginica")]),
}

INNOCENT = {
    "values": (["yes", "no"], ["owner = yes", "owner = no"]),
    "values in words": (["yes", "no"], ["owner yes", "owner no"]),
    "quoted values": (["male", "female"], ["title == 'male'", "title == 'female'"]),
    "sets": (["male", "female"], ["title in {'male'}", "title in {'female'}"]),
    "limits": ([1, 0], ["x > 1", "x ≤ 0"]),
    "limits before": ([1, 0], ["1 < x", "0 ≥ x"]),
    "counts": ([1, 0], ["1 account", "0 accounts"]),
    "fractions": ([1, 0], ["→ 1.5", "→ 0.5"]),
    "both": (["good one", "bad one"], ["a good one, no bad one", "a bad one, no good one"]),
    "letters": (["A", "B"], ["a rose or (B)", "plan B for a stone"]),
    "the other": (["setosa", "virginica"], ["virginica because petal < 2", "setosa because petal > 5"]),
    "one of them": (["ok", "wrong"], ["all is ok", "something else"]),
    "parts of words": (["fit", "out"], ["outfit", "outfit too"]),
    "truths": ([True, False], [True, False]),
    "vectors": ([1, 0], [[1.0], [0.0]]),
}


def name_warnings(result):
    """Return the sentences of the warnings about labels in explanations."""
    return tuple(warning.sentence for warning in result.warnings if warning.name == "labels")


def find_leakage(labels, explanations, times=20):
    return name_warnings(faithkit.score(labels * times, explanations * times, clusters=range(2 * times)))


@one_test
@pytest.mark.parametrize("case", TELLING)
def test_an_explanation_that_names_its_own_prediction_is_pointed_out(case):
    assert find_leakage(*TELLING[case])[0].startswith(NOTE)


@one_test
@pytest.mark.parametrize("case", INNOCENT)
def test_an_explanation_that_only_reads_like_it_is_not(case):
    assert find_leakage(*INNOCENT[case]) == ()


@one_test
@pytest.mark.parametrize(("others", "is_noted"), [(0, True), (2, True), (3, False)])
def test_nearly_every_row_must_have_such_an_explanation(others, is_noted):
    labels, why = ["approved", "declined"] * 20, ["→ approved", "→ declined"] * 20
    result = faithkit.score(labels, ["no reason"] * others + why[others:], clusters=range(40))
    assert bool(name_warnings(result)) == is_noted  # 2 of 40 are one in twenty


@one_test
@pytest.mark.parametrize("filling", ["=", "->", "- ", "class ", "predict", " ", "a = "])
def test_a_long_text_takes_no_longer_and_its_ends_are_read(filling):
    long = filling * 50_000
    assert (
        find_leakage(["setosa", "virginica"], [f"{long} → setosa", f"virginica, for {long}"], times=5) != ()
    )
    assert find_leakage(["setosa", "virginica"], [f"{long} 1", f"{long} 2"], times=5) == ()


def test_of_many_explanations_some_are_looked_at_whatever_the_order_of_rows():
    labels = ["approved", "declined"] * 300
    why = [f"reason {row} → {label}" for row, label in enumerate(labels)]
    telling = np.arange(600) % 20 != 0  # 95 of 100: by those that are looked at it may be either
    mixed = [
        text if says else f"reason {row}" for row, (text, says) in enumerate(zip(why, telling, strict=True))
    ]
    for explanations in (why, mixed):
        is_noted = bool(name_warnings(faithkit.score(labels, explanations)))
        for seed in range(2):
            order = np.random.default_rng(seed).permutation(600)
            again = faithkit.score([labels[i] for i in order], [explanations[i] for i in order])
            assert bool(name_warnings(again)) == is_noted
        assert is_noted or explanations is mixed


def test_one_prediction_alone_is_named_by_anything():
    assert find_leakage(["ok", "ok"], ["ok", "all ok"]) == ()


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_logs_on_disk_have_the_note_and_one_about_columns_in_two_roles(suffix, tmp_path):
    labels = ["approved", "declined"] * 20
    log = pd.DataFrame({"label": labels, "why": [f"debt → {label}" for label in labels]})
    path = tmp_path / f"log.{suffix}"
    log.to_csv(path, index=False) if suffix == "csv" else log.to_parquet(path)
    [warning] = name_warnings(score_log(open_log(str(path), "label", ("why",))).result)
    assert warning.startswith(NOTE)
    both = score_log(open_log(str(path), "label", ("label,why",))).result
    assert both.notes[0] == "'label' is read both as the prediction and as its explanation."
    assert name_warnings(both)[0].startswith(NOTE)


def test_a_row_without_an_explanation_does_not_hide_that_each_prediction_has_one_explanation():
    labels, words = ["yes", "no"] * 50, ["early", "late"] * 50
    for explanations in (words, [None, *words[1:]]):
        result = faithkit.score(labels, explanations)
        assert result.consistency.finding == "names the label"
        assert [gate.is_kept for gate in judge(result, consistency=0.8)] == [None]


def test_consistency_of_explanations_that_name_the_prediction_passes_no_gate(tmp_path):
    rng = np.random.default_rng(0)
    labels, features = rng.choice(["approved", "declined"], 400), rng.choice(["debt", "age"], 400)
    reasons = [f"{label} because of {feature}" for label, feature in zip(labels, features, strict=True)]
    result = faithkit.score(labels, reasons)
    result.write(tmp_path / "result.json")
    before = faithkit.score(labels[:300], reasons[:300])
    for judged in (result, faithkit.load(tmp_path / "result.json")):
        [limit], [chance] = judge(judged, consistency=0.9), judge(judged, above_chance=True)
        [as_good] = judge(judged, reference=before, as_good={"consistency": 0.1})
        assert limit.is_kept is chance.is_kept is as_good.is_kept is None
        assert as_good.words.startswith("here nearly every explanation names the prediction")
