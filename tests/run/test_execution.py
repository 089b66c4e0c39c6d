"""Running it: parallel, resumable, and honest about failures."""

import importlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

import faithkit
from faithkit.run.serial import Chunk
from faithkit.run.store import MAGIC, Store

PLUGIN = Path(__file__).parents[1] / "fixtures" / "slow_plugin"
sys.path.insert(0, str(PLUGIN))  # the workers inherit the path
from slow_explainer import Slow  # noqa: E402

X = np.column_stack([np.arange(40.0), np.arange(40.0) % 3])


def parity(X):
    return (np.asarray(X)[:, 0] % 2).astype(int)


def modulo(explanations):
    """Compare by the first value modulo 5, so that rows share explanations."""
    return explanations.values[:, :1] % 5


def evaluated(X=X, explainer=None, **options):
    return faithkit.evaluate(parity, X, explainer=explainer or Slow(), discretizer=modulo, **options)


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Which rows were worked on, in this process and in workers."""
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv("SLOW_LOG", str(path))
    return lambda: [int(line.split()[-1]) for line in path.read_text().splitlines()]


# --- the same bytes, whoever does the work --------------------------------------------------------------


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_workers_and_backends_change_no_byte(backend, n_jobs):
    with joblib.parallel_config(backend=backend):
        assert evaluated(n_jobs=n_jobs).to_json() == evaluated().to_json()


def test_a_backend_set_with_parallel_config_is_used():
    seen = set()

    def explain(X):
        seen.add(joblib.parallel.threading.current_thread().name)
        time.sleep(0.02)
        return [0] * len(X)

    rows = np.zeros((320, 1))
    with joblib.parallel_config(backend="threading", n_jobs=2):
        faithkit.evaluate(parity, rows, explainer=explain)
    assert len(seen) == 2


def test_equal_rows_have_equal_explanations_in_any_order():
    doubled = np.vstack([X, X])
    order = np.random.default_rng(0).permutation(len(doubled))
    straight = evaluated(doubled).sample.explanations.values
    shuffled = evaluated(doubled[order], n_jobs=2).sample.explanations.values
    assert (straight[:40] == straight[40:]).all()
    assert (shuffled == straight[order]).all()


def test_frames_with_words_and_gaps_travel_to_workers():
    frame = pd.DataFrame({"id": range(40), "job": ["a", None] * 20, "c": pd.Categorical(["x", "y"] * 20)})
    one = faithkit.evaluate(parity, frame, explainer=words)
    two = faithkit.evaluate(parity, frame, explainer=words, n_jobs=2)
    assert one.to_json() == two.to_json()


def words(X):
    return [str(job) for job in X["job"]]


def test_what_cannot_travel_runs_here_and_says_so():
    lock = joblib.parallel.threading.Lock()

    def explain(X):
        with lock:
            return [0] * len(X)

    with pytest.warns(faithkit.FaithkitWarning, match="runs in this process"):
        result = faithkit.evaluate(parity, np.zeros((100, 1)), explainer=explain, n_jobs=2)
    assert result.n == 100


# --- the store ------------------------------------------------------------------------------------------


def test_a_second_run_explains_nothing_and_gives_the_same_bytes(tmp_path, log):
    first = evaluated(store=tmp_path / "store").to_json()
    assert sorted(log()) == list(range(40))
    assert evaluated(store=tmp_path / "store").to_json() == first
    assert evaluated(store=tmp_path / "store", n_jobs=2).to_json() == first
    assert len(log()) == 40


@pytest.mark.parametrize(
    "change",
    [
        {"explainer": Slow(seconds=0.0001)},
        {"seed": 1},
        {"X": X[:, ::-1].copy()},
        {"X": pd.DataFrame(X, columns=["a", "b"])},
    ],
)
def test_a_changed_question_is_asked_anew(tmp_path, log, change):
    evaluated(store=tmp_path / "store")
    evaluated(store=tmp_path / "store", **change)
    assert len(log()) == 80


class Learner(Slow):
    learns = True


def test_edited_code_is_another_question(tmp_path, log, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    for body in ("X[:, 0] > 5", "X[:, 0] > 6.0"):
        (tmp_path / "edited.py").write_text(f"def model(X):\n    return {body}\n")
        sys.modules.pop("edited", None)
        importlib.invalidate_caches()
        model = importlib.import_module("edited").model
        faithkit.evaluate(model, X, explainer=Slow(), store=tmp_path / "store")
    assert len(log()) == 80


def test_another_background_is_another_question_for_an_explainer_that_learns(tmp_path, log):
    for explainer, rows in ((Slow(), 40), (Learner(), 40 + 80)):
        for background in (X[:5], X[5:9]):
            evaluated(explainer=explainer, background=background, store=tmp_path / "store")
        assert len(log()) == rows


def test_another_model_is_another_question(tmp_path, log):
    from sklearn.tree import DecisionTreeClassifier

    for depth in (1, 2, 1):
        model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, parity(X))
        faithkit.evaluate(model, X, explainer=Slow(), store=tmp_path / "store")
    assert len(log()) == 80


def test_only_new_rows_are_explained(tmp_path, log):
    evaluated(X[:20], store=tmp_path / "store")
    evaluated(X, store=tmp_path / "store")
    assert sorted(log()) == list(range(40))


@pytest.mark.parametrize("damage", ["cut off", "one bit", "emptied", "another format"])
def test_a_damaged_chunk_is_found_and_recomputed(tmp_path, log, damage):
    whole = evaluated(store=tmp_path / "store").to_json()
    victim = sorted((tmp_path / "store").glob("*/*.chunk"))[3]
    data = bytearray(victim.read_bytes())
    if damage == "cut off":
        data = data[: len(data) // 2]
    elif damage == "one bit":
        data[-1] ^= 1
    elif damage == "emptied":
        data = b""
    else:
        data = b"faithkit chunk 9\n" + data[len(MAGIC) :]
    victim.write_bytes(data)
    assert evaluated(store=tmp_path / "store").to_json() == whole
    assert len(log()) == 44


def test_the_store_holds_no_pickle(tmp_path):
    evaluated(store=tmp_path / "store")
    for file in (tmp_path / "store").glob("*/*.chunk"):
        assert b"\x80\x04\x95" not in file.read_bytes()  # how a pickle of protocol 4 or 5 begins


def test_every_kind_of_explanation_survives_the_store(tmp_path):
    rule = faithkit.Rule([faithkit.Interval("age", high=0.1), faithkit.OneOf("job", ["clerk", 3])])
    batches = [
        faithkit.Explanations.vectors(np.array([[0.1, np.nan], [-0.0, np.inf]], dtype=np.float32)),
        faithkit.Explanations.of([rule, None], kind="rule", relation="in-scope"),
        faithkit.Explanations.of([("a", 1, 2.5, float("nan")), frozenset({"x"})]),
        faithkit.Explanations(
            kind="example",
            values=pd.DataFrame({"age": [1.5, None], "job": ["a", None], "c": pd.Categorical(["x", "y"])}),
            shared={"prototypes": np.eye(2), "names": ["a"], "deep": {"er": (1, None)}},
        ),
    ]
    store = Store(tmp_path).open()
    for i, batch in enumerate(batches):
        store.write(f"{i:032}", Chunk(batch, np.arange(2), [None, None], ("a note",)))
        found = store.read(f"{i:032}")
        assert found.notes == ("a note",)
        assert (found.found.kind, found.found.relation) == (batch.kind, batch.relation)
        joint = faithkit.Explanations.concat([batch, found.found])
        codes = faithkit.measure.grouping.group(joint.values, joint.missing).codes
        kept = ~batch.missing
        assert (codes[:2][kept] == codes[2:][kept]).all()
    shared = found.found.shared
    assert (shared["prototypes"] == np.eye(2)).all()
    assert shared["deep"] == {"er": (1, None)}
    pd.testing.assert_frame_equal(found.found.values, batches[-1].values)


def test_what_cannot_be_stored_is_refused_with_a_way_out(tmp_path):
    with pytest.raises(faithkit.InputError, match=r"cannot be stored.*Run without a store"):
        faithkit.evaluate(parity, X, explainer=objects, store=tmp_path)


def objects(X):
    return [object] * len(X)


def mount(folder, *options):
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("needs the right to mount a file system")


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "small"
    mount(folder, "-t", "tmpfs", "-o", "size=64k", "tmpfs")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def wide(X):
    return np.random.default_rng(0).normal(size=(len(X), 50))


def test_a_full_disk_is_a_clear_error_and_what_is_kept_stays_readable(small_disk):
    rows = np.arange(400.0)[:, None]
    with pytest.raises(faithkit.StoreError, match=r"No space left.*free some space.*is intact"):
        faithkit.evaluate(parity, rows, explainer=wide, store=small_disk / "store")
    files = list((small_disk / "store").glob("*/*"))
    assert files
    assert all(re.fullmatch(r"[0-9a-f]{32}\.chunk", file.name) for file in files)
    assert all(Store(small_disk / "store").read(file.stem) for file in files)


def test_a_read_only_store_serves_what_it_has_and_refuses_the_rest(small_disk, log):
    whole = evaluated(X[:8], store=small_disk / "store").to_json()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert evaluated(X[:8], store=small_disk / "store").to_json() == whole
    with pytest.raises(faithkit.StoreError, match=r"Read-only.*make it writable"):
        evaluated(X, store=small_disk / "store")


def test_a_file_in_place_of_the_store_is_a_clear_error(tmp_path):
    (tmp_path / "store").write_text("hello")
    with pytest.raises(faithkit.StoreError, match="name a folder"):
        evaluated(store=tmp_path / "store")


def test_two_runs_on_one_store_do_not_disturb_each_other(tmp_path):
    runs = [start(tmp_path, n_jobs=jobs) for jobs in (1, 2)]
    texts = {finish(run) for run in runs}
    assert texts == {finish(start(tmp_path / "other"))}


# --- faults ---------------------------------------------------------------------------------------------

TROUBLE = [3, 10, 17, 24, 31, 38]  # every seventh row


def test_a_failing_row_stops_the_run_and_is_named():
    with pytest.raises(faithkit.ExplainerError, match=r"failed on row 3: ValueError: row 3.0 is not.*record"):
        evaluated(explainer=Slow(trouble="raise"))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_recorded_failures_are_unexplained_with_their_reason(n_jobs):
    result = evaluated(explainer=Slow(trouble="raise"), on_error="record", n_jobs=n_jobs)
    assert np.flatnonzero(result.sample.explanations.missing).tolist() == TROUBLE
    assert result.why_unexplained == {"ValueError": 6}
    assert ", 6 unexplained\nof the unexplained, ValueError: 6\n" in repr(result)
    assert result.sample.explanations.remarked[3] == "ValueError: row 3.0 is not to my taste"


def test_a_row_may_take_only_so_long_even_if_it_swallows_exceptions():
    started = time.monotonic()
    result = evaluated(explainer=Slow(trouble="hang"), on_error="record", row_timeout=0.2)
    assert result.why_unexplained == {"time limit of 0.2 s": 6}
    assert time.monotonic() - started < 10
    with pytest.raises(faithkit.ExplainerError, match=r"row 3: time limit of 0\.2 s"):
        evaluated(explainer=Slow(trouble="hang"), row_timeout=0.2)


def test_a_row_may_take_only_so_long_in_a_worker_too():
    result = evaluated(explainer=Slow(trouble="hang"), on_error="record", row_timeout=0.2, n_jobs=2)
    assert np.flatnonzero(result.sample.explanations.missing).tolist() == TROUBLE


def test_a_backend_that_cannot_limit_a_row_says_so():
    with (
        joblib.parallel_config(backend="threading"),
        pytest.raises(faithkit.InputError, match="sequential and loky"),
    ):
        evaluated(row_timeout=1.0, n_jobs=2)


def test_a_worker_that_dies_is_reported_and_its_row_recorded():
    with pytest.warns(faithkit.FaithkitWarning, match="a worker died"):
        result = evaluated(X[:12], explainer=Slow(trouble="die"), on_error="record", n_jobs=2)
    assert np.flatnonzero(result.sample.explanations.missing).tolist() == [3, 10]
    assert result.why_unexplained == {"worker died": 2}


def test_a_worker_that_dies_stops_the_run_and_names_the_row():
    with (
        pytest.warns(faithkit.FaithkitWarning, match="a worker died"),
        pytest.raises(faithkit.ExplainerError, match="killed its worker process on row 3"),
    ):
        evaluated(X[:8], explainer=Slow(trouble="die"), n_jobs=2)


def test_a_worker_that_dies_once_costs_nothing(tmp_path):
    flag = tmp_path / "died"

    def explain(X):
        if not flag.exists():
            flag.touch()
            os._exit(9)
        return [0] * len(X)

    with pytest.warns(faithkit.FaithkitWarning, match="once more"):
        result = faithkit.evaluate(parity, np.zeros((100, 1)), explainer=explain, n_jobs=2)
    assert result.unexplained == 0


def test_recorded_failures_do_not_hide_from_a_run_that_raises(tmp_path):
    evaluated(explainer=Slow(trouble="raise"), on_error="record", store=tmp_path)
    with pytest.raises(faithkit.ExplainerError, match="row 3"):
        evaluated(explainer=Slow(trouble="raise"), store=tmp_path)


def test_recorded_failures_are_not_tried_again(tmp_path, log):
    one = evaluated(explainer=Slow(trouble="raise"), on_error="record", store=tmp_path).to_json()
    before = len(log())
    assert evaluated(explainer=Slow(trouble="raise"), on_error="record", store=tmp_path).to_json() == one
    assert len(log()) == before


def test_a_sample_in_which_every_row_fails_is_unverifiable():
    result = faithkit.evaluate(
        parity, np.full((8, 1), 3.0), explainer=Slow(trouble="raise"), on_error="record"
    )
    assert result.unexplained == 8
    assert result.consistency.verdict == "unverifiable"


def test_warnings_given_in_workers_are_told_once():
    with pytest.warns(faithkit.FaithkitWarning, match="rough") as told:
        faithkit.evaluate(parity, X, explainer=rough, n_jobs=2)
    assert sum("rough" in str(w.message) for w in told) == 1


def rough(X):
    import warnings

    warnings.warn("a rough estimate", faithkit.FaithkitWarning, stacklevel=1)
    return [0] * len(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "'raise' or 'record', got 'ignore'"),
        ({"row_timeout": 0}, "above 0, got 0"),
        ({"row_timeout": "5"}, "a number of seconds above 0, got '5'"),
        ({"row_timeout": float("inf")}, "above 0, got inf"),
        ({"confidence": "0.9"}, "a number between 0 and 1, got '0.9'"),
        ({"store": ""}, "the store is '': name a folder"),
        ({"store": 5}, "the store is 5: name a folder"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_options_are_refused(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(faithkit.InputError, match=message):
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
    path = os.pathsep.join([str(PLUGIN), str(folder)])
    log = {"SLOW_LOG": str(folder / "log"), "SLOW_RUN": run}
    return subprocess.Popen(
        [sys.executable, "-m", "faithkit", "evaluate", "--data", str(data), "--target", "y", "--model",
         "odd_model:model", "--explainer", f"slow:seconds={seconds}", "--n-jobs", str(n_jobs), "--store",
         str(folder / "store"), "--json", "-"],
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
    store = Store(folder / "store")
    chunks = [store.read(file.stem) for file in (folder / "store").glob("*/*.chunk")]
    return {int(row) for chunk in chunks if chunk is not None for row in chunk.found.values[:, 0]}


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


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    resumes_without_loss(tmp_path, times=3, n_jobs=1)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_twenty_kills_lose_no_finished_chunk(tmp_path, n_jobs):
    resumes_without_loss(tmp_path, times=20, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_soon_and_says_what_is_kept(tmp_path, n_jobs):
    process = start(tmp_path, n_jobs=n_jobs, seconds=0.3, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "store").glob("*/*.chunk")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    pressed = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - pressed < 5
    assert process.returncode == 130
    assert out == ""
    assert re.search(
        r"interrupted: \d+ of 30 chunks are kept in .*; the same command goes on from there", err
    )
    assert "Traceback" not in err
