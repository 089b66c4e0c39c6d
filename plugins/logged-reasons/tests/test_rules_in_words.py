"""Rules in words: rules where all of them are about columns, else texts, and the result says so."""

import json

import numpy as np
import pandas as pd
import pytest
from faithkit_logged_reasons.rule_columns import DOES_NOT_HOLD
from looping import one_test
from nearly import assert_nearly

import faithkit
from faithkit.inputs.files import parquet
from faithkit.inputs.logs.log_files import ParquetLog, open_log
from faithkit.run.populations.log_scoring import score_log

N = 120
ROWS = np.arange(N)
X = pd.DataFrame({"age": 20 + ROWS % 50, "sex": np.where(ROWS % 3, "Male", "Female"), "debt": (ROWS % 7) / 8})
LABELS = np.where(X["age"] > 40, "no", "yes")
OLD, YOUNG = "age > 40 and sex = ", "IF age <= 40.0 THEN yes"
WORDS = np.where(X["age"] > 40, OLD + X["sex"], YOUNG).astype(object)
RULES = [
    faithkit.Rule(
        [faithkit.plugin.Interval("age", low=40), faithkit.plugin.OneOf("sex", [sex])] if age > 40 else [faithkit.plugin.Interval("age", high=40)]
    )
    for age, sex in zip(X["age"], X["sex"], strict=True)
]  # fmt: skip


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 200)


def write_csv(frame, path):
    frame.to_csv(path.with_suffix(".csv"), index=False)
    return path.with_suffix(".csv")


def write_json(frame, path):
    frame.to_json(path.with_suffix(".jsonl"), orient="records", lines=True)
    return path.with_suffix(".jsonl")


def write_parquet(frame, path):
    frame.to_parquet(path.with_suffix(".parquet"), row_group_size=17)
    return path.with_suffix(".parquet")


WRITERS = [write_csv, write_json, write_parquet]


def score_rules(words, write, path):
    """Score a log, and see that memory gives the same."""
    frame = X.assign(rule=words, label=LABELS)
    log = open_log(str(write(frame, path)), "label", ("rule",), tuple(X.columns))
    assert isinstance(log, ParquetLog) == (write is write_parquet)
    result = score_log(log).result
    in_memory = faithkit.score(LABELS, pd.Series(words), X=X)
    assert_nearly(result.measures, in_memory.measures)
    assert result.remarks == in_memory.remarks
    return result


@one_test
@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_rules_in_words_are_measured_as_the_rules_that_they_are(tmp_path, write):
    result = score_rules(WORDS, write, tmp_path / "log")
    expected = faithkit.score(LABELS, faithkit.Explanations.of(RULES, kind="rule", relation="in-scope"), X=X)
    assert_nearly(result.measures, expected.measures)
    assert result.relation == "in-scope"
    assert result.remarks == {}


@one_test
@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_where_one_text_is_no_rule_all_are_texts_and_the_result_says_so(tmp_path, write):
    words = WORDS.copy()
    words[50:53] = "job = clerk and age > 3"
    result = score_rules(words, write, tmp_path / "log")
    assert result.sufficiency is None
    ((remark, times),) = result.remarks.items()
    assert times == 3
    assert "all are compared as texts" in remark
    assert "'job = clerk' names no column in 'job = clerk and age > 3'" in remark


@one_test
@pytest.mark.parametrize("write", WRITERS)
def test_rules_that_do_not_hold_for_their_own_rows_are_counted_and_rows_without_one(tmp_path, write):
    """Cut points that were rounded: 0.75 is not at most 0.74."""
    words = np.where(X["debt"] > 0.8, "debt > 0.8", "debt <= 0.74").astype(object)
    words[:9] = None
    result = score_rules(words, write, tmp_path / "log")
    assert (result.unexplained, result.relation) == (9, "in-scope")
    assert result.remarks == {DOES_NOT_HOLD: int((X["debt"][9:] == 0.75).sum())}


def test_words_are_known_from_all_parts_of_a_log(tmp_path):
    """A column may be empty in the first part, and have an 'and' in a word of the last."""
    X = pd.DataFrame({"age": ROWS, "city": [None] * 60 + ["b"] * 59 + ["a and age > 3"]})
    words = ["city = a and age > 3"] * 60 + ["city = b"] * 60
    X.assign(label=LABELS, rule=words).to_parquet(tmp_path / "log.parquet", row_group_size=20)
    result = score_log(open_log(str(tmp_path / "log.parquet"), "label", ("rule",), ("age", "city"))).result
    expected = faithkit.score(LABELS, words, X=X)
    assert result.remarks == expected.remarks == {DOES_NOT_HOLD: 61}


