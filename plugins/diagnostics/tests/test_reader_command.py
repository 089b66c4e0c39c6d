"""`--diagnose reader`: when the command line reads, what it prints, and how it rounds."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from faithkit_diagnostics.reader.reader_sentences import accuracy_sentence, bound_sentence
from looping import one_test

import faithkit
from faithkit.cli import main

SAYS = "A classifier that sees only the explanation"
ROLES = ["--prediction", "label", "--explanation", "phi_*"]


def run(*words):
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Write a log of a few rows, and stand beside it."""

    def write(name, rows=60):
        x = np.random.default_rng(0).normal(size=(rows, 2)).round(3)
        frame = pd.DataFrame({"label": x[:, 0] > 0, "phi_a": x[:, 0], "phi_b": x[:, 1]})
        frame.to_csv(name, index=False)
        return name

    monkeypatch.chdir(tmp_path)
    return write


def test_the_sentence_stands_below_the_table(log):
    done = run("score", log("log.csv"), *ROLES, "--diagnose", "reader:classifier=logistic")
    assert done.exit_code == 0, done.stderr
    table, sentence, _ = done.stdout.partition(SAYS)
    assert "consistency" in table
    assert sentence


def test_nobody_reads_if_told_so(log):
    output = run(
        "score", log("log.csv"), *ROLES, "--diagnose", "none", "--out", "-", "--format", "json"
    ).stdout
    assert json.loads(output)["diagnostics"] == []


@pytest.mark.usefixtures("no_pictures", "no_next_steps", "first_pairs")
def test_json_and_html_tell_the_same(log):
    done = run("score", log("log.csv"), *ROLES, "--out", "result.json", "--out", "result.html")
    assert done.exit_code == 0, done.stderr
    payload = json.loads(Path("result.json").read_text("utf-8"))["diagnostics"][0]["result"]
    assert payload["accuracy"]["value"] > 0.9
    assert SAYS in Path("result.html").read_text("utf-8")


def test_a_large_sample_is_read_only_if_asked(log, monkeypatch):
    large = faithkit.score(np.arange(10_001) % 2, np.arange(10_001) % 3)
    assert large.with_needed(("reader",)).diagnoses == ()
    monkeypatch.setattr("faithkit_diagnostics.reader.diagnostic.MAX_AUTOMATIC_ROWS", 59)
    name = log("log.csv", 60)
    assert run("score", name, *ROLES, "--out", "r.html").exit_code == 0
    assert SAYS not in Path("r.html").read_text("utf-8")
    assert SAYS in run("score", name, *ROLES, "--diagnose", "reader:classifier=logistic").stdout


@one_test
@pytest.mark.parametrize("rows", [1, 9])
def test_few_rows_are_not_read_unasked(log, rows):
    name = log("log.csv", rows)
    assert "reader" not in run("score", name, *ROLES, "--verbose").stdout
    message = f"a reader learns from other rows, and {rows} independent are too few: give 10 or more."
    assert message in run("score", name, *ROLES, "--diagnose", "reader").stderr


def test_few_clusters_are_not_read_unasked(log, tmp_path):
    table = pd.read_csv(tmp_path / log("log.csv", 60)).assign(customer=lambda t: t.index % 3)
    table.to_csv(tmp_path / "log.csv", index=False)
    result = run("score", "log.csv", *ROLES, "--clusters", "customer", "--verbose")
    assert (result.exit_code, "reader" in result.stdout) == (0, False)


@one_test
@pytest.mark.parametrize("classifier", ["my_readers:bayes", "sklearn.naive_bayes:GaussianNB"])
def test_a_classifier_may_be_a_users_object_or_a_class(log, classifier):
    Path("my_readers.py").write_text("from sklearn.naive_bayes import GaussianNB\nbayes = GaussianNB()\n")
    done = run(
        "score",
        log("log.csv"),
        *ROLES,
        "--diagnose",
        f"reader:classifier={classifier}",
        "--out",
        "-",
        "--format",
        "json",
    )
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["diagnostics"][0]["result"]["classifiers"] == {"GaussianNB": 5}


@one_test
@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        ("forest", "there is no reader 'forest'. Choose one of auto, logistic, trees, words."),
        ("sklearn.svm:NoSuch", "importing the reader sklearn.svm:NoSuch failed with AttributeError"),
        ("decimal:Decimal", "the class Decimal cannot be a reader; expected 'auto'"),
    ],
)
def test_what_is_no_reader_is_refused_before_anything_is_read(classifier, message):
    for words in (("evaluate", "--data", "no_such_file.csv"), ("score", "no_such_file.csv", *ROLES)):
        done = run(*words, "--diagnose", f"reader:classifier={classifier}")
        assert done.exit_code == 1
        assert message in done.stderr


def test_evaluate_reads_what_it_explains():
    words = ["--data", "iris", "--model", "tree", "--explainer", "tree", "--samples", "60"]
    done = run("evaluate", *words, "--diagnose", "reader", "--out", "-", "--format", "json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["diagnostics"][0]["result"]["accuracy"]["value"] > 0.9


# --- sentences -------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (0.94, 0.9149, 0.9551, "94 % of predictions right (91 – 96 %)"),
        (1.0, 0.98999, 1.0, "100 % of predictions right (98 – 100 %)"),
        (0.9978, 0.99449, 0.99982, "99.8 % of predictions right (99.4 – 99.99 %)"),
        (0.99995, 0.99981, 0.999999, "> 99.9 % of predictions right (99.9 – 99.9999 %)"),
        (0.0, 0.0, 0.021, "0 % of predictions right (0 – 3 %)"),
        (0.0004, 0.0001, 0.0021, "< 0.1 % of predictions right (0.0 – 0.3 %)"),
    ],
)
def test_shares_are_rounded_outwards_and_never_to_nothing_or_everything(value, low, high, expected):
    accuracy = {"value": value, "low": low, "high": high}
    assert expected in accuracy_sentence({"accuracy": accuracy, "baseline": {"value": 0.5}})


@one_test
@pytest.mark.parametrize(
    ("payload", "begins"),
    [
        (
            {"accuracy": {"value": 0.33, "low": 0.3, "high": 0.36}, "baseline": {"value": 0.33}},
            "This classifier",
        ),
        (
            {"accuracy": {"value": 0.5, "low": 0.31, "high": 0.7}, "baseline": {"value": 0.33}},
            "This classifier",
        ),
        ({"accuracy": {"value": 0.5, "low": 0.34, "high": 0.7}, "baseline": {"value": 0.33}}, "A "),
        ({"accuracy": None, "error": 2.0, "error_without": 2.0}, "This regressor"),
        ({"accuracy": None, "error": 1.0, "error_without": 2.0}, "A "),
        ({"accuracy": None, "error": None, "score": 0.1, "score_without": 0.2, "low": 0.0}, "This regressor"),
    ],
)
def test_what_one_classifier_could_not_learn_is_not_said_of_everybody(payload, begins):
    assert accuracy_sentence(payload).startswith(begins)
    assert ("Another reader may learn more." in accuracy_sentence(payload)) == (begins != "A ")


@one_test
@pytest.mark.parametrize(("clusters", "units"), [(None, "rows"), (60, "clusters")])
def test_the_one_bound_says_what_it_rests_on(clusters, units):
    payload = {"accuracy": {}, "score": 0.9, "low": 0.8691, "classifiers": {"trees": 5}, "confidence": 0.95}
    assert bound_sentence({**payload, "clusters": clusters, "seen": 2, "columns": 2}) == (
        f"The reader has a score of 0.900, so consistency is at least 0.869 if {units} are independent (95 % "
        "confidence)."
    )
