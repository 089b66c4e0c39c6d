"""The rows of a result, exported as a log: `score` reads them back with the same numbers."""

import functools
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.errors import InputError
from faithkit.explanations.dates import dates_to_days
from faithkit.run.exported_rows import write_log

FEATURES = "*,!prediction*,!explanation*,!group*,!weight*,!cluster*"


def build_odd_table(n=40):
    """Return a table with texts, dates, categories, missing values, odd names and a column named prediction."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age, in years": rng.integers(18, 70, n),
            "job": pd.Series(rng.choice(["clerk", "naïve = cook", ""], n), dtype=object).mask(
                rng.random(n) < 0.2
            ),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "size": pd.Categorical(rng.choice(["S", "M"], n)),
            "debt": pd.array(rng.integers(0, 9, n), dtype="Int64"),
        }
    )


def explain_by_rules(X):
    """Return a rule for each row but the first, about a number with many digits, a text and a date."""
    moment = 18_500.123456  # days since 1970
    rules = [
        faithkit.Rule(
            [
                faithkit.plugin.Interval("age, in years", high=40.1000000000000001)
                if age <= 40
                else faithkit.plugin.Interval("age, in years", low=40.1),
                faithkit.plugin.OneOf("size", [size]),
                faithkit.plugin.Interval("since", high=moment, dates=True)
                if days <= moment
                else faithkit.plugin.Interval("since", low=moment, dates=True),
            ]
        )
        for age, size, days in zip(X["age, in years"], X["size"], dates_to_days(X["since"]), strict=True)
    ]
    return [None, *rules[1:]]


@functools.cache
def score_odd_table():
    X = build_odd_table()
    labels = np.where(X["age, in years"] < 45, "yes", "no")
    explanations = faithkit.Explanations.of(explain_by_rules(X), kind="rule", relation="in-scope")
    weights = np.where(X["size"] == "S", 2.0, 1.0)
    return faithkit.score(labels, explanations, X, weights=weights, clusters=X["debt"])


@one_test
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_log_of_rules_on_an_odd_table_has_the_same_numbers(tmp_path, ending):
    result = score_odd_table()
    path = tmp_path / f"log.{ending}"
    write_log(result.to_frame("explanations"), path)
    options = ["--prediction", "prediction", "--explanation", "explanation", "--features", FEATURES]
    options += [
        "--weights",
        "weight",
        "--clusters",
        "cluster",
        "--diagnose",
        "none",
        "--out",
        "-",
        "--format",
        "json",
    ]
    run = CliRunner().invoke(main, ["score", str(path), *options])
    assert run.exit_code == 0, run.output
    payload = json.loads(run.stdout)
    assert payload["unexplained"] == 1
    for measure in ("consistency", "sufficiency"):
        for number in ("value", "estimate", "low", "high", "verified"):
            assert payload["measures"][measure][number] == pytest.approx(
                result.to_dict()["measures"][measure][number]
            )


def test_each_number_of_a_vector_has_a_column_and_equal_explanations_share_a_group():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "prediction": ["x", "y", "z"]})
    phi = pd.DataFrame({"a": [0.12, 0.13, np.nan], "prediction": [0.0, 0.0, np.nan]})
    frame = faithkit.score([1, 1, 0], phi, X, discretizer="1fp").to_frame("explanations")
    assert list(frame) == [
        "a",
        "prediction",
        "prediction_",
        "explanation_a",
        "explanation_prediction",
        "group",
    ]
    assert frame["prediction_"].tolist() == [1, 1, 0]
    assert frame["explanation_a"].tolist()[:2] == [0.12, 0.13]
    assert pd.isna(frame["explanation_a"][2])
    assert frame["group"].tolist()[:2] == [0, 0]
    assert pd.isna(frame["group"][2])


def test_rules_about_an_array_name_the_columns_of_the_log():
    X = np.array([[0.5, 1.0], [2.5, 1.0]])
    explanations = faithkit.Explanations.of(
        [faithkit.Rule([faithkit.plugin.Interval(0, high=1.5)])] * 2, kind="rule"
    )
    frame = faithkit.score([0, 1], explanations, X).to_frame("explanations")
    assert list(frame) == ["x0", "x1", "prediction", "explanation", "group"]
    rule = faithkit.Rule([faithkit.plugin.Interval("x0", high=1.5)])
    assert list(map(faithkit.Rule.from_json, frame["explanation"])) == [rule] * 2


def test_scores_have_a_column_for_each_label():
    frame = faithkit.score([[0.25, 0.75], [1.0, 0.0]], ["a", "b"], outcome="scores").to_frame("explanations")
    assert frame[["prediction_0", "prediction_1"]].to_numpy().tolist() == [[0.25, 0.75], [1.0, 0.0]]


def test_other_tables_and_endings_are_refused(tmp_path):
    result = faithkit.score([0, 1], ["a", "b"])
    with pytest.raises(InputError, match="no table 'rows': ask for 'measures', 'explanations' or 'losses'"):
        result.to_frame("rows")
    result.write(tmp_path / "result.json")
    with pytest.raises(InputError, match="the rows are not in memory"):
        faithkit.load(tmp_path / "result.json").to_frame("explanations")
    run = CliRunner().invoke(main, ["evaluate", "--export", "rows.xlsx"])
    assert run.exit_code == 1
    assert "cannot export to rows.xlsx" in run.output


def test_a_parquet_log_has_texts_where_arrow_has_no_type(tmp_path):
    X = pd.DataFrame(
        {
            "mixed": [1, "a", None],
            "complex": [1j, 2j, 3j],
            "sparse": pd.arrays.SparseArray([0, 0, 1]),
            "whole": pd.array([1, None, 3], dtype="Int64"),
        }
    )
    write_log(
        faithkit.score([0, 1, 1], ["a", "b", "a"], X).to_frame("explanations"), tmp_path / "log.parquet"
    )
    log = pd.read_parquet(tmp_path / "log.parquet")
    assert log["mixed"].tolist()[:2] == ["1", "a"]
    assert pd.isna(log["mixed"][2])
    assert log["complex"].tolist() == ["1j", "2j", "3j"]
    assert log["sparse"].tolist() == [0, 0, 1]
    assert log["whole"].dropna().tolist() == [1, 3]
