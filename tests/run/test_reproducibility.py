"""The same input gives the same result, to 1e-12: each condition on the page of reproducibility has its test here."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from documented import DOCS
from nearly import assert_nearly
from pages import json_of

import faithkit
from faithkit import Explanations
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.next_steps import suggest_next_steps
from faithkit.run.populations.log_scoring import score_log

RNG = np.random.default_rng(7)
N = 60
ROWS = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, N),
        "hours": RNG.integers(10, 60, N).astype(float),
        "job": RNG.choice(["clerk", "nurse", "pilot"], N),
    }
)
LABELS = np.where((ROWS["hours"] > 35) & (ROWS["age"] > 30), "yes", "no")


def approve(X):
    """Predict."""
    return np.where((X["hours"] > 35) & (X["age"] > 30), "yes", "no")


class Drawn:
    """An explainer that draws at random, and is given so many rows at a time."""

    def __init__(self, rows_per_chunk=7):
        self.rows_per_chunk = rows_per_chunk

    def fit(self, predictor, background):
        self.mean = float(background["age"].mean())
        return self

    def explain(self, X, seeds):
        chance = [np.random.default_rng(seed).integers(0, 3) for seed in seeds]
        return Explanations.vectors(np.column_stack([X["age"] > self.mean, chance]) / 3)


def evaluate_to_json(explainer=None, **options):
    options = {"background": ROWS, "permutations": 20, **options}
    return json_of(faithkit.evaluate(approve, ROWS, explainer or Drawn(), **options))


def run_again(tmp_path):
    yield from (evaluate_to_json(), evaluate_to_json())


def run_with_workers(tmp_path):
    for executor in ("threads:workers=2", "here"):  # processes have tests of their own
        yield evaluate_to_json(executor=executor)


def run_in_chunks(tmp_path):
    yield from (evaluate_to_json(Drawn(size)) for size in (1, 13, 1000))


def run_with_store(tmp_path):
    yield evaluate_to_json(executor=f"stored:folder={tmp_path / 'store'}")
    stored_chunks = sorted((tmp_path / "store").glob("*/*.npz"))
    assert len(stored_chunks) > 3
    yield evaluate_to_json(executor=f"stored:folder={tmp_path / 'store'}")
    for chunk in stored_chunks[::2]:
        chunk.unlink()
    yield evaluate_to_json(executor=f"stored:folder={tmp_path / 'store'}")


def without_fingerprint(text):
    payload = json.loads(text)
    del payload["data"]["fingerprint"]
    return payload


def score_shuffled(tmp_path):
    explanations, relation = ROWS[["age"]].to_numpy() // 5 / 3, "near-explanation:tau=1.5"
    for shuffle in (np.arange(N), np.arange(N)[::-1], RNG.permutation(N)):
        yield without_fingerprint(
            json_of(
                faithkit.score(LABELS[shuffle], explanations[shuffle], relation=relation, permutations=99)
            )
        )


def score_forms(tmp_path):
    log = ROWS.assign(label=LABELS, phi_age=ROWS["age"] // 10 / 4, phi_hours=ROWS["hours"] // 20)
    log.to_csv(tmp_path / "log.csv", index=False)
    log.to_parquet(tmp_path / "log.parquet")
    log.to_parquet(tmp_path / "small.parquet", row_group_size=11)
    (tmp_path / "folder").mkdir()
    log[:25].to_parquet(tmp_path / "folder" / "a.parquet")
    log[25:].to_parquet(tmp_path / "folder" / "b.parquet")
    for name in ("log.csv", "log.parquet", "small.parquet", "folder"):
        logged = open_log(str(tmp_path / name), "label", ("phi_*",), ("age", "hours"))
        yield json_of(score_log(logged, 2, relation="near-explanation:tau=0.5"))


CONDITIONS = {
    "running again": run_again,
    "workers": run_with_workers,
    "chunks": run_in_chunks,
    "the store": run_with_store,
    "the order of rows": score_shuffled,
    "the form of a log": score_forms,
}
LAST_BITS = ("the order of rows", "the form of a log")  # these may change the order of sums


@pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")
@pytest.mark.parametrize("condition", CONDITIONS)
def test_each_condition_changes_nothing(condition, tmp_path):
    first, *others = CONDITIONS[condition](tmp_path)
    assert others
    for other in others:
        if condition in LAST_BITS:
            assert_nearly(other, first)
        else:
            assert other == first


@pytest.mark.slow  # default tests compare with saved results, under another hash seed in every run
def test_another_process_with_another_hash_seed_gives_the_same_result(tmp_path, monkeypatch):
    code = "from test_reproducibility import evaluate_to_json; print(evaluate_to_json(), end='')"
    folders = [*sys.path, os.path.dirname(__file__)]
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-W", "ignore", "-c", code]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert not run.stderr
    # no fixture reaches another process
    monkeypatch.setattr("faithkit.run.result.suggest_next_steps", suggest_next_steps)
    assert run.stdout == evaluate_to_json()


def test_every_condition_of_the_page_has_its_test():
    page = (DOCS / "reference" / "reproducibility.rst").read_text()
    listed = page.partition("These change nothing:")[2].partition("The last bits of a float\n---")[0]
    assert re.findall(r"^(\S.*)\n {3}\S", listed, flags=re.M) == list(CONDITIONS)
