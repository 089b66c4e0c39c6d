"""`--blocks` in logs and tables: the numbers of Python, whatever the file."""

import json

import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test

import faithkit

LOG = pd.DataFrame(
    {
        "label": ["yes", "yes", "no", "no", "yes", "no"] * 10,
        "why": ["a", "a", "b", "b", "a", "a"] * 10,
        "x": np.arange(60.0) % 7,
        "question": np.repeat([f"{i:02}" for i in range(12)], 5),
    }
)


@pytest.fixture(autouse=True)
def _logs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    LOG.to_csv("log.csv", index=False)
    LOG.to_parquet("log.parquet")


def score(path, *arguments):
    return run("score", path, "--prediction", "label", "--explanation", "why", *arguments)


@one_test
@pytest.mark.parametrize("path", ["log.csv", "log.parquet"])
def test_a_log_is_measured_within_the_blocks_of_a_column(path):
    expected = faithkit.score(LOG["label"], LOG["why"].tolist(), blocks=LOG["question"])
    done = score(path, "--blocks", "question", "--out", "-", "--format", "json")
    assert done.exit_code == 0, done.output
    payload = json.loads(done.stdout)
    measure, expected_measure = payload["measures"]["consistency"], expected.consistency
    assert payload["blocks"] == 12
    for name in ("estimate", "se", "low", "high", "chance"):
        assert measure[name] == pytest.approx(getattr(expected_measure, name), abs=1e-12)


def test_a_reference_is_measured_within_the_same_blocks_or_refused():
    blocks = ("--blocks", "question")
    for name, options in {"now": blocks, "before": blocks, "plain": ()}.items():
        assert score("log.csv", *options, "--out", f"{name}.json").exit_code == 0
    gate = ("--fail-if-worse", "consistency=1")
    done = run("gate", "now.json", "--reference", "before.json", *gate, "--out", "-", "--format", "json")
    assert json.loads(done.stdout)["reference"]["difference"]["consistency"]["value"] == 0
    done = run("gate", "now.json", "--reference", "plain.json", *gate)
    assert done.exit_code == 1
    assert "this sample alone has blocks" in done.stderr


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--blocks", "answer"), "answer"),
        (("--blocks", "question", "--clusters", "question"), "in every block all rows are of one cluster"),
    ],
)
def test_blocks_that_cannot_be_used_are_refused(options, message):
    log = LOG.assign(why=LOG["why"].where(LOG["x"] > 0))
    log.to_csv("log.csv", index=False)
    done = score("log.csv", *options)
    assert done.exit_code == 1
    assert message in done.stderr


def test_evaluate_takes_the_column_from_the_model_and_offers_no_pool():
    command = ("evaluate", "--data", "log.csv", "--target", "label", "--drop", "why", "--model", "tree")
    done = run(
        *command,
        "--explainer",
        "tree",
        "--blocks",
        "question",
        "--samples",
        "20",
        "--out",
        "-",
        "--format",
        "json",
    )
    assert done.exit_code == 0, done.output
    payload = json.loads(done.stdout)
    assert (payload["n"], payload["pool"], payload["data"]["columns"]) == (20, None, 1)
    assert payload["blocks"] > 1
