"""Tables that are given in a wrong role are noticed, and the message says what to write."""

import json

import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test

import faithkit
from faithkit import Rule
from faithkit.plugin import Contains

RNG = np.random.default_rng(0)


def make_log_of_words(n=50):
    rows = [
        (f"T{i:03d}", "pos" if i % 2 else "neg", f"word{j} of {i % 7}") for i in range(n) for j in range(4)
    ]
    return pd.DataFrame(rows, columns=["text_id", "label", "word"])


def read_stderr(*arguments):
    return " ".join(run(*arguments).stderr.split())


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_log_with_a_row_for_each_word_is_noticed(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    log = make_log_of_words()
    log.to_csv(path, index=False) if suffix == "csv" else log.to_parquet(path, index=False)
    command = ["score", str(path), "--prediction", "label", "--explanation", "word"]
    message = read_stderr(*command)
    assert "200 rows and 50 values of 'text_id'" in message
    assert "log.groupby(['text_id', 'label'])['word'].agg(' '.join)" in message
    assert "values of 'text_id'" not in read_stderr(*command, "--clusters", "text_id")


def test_a_log_with_a_row_for_each_instance_is_not_taken_for_a_long_one(tmp_path):
    log = pd.DataFrame(
        {"branch": np.arange(200) % 20, "label": RNG.integers(0, 2, 200), "why": RNG.random(200)}
    )
    log.to_csv(tmp_path / "log.csv", index=False)
    command = ("score", tmp_path / "log.csv", "--prediction", "label", "--explanation", "why")
    assert "a row for each part" not in read_stderr(*command)


def test_an_id_column_that_a_default_model_would_learn_from_is_named(tmp_path):
    data = pd.DataFrame({"customer": [f"C{i}" for i in RNG.permutation(60)], "income": RNG.normal(size=60)})
    data.assign(y=np.where(data["income"] > 0, "yes", "no")).to_csv(tmp_path / "data.csv", index=False)
    command = [
        "evaluate",
        "--data",
        str(tmp_path / "data.csv"),
        "--target",
        "y",
        "--explainer",
        "tree:max_depth=1",
    ]
    command += ["--model", "tree", "--control-draws", "0"]
    assert "write --id customer, else --drop customer" in read_stderr(*command)
    assert "another value in every row" not in read_stderr(*command, "--id", "customer")


@one_test
@pytest.mark.parametrize("by", ["label", "coarse", "fine"])
def test_groups_that_are_made_of_the_prediction_are_noticed(by):
    label = np.arange(60) % 3
    groups = {"label": label, "coarse": label > 0, "fine": label + 3 * (np.arange(60) % 2)}[by]
    with pytest.warns(faithkit.errors.FaithkitWarning, match="known before the prediction, such as a branch"):
        faithkit.score(label, ["a", "b", "c", "d"] * 15).by(groups)


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rules_about_words_are_scored_with_the_texts_they_are_about(tmp_path, suffix):
    """Of four texts with "fine" three are "pos": sufficiency of rows 0 to 2 is 2/3; "dull" is always "neg"."""
    texts = ["a fine film", "fine and dull", "so fine", "fine", "dull", "dull thing"]
    labels = ["pos", "neg", "pos", "pos", "neg", "neg"]
    rules = [Rule([Contains("dull" if label == "neg" else "fine")]) for label in labels]
    log = pd.DataFrame({"text": texts, "label": labels, "rule": list(map(str, rules))})
    path = tmp_path / f"log.{suffix}"
    log.to_csv(path, index=False) if suffix == "csv" else log.to_parquet(path)
    command = ["score", str(path), "--prediction", "label", "--explanation", "rule", "--text", "text"]
    payload = json.loads(run(*command, "--out", "-", "--format", "json").stdout)
    assert payload["measures"]["sufficiency"]["value"] == pytest.approx((3 * 2 / 3 + 3) / 6)


def test_texts_and_features_exclude_each_other(tmp_path):
    make_log_of_words().to_csv(tmp_path / "log.csv", index=False)
    done = run(
        "score", str(tmp_path / "log.csv"), "--prediction", "label", "--explanation", "word",
        "--text", "text_id", "--features", "word",
    )  # fmt: skip
    assert done.exit_code == 2
    assert "leave --features and --pool out, or --text" in " ".join(done.stderr.split())
