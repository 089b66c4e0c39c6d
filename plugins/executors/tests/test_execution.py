"""Run in parallel, and resume where a run was killed."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from faithkit_executors.store import load_result
from looping import one_test
from slow_runs import PLUGIN, Slow, X, evaluated, missing, parity

import faithkit

# --- the same bytes, whoever does the work --------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    "executor", ["processes:workers=2", "processes:workers=2,timeout=60", "threads:workers=3"]
)
def test_executors_change_no_byte(executor):
    assert evaluated(executor=executor).to_dict() == evaluated().to_dict()


def test_equal_rows_have_equal_explanations_in_any_order():
    doubled = np.vstack([X, X])
    order = np.random.default_rng(0).permutation(len(doubled))
    straight = evaluated(doubled).rows.explanations.values
    shuffled = evaluated(doubled[order], executor="threads:workers=2").rows.explanations.values
    assert (straight[:40] == straight[40:]).all()
    assert (shuffled == straight[order]).all()


def test_frames_with_words_and_gaps_travel_to_workers():
    frame = pd.DataFrame({"id": range(40), "job": ["a", None] * 20, "c": pd.Categorical(["x", "y"] * 20)})
    alone, by_workers = (
        faithkit.evaluate(parity, frame, explainer=explain_by_job, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    assert alone.to_dict() == by_workers.to_dict()


def explain_by_job(X):
    return [str(job) for job in X["job"]]


def test_what_cannot_travel_runs_here_and_says_so():
    lock = threading.Lock()

    def explain(X):
        with lock:
            return [0] * len(X)

    with pytest.warns(faithkit.errors.FaithkitWarning, match="runs in this process"):
        result = faithkit.evaluate(parity, np.zeros((100, 1)), explainer=explain, n_jobs=2)
    assert result.n == 100


# --- faults ---------------------------------------------------------------------------------------------

TROUBLE = [3, 10, 17, 24, 31, 38]  # every seventh row


def test_a_failing_row_stops_the_run_and_is_named():
    with pytest.raises(
        faithkit.errors.ExplainerError, match=r"failed on row 3: ValueError: row 3.0 is not.*record"
    ):
        evaluated(explainer=Slow(trouble="raise"))


@one_test
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_recorded_failures_are_unexplained_with_their_reason(n_jobs):
    result = evaluated(explainer=Slow(trouble="raise"), on_error="record", n_jobs=n_jobs)
    assert missing(result) == TROUBLE
    assert result.why_unexplained == {"ValueError": 6}
    text = str(result)
    assert (
        "\n6 of 40 rows have no explanation, and count as not agreeing.\nOf the unexplained, ValueError: 6.\n"
        in text
    )
    assert ", 6 unexplained\nof the unexplained, ValueError: 6\n" in result.to_text(verbose=True)
    assert result.rows.explanations.remarked[3] == "ValueError: row 3.0 is not to my taste"


def test_a_sample_in_which_every_row_fails_is_unverifiable():
    result = faithkit.evaluate(
        parity, np.full((8, 1), 3.0), explainer=Slow(trouble="raise"), on_error="record"
    )
    assert result.unexplained == 8
    assert result.consistency.checkability == "unverifiable"


def test_warnings_given_in_workers_are_told_once():
    with pytest.warns(faithkit.errors.FaithkitWarning, match="rough") as record:
        faithkit.evaluate(parity, X, explainer=explain_with_a_warning, n_jobs=2)
    assert sum("rough" in str(w.message) for w in record) == 1


def explain_with_a_warning(X):
    import warnings

    warnings.warn("a rough estimate", faithkit.errors.FaithkitWarning, stacklevel=1)
    return [0] * len(X)


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "'raise' or 'record', got 'ignore'"),
        ({"executor": "processes:timeout=0"}, "above 0, got 0"),
        ({"executor": "processes:timeout='5'"}, "a number of seconds above 0, got '5'"),
        ({"executor": "processes:timeout=1e999"}, "above 0, got inf"),
        ({"executor": "stored:folder="}, "folder is '': name a folder"),
        ({"executor": "stored:folder=5"}, "folder is 5: name a folder .* in quotes if"),
        ({"executor": "stored"}, "needs the parameter 'folder'"),
        ({"executor": "stored:folder=runs,inside=process"}, "Did you mean 'processes'"),
        ({"executor": "stored:folder=runs", "n_jobs": 4}, "'stored:folder=DIR,inside=processes:workers=4'"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_options_are_refused(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(faithkit.errors.FaithkitError, match=message):
        evaluated(**options)
    assert not list(tmp_path.iterdir())  # an empty name would have been this folder


# --- killed and interrupted, through the real command line ----------------------------------------------

ROWS = 120


def start(folder, n_jobs=1, run="", seconds=0.02, **popen):
    folder.mkdir(exist_ok=True)
    data = folder / "data.csv"
    if not data.exists():
        pd.DataFrame({"id": range(ROWS), "b": np.arange(ROWS) % 3, "y": np.arange(ROWS) % 2}).to_csv(
            data, index=False
        )
    model = folder / "odd_model.py"
    model.write_text("def model(X):\n    return (X['id'] // 2) % 2\n")
    path = os.pathsep.join([str(PLUGIN), str(folder), os.environ.get("PYTHONPATH", "")])
    log = {"SLOW_LOG": str(folder / "log"), "SLOW_RUN": run}
    return subprocess.Popen(
        [sys.executable, "-m", "faithkit", "evaluate", "--data", str(data), "--target", "y", "--model",
         "odd_model:model", "--explainer", f"slow:seconds={seconds}", "--executor",
         f"stored:folder={folder / 'store'},inside=processes:workers={n_jobs}", "--diagnose", "none", "--out", "-", "--format", "json"],
        env={**os.environ, "PYTHONPATH": path, **log},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_hear_interrupts, **popen,
    )  # fmt: skip


def _hear_interrupts():
    """A shell lets what it runs in the background ignore interrupts, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def stored_rows(folder):
    answers = [load_result(file.read_bytes(), file.stem) for file in (folder / "store").glob("*/*.npz")]
    return {int(row) for answer in answers for row in answer.explanations.values[:, 0]}


