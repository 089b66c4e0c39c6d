"""Measures by predicted label in results: what is shown where, saved and loaded, and refused."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test
from pages import page_of

import faithkit
from faithkit.cli import main
from faithkit.errors import InputError
from faithkit.run.evaluation_report import EvaluationReport

# 1,082 providers: of 54 flagged ones 50 share an explanation with 19 that are not
FLAGS = ["clean"] * 1028 + ["flagged"] * 54
REASONS = ["usual"] * 1009 + ["costly"] * 69 + ["usual"] * 4


@pytest.fixture(scope="module")
def rare():
    return faithkit.score(FLAGS, REASONS)


def test_a_rare_label_has_its_own_estimate(rare):
    assert rare.consistency.estimate > 0.95
    flagged = rare.by_label()["consistency"]["flagged"]
    assert flagged.n == 54
    assert flagged.estimate == pytest.approx((50 * 49 / 68 + 4 * 3 / 1012) / 54)
    assert flagged.chance == pytest.approx(53 / 1081)
    assert flagged.low < flagged.estimate < flagged.high < rare.consistency.low
    assert flagged.finding == "above chance"


def test_a_text_shows_labels_where_one_has_most_rows_or_they_are_asked_for(rare):
    assert "by_label() (CLI: --by-label) shows each" in " ".join(str(rare).split())
    assert "consistency by predicted label" in rare.to_text(verbose=True)
    even = faithkit.score(["yes", "no"] * 20, ["a", "b", "b", "b"] * 10)
    assert "by predicted label" not in even.to_text(verbose=True)
    assert "by_label()" not in str(even)
    assert "by predicted label" in str(EvaluationReport.of(even, by_label=True))
    single_label = faithkit.score(["yes"] * 20, ["a", "b"] * 10)
    assert "by predicted label" not in single_label.to_text(verbose=True)
    for result in (rare, even, single_label):
        assert "by predicted label" in page_of(result)
        assert set(result.to_dict()["by_label"]["measures"]) == {"consistency"}


def test_the_table_fits_eighty_columns_and_says_what_is_missing():
    labels = ["a label with a long name"] * 990 + ["flagged"] * 9 + ["odd"]
    text = str(faithkit.score(labels, ["a", "b"] * 500).by_label())
    assert max(map(len, text.splitlines())) <= 80
    assert "odd: no estimate, since no other row has this label." in text
    assert "corrected for the number of labels (Holm)" in " ".join(text.split())


def test_at_most_fifty_labels_are_shown_and_the_others_counted():
    result = faithkit.score([f"label {i % 52}" for i in range(110)], ["a", "b"] * 55)
    payload = result.to_dict()["by_label"]
    assert len(payload["measures"]["consistency"]) == 50
    assert payload["left_out"] == 2
    assert "2 rarer labels left out." in str(result.by_label())
    assert len(result.by_label(k=60)["consistency"]) == 52


def test_a_saved_result_has_its_labels(rare, tmp_path):
    numbers = faithkit.score([1, 1, 1, 2, 2], ["a", "a", "b", "b", "b"])
    for result in (rare, numbers):
        result.write(tmp_path / "saved.json")
        loaded = faithkit.load(tmp_path / "saved.json")
        assert loaded.by_label().to_dict() == result.by_label().to_dict()
        assert list(loaded.by_label()["consistency"]) == list(result.by_label()["consistency"])
        assert str(loaded) == str(result)


def test_a_result_saved_without_labels_still_loads(rare, tmp_path):
    payload = rare.to_dict(by_label=False)
    (tmp_path / "old.json").write_text(json.dumps(payload))
    loaded = faithkit.load(tmp_path / "old.json")
    assert loaded.to_dict() == payload
    with pytest.raises(InputError, match="measures by label are not available in a result that was loaded"):
        loaded.by_label()


@one_test
@pytest.mark.parametrize(
    ("predictions", "outcome"), [([0.5, 1.5, 2.5, 0.5], "numbers"), ([[0.5, 0.5], [1, 0]] * 2, "scores")]
)
def test_numbers_and_scores_have_no_labels(predictions, outcome):
    result = faithkit.score(predictions, ["a", "a", "b", "b"], outcome=outcome)
    with pytest.raises(InputError, match=f"nothing to measure by label: the predictions are {outcome}"):
        result.by_label()
    with pytest.raises(InputError, match="--by-label"):
        EvaluationReport.of(result, by_label=True)
    assert "by_label" not in result.to_dict()


def test_a_finding_that_tested_nothing_is_that_of_every_label():
    labels = faithkit.score(["yes", "no"] * 20, ["a", "b"] * 20).by_label()["consistency"]
    assert {label.finding for label in labels.values()} == {"names the label"}


def test_sufficiency_has_labels_too():
    X = pd.DataFrame({"age": np.arange(60) % 12, "row": np.arange(60)})
    starts = X["age"] // 4 * 4.0
    rules = [
        faithkit.Rule([faithkit.plugin.Interval("age", low=start - 0.5, high=start + 3.5)])
        for start in starts
    ]
    explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    result = faithkit.score(np.where(X["age"] > 6, "old", "young"), explanations, X=X)
    sufficiency = result.by_label()["sufficiency"]
    # of 5 rows per age, ages 4 to 7 share a rule: 15 young rows and 5 old ones
    assert sufficiency["young"].estimate == pytest.approx((20 + 15 * 14 / 19) / 35)
    assert sufficiency["old"].estimate == pytest.approx((20 + 5 * 4 / 19) / 25)


@pytest.fixture
def log(tmp_path):
    frame = pd.DataFrame({"flag": FLAGS, "reason": REASONS})
    frame["phi"] = np.arange(len(frame)) % 9 / 9
    frame.to_parquet(tmp_path / "log.parquet", row_group_size=200)
    return str(tmp_path / "log.parquet")


def score_log(*arguments):
    run = CliRunner().invoke(main, ["score", *arguments, "--diagnose", "none"])
    assert run.exit_code == 0, run.output
    return run


def test_a_log_that_is_read_in_pieces_has_the_same_labels(log, rare):
    payload = json.loads(
        score_log(
            log, "--prediction", "flag", "--explanation", "reason", "--out", "-", "--format", "json"
        ).stdout
    )
    assert payload["by_label"] == rare.to_dict()["by_label"]


def test_a_relation_of_a_log_in_pieces_has_the_labels_of_memory(log, monkeypatch):
    relation = ("--explanation", "phi", "--relation", "near-explanation:tau=0.1", "--by-label")
    in_memory = score_log(log, "--prediction", "flag", *relation).stdout
    assert "sufficiency by predicted label" in in_memory
    monkeypatch.setattr("faithkit.run.populations.log_scoring.MAX_ROWS", 0)  # a small log is read into memory
    pieces = score_log(log, "--prediction", "flag", *relation).stdout
    assert pieces[pieces.index("by predicted label") :] == in_memory[in_memory.index("by predicted label") :]


def test_groups_that_follow_the_predictions_are_replaced_by_the_labels(log):
    columns = ("--prediction", "flag", "--explanation", "reason", "--by", "flag")
    result = score_log(log, *columns)
    assert "'flag' follow from the prediction" in " ".join(result.stderr.split())
    assert "the table by predicted label is shown instead" in " ".join(result.stdout.split())
    assert "consistency by predicted label" in result.stdout
    assert "consistency by flag" not in result.stdout
    payload = json.loads(score_log(log, *columns, "--out", "-", "--format", "json").stdout)
    assert "subgroups" not in payload
    assert set(payload["by_label"]["measures"]["consistency"]) == {"clean", "flagged"}


def test_a_table_has_a_row_per_label_where_labels_are_asked_for(log):
    columns = ("--prediction", "flag", "--explanation", "reason")
    assert "prediction = flagged" not in score_log(log, *columns, "--out", "-", "--format", "csv").stdout
    assert (
        "prediction = flagged,consistency,54"
        in score_log(log, *columns, "--by-label", "--out", "-", "--format", "csv").stdout
    )
