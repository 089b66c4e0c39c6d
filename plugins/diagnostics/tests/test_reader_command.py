"""`--diagnose reader`: what the command line says about it, unasked and asked."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test

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
        frame.to_parquet(name) if name.endswith(".parquet") else frame.to_csv(name, index=False)
        return name

    monkeypatch.chdir(tmp_path)
    return write


@one_test
@pytest.mark.parametrize(
    "asked", [["--verbose"], ["--diagnose", "reader"], ["--diagnose", "reader:classifier=trees"]]
)
def test_the_sentence_stands_below_the_table(log, asked):
    done = run("score", log("log.csv"), *ROLES, *asked)
    assert done.exit_code == 0, done.stderr
    table, sentence, _ = done.stdout.partition(SAYS)
    assert "consistency" in table
    assert sentence


def test_nobody_reads_if_told_so(log):
    name = log("log.csv")
    assert SAYS not in run("score", name, *ROLES, "--diagnose", "none").stdout
    told = run("score", name, *ROLES, "--diagnose", "none", "--json", "-").stdout
    assert json.loads(told)["diagnostics"] == []


@pytest.mark.usefixtures("no_pictures", "no_next_steps", "first_witnesses")
def test_json_and_html_tell_the_same(log):
    done = run("score", log("log.csv"), *ROLES, "--json", "result.json", "--html", "result.html")
    assert done.exit_code == 0, done.stderr
    payload = json.loads(Path("result.json").read_text("utf-8"))["diagnostics"][0]["result"]
    assert payload["accuracy"]["value"] > 0.9
    assert SAYS in Path("result.html").read_text("utf-8")


def test_a_large_sample_is_read_only_if_asked(log):
    name = log("log.csv", 10_001)
    assert SAYS not in run("score", name, *ROLES, "--verbose").stdout
    assert SAYS in run("score", name, *ROLES, "--diagnose", "reader:classifier=logistic").stdout


def test_a_log_on_disk_is_read_as_one_in_memory(log):
    told = [run("score", log(name), *ROLES, "--json", "-") for name in ("log.csv", "log.parquet")]
    assert told[0].stdout.replace("log.csv", "log.parquet") == told[1].stdout
    assert json.loads(told[1].stdout)["diagnostics"][0]["result"]["n"] > 0


@one_test
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_few_rows_are_not_read_unasked(log, rows):
    name = log("log.csv", rows)
    assert "reader" not in run("score", name, *ROLES, "--verbose").stdout
    said = f"a reader learns from other rows, and {rows} independent are too few: give 10 or more."
    assert said in run("score", name, *ROLES, "--diagnose", "reader").stderr


def test_few_clusters_are_not_read_unasked(log, tmp_path):
    table = pd.read_csv(tmp_path / log("log.csv", 60)).assign(who=lambda t: t.index % 3)
    table.to_csv(tmp_path / "log.csv", index=False)
    result = run("score", "log.csv", *ROLES, "--clusters", "who", "--verbose")
    assert (result.exit_code, "reader" in result.stdout) == (0, False)


def test_a_classifier_of_ones_own(log, tmp_path):
    (tmp_path / "my_readers.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\nbayes = GaussianNB()\n"
    )
    done = run(
        "score", log("log.csv"), *ROLES, "--diagnose", "reader:classifier=my_readers:bayes", "--json", "-"
    )
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["diagnostics"][0]["result"]["classifiers"] == {"GaussianNB": 5}


@one_test
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("forest", "there is no reader 'forest'. Choose one of auto, logistic, trees, words."),
        ("sklearn.svm:NoSuch", "importing the reader sklearn.svm:NoSuch failed with AttributeError"),
        ("decimal:Decimal", "the class Decimal cannot be a reader; expected 'auto'"),
    ],
)
def test_what_is_no_reader_is_refused_before_anything_is_read(given, message):
    for words in (("evaluate", "--data", "no_such_file.csv"), ("score", "no_such_file.csv", *ROLES)):
        done = run(*words, "--diagnose", f"reader:classifier={given}")
        assert done.exit_code == 1
        assert message in done.stderr


def test_a_class_of_scikit_learns_has_its_defaults(log):
    done = run(
        "score",
        log("log.csv"),
        *ROLES,
        "--diagnose",
        "reader:classifier=sklearn.naive_bayes:GaussianNB",
        "--json",
        "-",
    )
    assert json.loads(done.stdout)["diagnostics"][0]["result"]["classifiers"] == {"GaussianNB": 5}


def test_evaluate_reads_what_it_explains():
    done = run("evaluate", "--data", "iris", "--model", "tree", "--explainer", "tree", "--json", "-")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["diagnostics"][0]["result"]["accuracy"]["value"] > 0.9