def killed_again_and_again(folder, times, n_jobs):
    """Kill a run some times at random moments; return what was stored before each run."""
    rng = random.Random(0)
    before = []
    for run in range(times):
        before.append(stored_rows(folder))
        process = start(folder, n_jobs=n_jobs, run=str(run))
        log = folder / "log"
        size = log.stat().st_size if log.exists() else 0
        deadline = time.monotonic() + 30
        while (not log.exists() or log.stat().st_size == size) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.25))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before.append(stored_rows(folder))
    return before


def resumes_without_loss(folder, times, n_jobs):
    before = killed_again_and_again(folder, times, n_jobs)
    final = finish(start(folder, n_jobs=n_jobs, run=str(times)))
    worked = [line.split() for line in (folder / "log").read_text().splitlines()]
    for run, row in worked:
        assert int(row) not in before[int(run)], "a chunk that was complete was computed again"
    assert {int(row) for _, row in worked} == set(range(ROWS))
    assert final == finish(start(folder / "undisturbed"))


@pytest.mark.slow
def test_two_runs_on_one_store_do_not_disturb_each_other(tmp_path):
    runs = [start(tmp_path, n_jobs=jobs) for jobs in (1, 2)]
    texts = {finish(run) for run in runs}
    assert texts == {finish(start(tmp_path / "other"))}


@pytest.mark.slow
def test_four_kills_lose_no_finished_chunk(tmp_path):
    resumes_without_loss(tmp_path, times=4, n_jobs=2)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_soon_and_says_what_is_kept(tmp_path, n_jobs):
    process = start(tmp_path, n_jobs=n_jobs, seconds=0.3, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "store").glob("*/*.npz")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == ""
    match = re.search(
        r"interrupted: (\d+) of 30 chunks are kept in .*; the same command goes on from there", err
    )
    assert int(match[1]) < 30  # it did not wait for the rest
    assert "Traceback" not in err


def test_a_failing_row_among_many_costs_few_calls():
    sizes = []

    class Picky:
        rows_per_chunk, learns = 64, False

        def fit(self, predictor, background):
            return self

        def explain(self, X, seeds):
            sizes.append(len(X))
            if (X == 17).any():
                raise ValueError("not this one")
            return faithkit.Explanations.of(X[:, 0].tolist())

    X = np.arange(64.0)[:, None]
    result = faithkit.evaluate(lambda X: X[:, 0] > 5, X, explainer=Picky(), on_error="record")
    assert result.unexplained == 1
    assert result.why_unexplained == {"ValueError": 1}
    assert sorted(sizes) == [1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64]  # both halves, six times
