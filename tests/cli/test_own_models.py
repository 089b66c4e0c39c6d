"""Models of one's own on the command line: what a refusal says to type works at the next step."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test

MODULE = """
import numpy as np


def labels(X):
    return np.where(X["a"] * X["b"] > 0, "yes", "no")


def chances(X):
    second = 1 / (1 + np.exp(-X["a"] * X["b"]))
    return np.column_stack([1 - second, second])


def second(X):
    return chances(X)[:, 1]


def pair(X):
    return X[["a", "b"]].to_numpy()
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Make a folder with rows and a module of models the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "house_models", raising=False)
    (tmp_path / "house_models.py").write_text(MODULE)
    rows = np.random.default_rng(0).normal(size=(40, 2)).round(2)
    pd.DataFrame(rows, columns=["a", "b"]).to_csv("rows.csv", index=False)
    return tmp_path


def evaluate(model, *options, explainer="tree"):
    inputs = ("--data", "rows.csv", "--background", "rows.csv", "--explainer", explainer)
    return run(
        "evaluate",
        *inputs,
        "--control-draws",
        "0",
        "--model",
        f"house_models:{model}",
        "--out",
        "-",
        "--format",
        "json",
        *options,
    )


@one_test
@pytest.mark.parametrize(
    ("model", "option"),
    [("chances", r"--classes \S+(?=\))"), ("pair", r"--outcome \S+(?=\))")],
)
def test_a_function_that_returns_a_matrix_is_refused_with_the_option_that_takes_it(here, model, option):
    refused = evaluate(model)
    assert refused.exit_code == 1
    typed = re.search(option, refused.stderr)[0].split()
    done = evaluate(model, *typed)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["n"] == 40


@one_test
@pytest.mark.parametrize("model", ["chances", "second"])
def test_scores_measure_what_labels_measure(here, model):
    labels = evaluate("labels", explainer="tree:max_depth=1")
    scores = evaluate(model, "--classes", "no, yes", explainer="tree:max_depth=1")
    assert scores.exit_code == 0, scores.stderr
    of_labels, of_scores = (json.loads(done.stdout) for done in (labels, scores))
    values = [payload["measures"]["consistency"]["value"] for payload in (of_labels, of_scores)]
    assert values[0] == values[1] < 1
    assert of_labels["chance"] == of_scores["chance"]
    assert of_scores["model"] == model


def test_explainers_that_need_scores_have_them(here):
    done = evaluate("chances", "--classes", "no,yes", explainer="shap")
    assert done.exit_code == 0, done.stderr


@one_test
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "house_models:labels", "--classes", "no,yes"), "scores are no numbers.*CLI: --classes"),
        (
            ("--model", "house_models:chances", "--classes", "no"),
            r"and 1 classes \(no\); expected a row of scores",
        ),
        (("--model", "house_models:chances", "--classes", "no,no"), "expected distinct labels"),
        (("--model", "tree", "--target", "b", "--classes", "no,yes"), "of a model of your own"),
        (("--model", "models:/credit/1"), "mlflow artifacts download"),
    ],
)
def test_what_does_not_fit_is_told_in_one_line(here, options, words):
    done = run("evaluate", "--data", "rows.csv", "--explainer", "tree", *options)
    assert done.exit_code == 1
    assert re.search(words, done.stderr)


STEPS = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer


def double(X):
    return 2 * np.asarray(X)


def fit(X, y):
    return make_pipeline(FunctionTransformer(double), LogisticRegression()).fit(X, y)
"""


@pytest.mark.slow  # two processes, which do not look for modules in the current folder by themselves
def test_the_last_words_of_a_refusal_are_the_option_that_lets_the_model_in(here, monkeypatch):
    skops_io = pytest.importorskip("skops.io")
    (here / "bank_steps.py").write_text(STEPS)
    monkeypatch.syspath_prepend(here)
    import bank_steps

    X = pd.read_csv("rows.csv").to_numpy()
    skops_io.dump(bank_steps.fit(X, X[:, 0] > 0), here / "model.skops")
    files = ("--data", "rows.csv", "--model", "model.skops", "--explainer", "tree", "--diagnose", "none")
    command = [sys.executable, "-P", "-m", "faithkit", "evaluate", *files]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert refused.returncode == 1
    line = refused.stderr.strip().splitlines()[-1]
    assert line.endswith("name them: --trust-types bank_steps.double")
    option = line.rpartition(": ")[2].split()
    done = subprocess.run([*command, *option], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "40 instances" in done.stdout