@one_test
@pytest.mark.parametrize("words", [["too young", "fine"], ["a", "b"]])
def test_words_that_compare_nothing_are_left_alone(words):
    result = faithkit.score(LABELS, [words[i % 2] for i in ROWS], X=X)
    assert (result.setup.applicability.relation, result.remarks) == (None, {})


def test_a_list_of_rules_says_where_it_applies():
    result = faithkit.score(LABELS, RULES, X=X)
    assert result.relation == "in-scope"
    assert result.sufficiency.value == 1.0
    assert "pass X" in faithkit.score(LABELS, RULES).why_no_sufficiency


@one_test
@pytest.mark.parametrize("conditions", [tuple, list, lambda parts: " AND ".join(parts)])
def test_lists_of_conditions_are_conjunctions(conditions):
    words = [
        conditions((f"age > {39.9 if age > 40 else 0}", f"sex = {sex}"))
        for age, sex in zip(X["age"], X["sex"], strict=True)
    ]
    assert faithkit.score(LABELS, words, X=X).relation == "in-scope"


def test_lists_of_conditions_in_json_are_conjunctions(tmp_path):
    rows = [
        {"label": str(label), "age": int(age), "rule": ["20 < age", "age <= 99"]}
        for label, age in zip(LABELS, X["age"], strict=True)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    log = open_log(str(tmp_path / "log.jsonl"), "label", ("rule",), ("age",))
    assert score_log(log).result.contradictions(1)[0].explanation == "20 < age ≤ 99"


def test_rules_in_their_json_form_may_be_written_into_json_as_they_are(tmp_path):
    rows = [
        {"label": str(label), "age": int(age), "sex": sex, "rule": rule.to_json()}
        for label, age, sex, rule in zip(LABELS, X["age"], X["sex"], RULES, strict=True)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = score_log(open_log(str(tmp_path / "log.jsonl"), "label", ("rule",), ("age", "sex"))).result
    assert result.measures == faithkit.score(LABELS, RULES, X=X).measures


# --- rules from an explainer -------------------------------------------------------------------------------


def refuse(rows):
    return np.where(rows["age"] > 40, "no", "yes")


def explain_in_words(rows):
    """Explain by the words of the log; fail at an age of 30 or 31, and explain nothing at 32."""
    if rows["age"].between(30, 31).any():
        raise ValueError("not this one")
    old = np.where(rows["age"] > 40, OLD + rows["sex"].astype(str), YOUNG)
    return [None if age == 32 else word for age, word in zip(rows["age"], old, strict=True)]


def test_what_an_explainer_says_in_words_is_measured_as_in_a_log():
    result = faithkit.evaluate(refuse, X, explainer=explain_in_words, on_error="record")
    gone = X["age"].between(30, 32)
    expected = faithkit.score(LABELS, np.where(gone, None, WORDS), X=X)
    assert result.measures == expected.measures
    assert result.relation == "in-scope"
    assert result.why_unexplained == {"ValueError": 6, "no explanation": 3}


def test_further_rows_are_explained_by_rules_as_the_first_were():
    result = faithkit.evaluate(refuse, X[X["age"] > 32], explainer=explain_in_words)
    new = pd.DataFrame({"age": [60], "sex": ["Male"], "debt": [0.5]})
    assert result.local(new).explanation == "age > 40 and sex = Male"
    assert result.on(X[X["age"] > 50]).sufficiency.value == 1.0
    unexplained = result.local(new.assign(age=32))
    assert (unexplained.explanation, unexplained.sufficiency.value) == ("no explanation", None)


def test_a_further_row_that_is_explained_by_no_rule_is_refused():
    result = faithkit.evaluate(
        refuse, X, explainer=lambda rows: np.where(rows["age"] > 70, "job > 3", "age > 0")
    )
    with pytest.raises(
        faithkit.errors.InputError, match=r"a further one is no rule .*'job > 3' names no column"
    ):
        result.local(pd.DataFrame({"age": [71], "sex": ["Male"], "debt": [0.5]}))
