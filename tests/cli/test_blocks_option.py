"""`--blocks` in logs and tables: the numbers of Python, whatever the file."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main

LOG = pd.DataFrame(
    {
        "label": ["yes", "yes", "no", "no", "yes", "no"] * 10,
        "said": ["a", "a", "b", "b", "a", "a"] * 10,
        "x": np.arange(60.0) % 7,
        "question": np.repeat([f"{i:02}" for i in range(12)], 5),
    }
)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    LOG.to_csv("log.csv", index=False)
    LOG.to_parquet("log.parquet")


def call(*arguments):
    return CliRunner().invoke(main, arguments)


def score(path, *arguments):
    return call("score", path, "--prediction", "label", "--explanation", "said", *arguments)


@one_test
@pytest.mark.parametrize("path", ["log.csv", "log.parquet"])
def test_a_log_is_measured_within_the_blocks_of_a_column(path):
    expected = faithkit.score(LOG["label"], LOG["said"].tolist(), blocks=LOG["question"])
    done = score(path, "--blocks", "question", "--json", "-")
    assert done.exit_code == 0, done.output
    payload = json.loads(done.stdout)
    measure, other = payload["measures"]["consistency"], expected.consistency
    assert payload["blocks"] == 12
    assert [measure[name] for name in ("estimate", "se", "low", "high", "chance")] == pytest.approx(
        [other.estimate, other.se, other.low, other.high, other.chance], abs=1e-12
    )


def test_a_reference_is_measured_within_the_same_blocks_or_refused():
    done = score("log.csv", "--blocks", "question", "--reference", "log.parquet", "--json", "-")
    assert json.loads(done.stdout)["reference"]["difference"]["consistency"]["value"] == 0
    assert score("log.csv", "--json", "plain.json").exit_code == 0
    done = score("log.csv", "--blocks", "question", "--reference", "plain.json")
    assert done.exit_code == 1
    assert "this sample alone has blocks" in done.stderr


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--blocks", "answer"), "answer"),
        (("--blocks", "question", "--clusters", "x"), "either blocks or clusters"),
        (("--blocks", "question", "--unexplained", "pool", "--features", "x"), "leave out the pool"),
    ],
)
def test_blocks_that_cannot_be_used_are_refused(options, message):
    log = LOG.assign(said=LOG["said"].where(LOG["x"] > 0))
    log.to_csv("log.csv", index=False)
    done = score("log.csv", *options)
    assert done.exit_code == 1
    assert message in done.stderr


def test_evaluate_takes_the_column_from_the_model_and_offers_no_pool():
    asked = ("evaluate", "--data", "log.csv", "--target", "label", "--drop", "said", "--model", "tree")
    done = call(*asked, "--explainer", "tree", "--blocks", "question", "--samples", "20", "--json", "-")
    assert done.exit_code == 0, done.output
    payload = json.loads(done.stdout)
    assert (payload["n"], payload["pool"], payload["data"]["columns"]) == (20, None, 1)
    assert payload["blocks"] > 1
