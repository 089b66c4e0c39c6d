"""Explainers and models that end their process, or try to: a row is named, or recorded, and no run ends in silence."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pandas as pd
import pytest
from slow_runs import PLUGIN, Slow, X, evaluated, missing, parity

import faithkit

pytestmark = pytest.mark.slow  # every case is a process, or waits for one

# --- what looks like the end, and is an exception ---------------------------------------------------------


class PickyError(Exception):
    def __init__(self, first, second):
        super().__init__("picky")


class HeavyError(Exception):
    def __init__(self):
        super().__init__("heavy")
        self.lock = threading.Lock()


def throw(error):
    raise error


def endless():
    return endless()


# what happens on every seventh row, from the third on, and the reason that is recorded
RAISED = [
    ("SystemExit: 0", lambda: sys.exit(0)),
    ("SystemExit", sys.exit),
    ("GeneratorExit", lambda: throw(GeneratorExit)),
    ("CancelledError", lambda: throw(asyncio.CancelledError)),
    ("PickyError: picky", lambda: throw(PickyError(1, 2))),
    ("HeavyError: heavy", lambda: throw(HeavyError)),
    ("MemoryError", lambda: throw(MemoryError)),
    ("RecursionError", endless),
]
ROWS = np.arange(7.0 * len(RAISED))[:, None]


class Raising(Slow):
    """Raise something on every seventh row, or as it is fitted."""

    name = "raising"

    def __init__(self, fits=True):
        super().__init__(trouble="something")
        self.fits = fits

    def fit(self, predictor, background):
        return self if self.fits else sys.exit(0)

    def fail(self, row):
        RAISED[int(row) // 7][1]()


@pytest.fixture(params=["here", "threads:workers=2", "processes:workers=2"])
def executor(request):
    return request.param


def test_rows_on_which_an_explainer_tries_to_leave_are_recorded(executor):
    result = evaluated(ROWS, Raising(), on_error="record", executor=executor)
    remarks = result.rows.explanations.remarked[missing(result)]
    assert missing(result) == list(range(3, len(ROWS), 7))
    assert all(remark.startswith(reason) for remark, (reason, _) in zip(remarks, RAISED, strict=True))


def test_a_row_on_which_an_explainer_tries_to_leave_stops_the_run(executor):
    with pytest.raises(
        faithkit.errors.ExplainerError, match=r"^the explainer raising failed on row 3: SystemExit: 0\. With"
    ):
        evaluated(ROWS[:6], Raising(), executor=executor)


def test_an_explainer_that_tries_to_leave_as_it_is_fitted_stops_the_run(executor):
    with pytest.raises(
        faithkit.errors.ExplainerError, match=r"^fitting the explainer raising failed with SystemExit: 0\."
    ):
        evaluated(ROWS, Raising(fits=False), on_error="record", executor=executor)


def test_the_traceback_of_a_worker_is_told():
    with pytest.raises(faithkit.errors.ExplainerError) as raised:
        evaluated(ROWS[28:35], explainer=Raising(), n_jobs=2)
    assert "PickyError: picky" in str(raised.value.__cause__)


# --- what is the end --------------------------------------------------------------------------------------


@pytest.mark.parametrize("trouble", ["die", "vanish"])
def test_a_worker_that_dies_stops_the_run_and_names_the_row(trouble):
    with (
        pytest.warns(faithkit.errors.FaithkitWarning, match="a worker died"),
        pytest.raises(
            faithkit.errors.ExplainerError, match=r"Slow failed on row 3: worker died\. With on_error"
        ),
    ):
        evaluated(X[:8], explainer=Slow(trouble=trouble), n_jobs=2)


def test_a_worker_that_dies_once_costs_nothing(tmp_path):
    flag = tmp_path / "died"

    def explain(X):
        if not flag.exists():
            flag.touch()
            os._exit(9)
        return [0] * len(X)

    with pytest.warns(faithkit.errors.FaithkitWarning, match="once more"):
        result = faithkit.evaluate(parity, np.zeros((100, 1)), explainer=explain, n_jobs=2)
    assert result.unexplained == 0


def test_deaths_are_reported_and_recorded_and_not_died_again(tmp_path, log):
    executor = f"stored:folder={tmp_path},inside=processes:workers=2"
    options = {"explainer": Slow(trouble="die"), "on_error": "record", "executor": executor}
    with pytest.warns(faithkit.errors.FaithkitWarning, match=r"a worker died \(EXIT\(9\).*\); what it was"):
        first = evaluated(X[:12], **options)
    assert missing(first) == [3, 10]
    assert first.why_unexplained == {"worker died": 2}
    explained = len(log())
    assert evaluated(X[:12], **options).to_dict() == first.to_dict()
    assert len(log()) == explained


class Trap:
    """A model that cannot be unpickled in another process, for one reason or another."""

    def __init__(self, how):
        self.how = how

    def predict(self, X):
        return parity(X)

    def __reduce__(self):
        return unpickle_trap, (self.how, os.getpid())


def unpickle_trap(how, home):
    if os.getpid() != home:
        {"vanish": lambda: os._exit(0), "exit": lambda: sys.exit(0)}[how]()
    return Trap(how)


@pytest.mark.parametrize("on_error", ["raise", "record"])
@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("exit", faithkit.errors.InputError, r"the worker process \d+, taking up the work, failed with SystemExit: 0\."),
        ("vanish", faithkit.errors.ExplainerError, "a worker died.*again before it explained anything"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:a worker died")
def test_a_model_that_cannot_be_unpickled_is_nobody_s_row(how, error, message, on_error):
    with pytest.raises(error, match=message):
        evaluated(model=Trap(how), n_jobs=2, on_error=on_error)


class Fatal(Slow):
    def fit(self, predictor, background):
        os._exit(0)


@pytest.mark.filterwarnings("ignore:a worker died")
def test_an_explainer_that_ends_its_process_as_it_is_fitted_is_nobody_s_row():
    with pytest.raises(faithkit.errors.ExplainerError, match="fitting the explainer Fatal, ends the process"):
        evaluated(explainer=Fatal(), n_jobs=2, on_error="record")


# --- at the command line ----------------------------------------------------------------------------------


def start(folder, *options, **environment):
    rows = {"id": range(40), "b": np.arange(40) % 3, "y": np.arange(40) % 2}
    pd.DataFrame(rows).to_csv(folder / "data.csv", index=False)
    (folder / "odd_model.py").write_text("def model(X):\n    return X['id'] % 2\n")
    path = os.pathsep.join([str(PLUGIN), str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "faithkit", "evaluate", "--data", "data.csv", "--target", "y", "--model",
         "odd_model:model", "--diagnose", "none", "--out", "-", "--format", "json", *options],
        cwd=folder, env={**os.environ, "PYTHONPATH": path, **environment}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        ("exit", r"^error: the explainer slow:trouble=exit failed on row \d+: SystemExit: 0\. With"),
        ("vanish", r"^error: the explainer slow:trouble=vanish failed on row \d+: worker died\."),
    ],
)
def test_no_worker_ends_a_run_as_if_it_had_gone_well(tmp_path, trouble, message):
    process = start(tmp_path, "--explainer", f"slow:trouble={trouble}", "--n-jobs", "2")
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (1, "")
    assert re.search(message, err, re.MULTILINE)
    assert "Traceback" not in err


def test_nothing_is_left_of_a_run_that_ended_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    evaluated(n_jobs=2)
    assert list(tmp_path.glob("faithkit-*")) == []
