"""Where nothing could be checked there is no value, and no zero that looks unfaithful, whatever the estimator."""

import io
import json

import faithkit_html
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test
from pages import page_of

import faithkit
from faithkit.cli import main
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.evaluation_report import EvaluationReport

ESTIMATORS = [
    "leave-one-out",
    "plug-in",
    "majority",
    "verified-only",
    lambda tally: np.ones(tally.owners.shape),
]
LABELS, DISTINCT = [0, 0, 1, 1], ["a", "b", "c", "d"]


@one_test
@pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda estimator: estimator if isinstance(estimator, str) else "a function"
)
def test_no_estimator_has_a_value(estimator):
    consistency = faithkit.score(LABELS, DISTINCT, estimator=estimator).consistency
    assert (consistency.value, consistency.verified) == (None, 0.0)
    assert consistency.bracket == (pytest.approx(1 / 3), 1.0)
    assert (consistency.by_chance, consistency.agree, consistency.checked) == (None, None, 0)
    if consistency.low is not None:
        assert consistency.low < 1 / 3
        assert consistency.high == 1.0
    assert consistency.checkability == "unverifiable"


def test_a_relation_that_holds_for_nobody_has_no_value():
    nobody = faithkit.relation(lambda x, word: False)
    result = faithkit.score(LABELS, ["a"] * 4, X=LABELS, relation=nobody)
    assert result.sufficiency.value is None
    assert result.consistency.value is not None


def test_explanations_that_are_all_missing_have_no_value():
    assert faithkit.score(LABELS, [None] * 4).consistency.value is None


def test_a_row_without_others_may_agree_with_none_or_all():
    local = faithkit.score(LABELS, DISTINCT).local(0).consistency
    assert (local.value, local.low, local.high) == (None, 0.0, 1.0)


def test_unfaithful_is_still_a_zero():
    consistency = faithkit.score([0, 1], ["a", "a"]).consistency
    assert (consistency.value, consistency.verified) == (0.0, 1.0)


def test_json_has_null_and_csv_an_empty_cell():
    result = EvaluationReport.of(faithkit.score(LABELS, DISTINCT))
    payload = result.to_dict()["measures"]["consistency"]
    assert payload["value"] is None
    assert (payload["high"], payload["bracket"]) == (1.0, [pytest.approx(1 / 3), 1.0])
    table = result.to_frame().to_csv(index=False)
    assert table.splitlines()[1].startswith("all,consistency,4,,,0.333")
    assert pd.read_csv(io.StringIO(table))["value"].isna().all()


@one_test
@pytest.mark.parametrize("estimator", ESTIMATORS[:4])
def test_reports_have_a_dash_and_say_why(estimator):
    result = faithkit.score(LABELS, DISTINCT, estimator=estimator)
    assert result.verdict.name == "nothing was tested"
    assert "\nconsistency  –  nothing could be compared\n" in str(result)
    text = result.to_text(verbose=True)
    (row,) = [line.split() for line in text.splitlines() if line.startswith("consistency  ")]
    assert row[row.index("%") - 1 :] == ["0", "%", "–", "–"]  # of what was checked, nobody agrees
    assert "No two instances share an explanation" in " ".join(text.split())
    assert "Nothing could be checked for consistency" in page_of(result)


def test_the_first_screen_does_not_say_that_rows_without_an_estimate_were_compared():
    X = pd.DataFrame({"c": [0, 0, 1, 1] * 10})
    conditions = [
        faithkit.plugin.OneOf("c", [value, 2 + row]) for row, value in enumerate(X["c"])
    ]  # no two are equal
    rules = faithkit.Explanations.of(
        [faithkit.Rule([condition]) for condition in conditions], kind="rule", relation="in-scope"
    )
    result = faithkit.score([0, 1, 1, 1] * 10, rules, X, control_draws=0)
    assert result.sufficiency.verified == 1
    assert result.verdict.measure == "sufficiency"  # which alone was tested
    text = " ".join(str(result).split())
    assert "consistency – nothing could be compared" in text
    assert "Consistency: no two instances share an explanation, so nothing could be checked." in text
    assert "compared with each other" not in text


def test_a_plot_without_a_value_is_drawn():
    assert faithkit_html.plots.measures(faithkit.score(LABELS, DISTINCT)) is not None


def test_a_difference_to_an_unchecked_result_is_that_of_lower_bounds():
    labels = LABELS * 10
    good, unchecked = faithkit.score(labels, labels), faithkit.score(labels, range(40))
    difference = good.difference(unchecked)
    assert difference.value == pytest.approx(1 - 2 * 20 * 19 / 39 / 40)
    assert difference.low < 0 < difference.high
    comparison = Comparison({"good": good, "unchecked": unchecked})
    assert list(comparison.ranked()) == ["good", "unchecked"]
    (pair,) = comparison.pairs()
    assert (pair.first, pair.second, pair.difference) == ("good", "unchecked", difference)
    assert "–" in str(comparison)
    assert page_of(comparison)


@pytest.mark.filterwarnings("ignore:the groups of:faithkit.errors.FaithkitWarning")
def test_subgroups_that_could_not_be_checked_have_no_value_and_a_difference_of_bounds():
    parts = faithkit.score([0, 0, 1, 1], ["a", "a", "b", "c"]).by(["f", "f", "m", "m"])
    table = parts.to_frame()
    assert table["value"].isna().tolist() == [False, True]
    assert table["agree"].isna().tolist() == [False, True]
    assert table["difference"].tolist() == [0.0, 0.0]  # merged, both rows of m agree, too
    payload = parts.to_dict()["groups"]["consistency"]
    assert (payload["m"]["value"], payload["m"]["agree"], payload["m"]["checked"]) == (None, None, 0)
    assert (payload["f"]["value"], payload["f"]["agree"], payload["f"]["checked"]) == (1.0, 1.0, 2)
    rows = [line.split() for line in str(parts).splitlines() if line.startswith(("f ", "m "))]
    assert [row[-1] for row in rows[:2]] == ["2", "–"]  # agree: 100 % of 2, and nothing
    assert page_of(EvaluationReport.of(faithkit.score([0, 1], ["a", "b"]), by=["f", "m"]))


def test_the_command_line_writes_null_and_empty(tmp_path):
    pd.DataFrame({"label": LABELS, "why": DISTINCT}).to_csv(tmp_path / "log.csv", index=False)
    command = ["score", str(tmp_path / "log.csv"), "--prediction", "label", "--explanation", "why"]
    output = CliRunner().invoke(main, [*command, "--out", "-", "--format", "json"]).stdout
    assert json.loads(output)["measures"]["consistency"]["value"] is None
    (header, row) = CliRunner().invoke(main, [*command, "--out", "-", "--format", "csv"]).stdout.splitlines()
    assert row.split(",")[header.split(",").index("value")] == ""
