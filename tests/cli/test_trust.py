"""Trust on the command line: the refusal of a model file leads straight to the option that lets it in."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

MODULE = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer


def doubled(X):
    return 2 * np.asarray(X)


def fitted(X, y):
    return make_pipeline(FunctionTransformer(doubled), LogisticRegression()).fit(X, y)
"""


def faithkit(folder, *words):
    # as the program does it, which does not look for modules in the current folder by itself
    command = [sys.executable, "-P", "-m", "faithkit", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_the_last_words_of_a_refusal_are_the_option_that_lets_the_model_in(tmp_path, monkeypatch):
    skops_io = pytest.importorskip("skops.io")
    (tmp_path / "bank_steps.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    import bank_steps

    X = np.random.default_rng(0).normal(size=(40, 2))
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "rows.csv", index=False)
    skops_io.dump(bank_steps.fitted(X, X[:, 0] > 0), tmp_path / "model.skops")
    asked = (
        "evaluate",
        "--data",
        "rows.csv",
        "--model",
        "model.skops",
        "--explainer",
        "tree",
        "--diagnose",
        "none",
    )
    refused = faithkit(tmp_path, *asked)
    assert refused.returncode == 1
    line = refused.stderr.strip().splitlines()[-1]
    assert line.endswith("name them: --trust-types bank_steps.doubled")
    option = line.rpartition(": ")[2].split()
    measured = faithkit(tmp_path, *asked, *option)
    assert measured.returncode == 0, measured.stderr
    assert "40 instances" in measured.stdout
