"""Clusters: a real scheduler with two worker processes, reached as a person reaches it, by its address."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from documented import DOCS, blocks
from lazy_modules import import_when_used
from slow_runs import PLUGIN

import faithkit

distributed = import_when_used("distributed")
dask_cluster = import_when_used("faithkit_executors.dask_cluster")

ROWS = 60

CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    table = {"id": range(ROWS), "b": np.arange(ROWS) % 3, "y": np.arange(ROWS) % 2}
    pd.DataFrame(table).to_csv(folder / "data.csv", index=False)
    (folder / "odd_model.py").write_text("def model(X):\n    return (X['id'] // 2) % 2\n")
    (folder / "cluster.py").write_text(CLUSTER)
    return folder


def environment(folder, plugin=True, **more):
    path = [*([str(PLUGIN)] if plugin else []), str(folder), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), **more}


def start(folder, **options):
    process = subprocess.Popen(
        [sys.executable, "cluster.py"], cwd=folder, env=environment(folder, **options), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = process.stdout.readline().strip()
    assert address.startswith("tcp://")
    return process, address


@pytest.fixture(scope="module")
def scheduler(folder):
    process, address = start(folder, SLOW_LOG=str(folder / "slow.log"))
    yield address
    process.communicate("", timeout=60)


def command(folder, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "faithkit", *map(str, arguments)], cwd=folder, text=True,
        env=environment(folder, **options), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process):
    out, err = process.communicate(timeout=100)
    return process.returncode, out, err


def evaluate(*more, seconds=0.0):
    return ("evaluate", "--data", "data.csv", "--target", "y", "--model", "odd_model:model", "--explainer",
            f"slow:seconds={seconds}", "--diagnose", "none", "--out", "-", "--format", "json", *more)  # fmt: skip


def on(scheduler):
    return "--executor", f"dask:scheduler={scheduler}"


def stored_on(scheduler):
    return "--executor", f"stored:folder=store,inside=dask:scheduler={scheduler}"


@pytest.fixture(scope="module")
def alone(folder):
    code, out, err = finish(command(folder, *evaluate()))
    assert code == 0, err
    return out


pytestmark = [pytest.mark.xdist_group("cluster"), pytest.mark.slow]


def test_a_cluster_changes_no_byte(folder, scheduler, alone):
    code, out, err = finish(command(folder, *evaluate(*on(scheduler))))
    assert code == 0, err
    assert out == alone
    rows = [int(line.split()[-1]) for line in (folder / "slow.log").read_text().splitlines()]
    assert sorted(rows) == list(range(ROWS))  # it was the workers who explained, each row once


def test_what_workers_explained_is_kept(folder, scheduler, alone):
    assert finish(command(folder, *evaluate(*stored_on(scheduler))))[:2] == (0, alone)
    assert len(list((folder / "store").glob("*/*.npz"))) == ROWS // 4
    explained = (folder / "slow.log").read_text()
    assert finish(command(folder, *evaluate(*stored_on(scheduler))))[:2] == (0, alone)
    assert (folder / "slow.log").read_text() == explained


def workers(address):
    with distributed.Client(address, set_as_default=False) as client:
        return client.run(os.getpid)


def test_a_worker_that_is_killed_during_the_run_changes_no_byte(folder, scheduler):
    undisturbed = finish(command(folder, *evaluate(seconds=0.05)))
    log = folder / "slow.log"
    size = log.stat().st_size if log.exists() else 0
    victim = next(iter(workers(scheduler).values()))
    process = command(folder, *evaluate(*on(scheduler), seconds=0.05))
    deadline = time.monotonic() + 60
    while not log.exists() or log.stat().st_size <= size + 20:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(victim, signal.SIGKILL)
    code, out, err = finish(process)
    assert code == 0, err
    assert out == undisturbed[1]


def test_rows_that_kill_every_worker_end_the_run_or_are_recorded(folder):
    pd.read_csv(folder / "data.csv")[:8].to_csv(folder / "few.csv", index=False)  # row 3 kills
    # a task that killed two workers has killed every one, and none is given it again
    process, address = start(folder, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
    try:
        arguments = [{"data.csv": "few.csv", "slow:seconds=0.0": "slow:trouble=vanish"}.get(part, part)
                     for part in evaluate(*on(address))]  # fmt: skip
        raised = finish(command(folder, *arguments))
        recorded = finish(command(folder, *arguments, "--on-error", "record"))
    finally:
        process.communicate("", timeout=60)
    assert raised[:2] == (1, "")
    assert re.search(
        "error: (a task has killed|the workers of the cluster died|the cluster is gone)", raised[2]
    )
    assert recorded[0] == 0, recorded[2]
    assert json.loads(recorded[1])["why_unexplained"] == {"worker died": 1}
    assert "Traceback" not in raised[2] + recorded[2]


def test_rows_on_which_an_explainer_tries_to_leave_cost_no_worker(folder, scheduler):
    before = workers(scheduler)
    arguments = [part.replace("seconds=0.0", "trouble=exit") for part in evaluate(*on(scheduler))]
    code, out, err = finish(command(folder, *arguments))
    assert (code, out) == (1, "")
    assert re.match(r"error: the explainer slow:trouble=exit failed on row \d+: SystemExit: 0\. With", err)
    code, out, err = finish(command(folder, *arguments, "--on-error", "record"))
    assert code == 0, err
    assert json.loads(out)["why_unexplained"] == {"SystemExit": 9}
    assert workers(scheduler) == before


# --- in Python ------------------------------------------------------------------------------------------


def test_a_client_of_the_caller_is_used_and_left_open(scheduler):
    X = np.arange(40.0)[:, None]
    with distributed.Client(scheduler, set_as_default=False) as client:
        executor = dask_cluster.Dask(client)
        result = faithkit.evaluate(
            lambda X: X[:, 0] > 9, X, lambda X: [os.getpid()] * len(X), executor=executor
        )
        assert client.status == "running"
    assert set(result.rows.explanations.values) <= set(workers(scheduler).values())


def test_warnings_given_on_workers_are_told_once(scheduler):
    def rough(X):
        import warnings

        warnings.warn("a rough estimate", faithkit.errors.FaithkitWarning, stacklevel=1)
        return [0] * len(X)

    X = np.arange(200.0)[:, None]
    with pytest.warns(faithkit.errors.FaithkitWarning, match="rough") as record:
        faithkit.evaluate(lambda X: X[:, 0] > 9, X, rough, executor=f"dask:scheduler={scheduler}")
    assert sum("rough" in str(w.message) for w in record) == 1


def test_a_row_that_took_too_long_is_late_when_it_is_done(scheduler):
    def explain(X):
        time.sleep(0.4 * float(X[0, 0] == 3))
        return X

    executor = f"dask:scheduler={scheduler},timeout=0.2"
    X = np.arange(6.0)[:, None]
    result = faithkit.evaluate(lambda X: X[:, 0] > 2, X, explain, executor=executor, on_error="record")
    assert result.why_unexplained == {"time limit of 0.2 s": 1}


# --- bad input ------------------------------------------------------------------------------------------


class Trap:
    """A model that cannot be unpickled on a worker."""

    def predict(self, X):
        return X[:, 0] > 9

    def __reduce__(self):
        return exec, (f"import os; os.getpid() == {os.getpid()} or exit(0)",)


def test_a_model_that_leaves_as_it_is_unpickled_is_one_line_and_costs_no_worker(scheduler):
    before = workers(scheduler)
    message = r"^the worker tcp://.*, taking up the work, failed with SystemExit: 0\. Install there"
    executor = f"dask:scheduler={scheduler}"
    with pytest.raises(faithkit.errors.InputError, match=message):
        faithkit.evaluate(Trap(), np.arange(20.0)[:, None], lambda X: [0] * len(X), executor=executor)
    assert workers(scheduler) == before


def test_the_address_of_a_worker_is_none_of_a_scheduler(scheduler):
    worker = next(iter(workers(scheduler)))
    message = f"no Dask scheduler answers at {worker} .there is a 'Worker'"
    with (
        pytest.raises(faithkit.errors.InputError, match=message),
        dask_cluster.connect(worker),
    ):
        pass


def test_a_worker_without_the_plugin_is_named_with_what_it_lacks(folder):
    process, address = start(folder, plugin=False)
    try:
        code, out, err = finish(command(folder, *evaluate(*on(address), "--out", "result.json")))
        names = list(workers(address))
    finally:
        process.communicate("", timeout=60)
    assert (code, out) == (1, "")
    assert any(f"the worker {name} cannot do this" in err for name in names)
    assert "'slow'" in err
    assert "Traceback" not in err
    assert not (folder / "result.json").exists()


# --- the page that shows all this -----------------------------------------------------------------------


def read_commands():
    """Yield the page's commands, each with the lines that are shown as its output."""
    page = "howto/cluster.rst"
    code_blocks = [block for block in blocks(page, (DOCS / page).read_text()) if block.name == "code-block"]
    for block, after in zip(code_blocks, [*code_blocks[1:], None], strict=True):
        output = after.body if after is not None and after.argument == "text" else ""
        for line in block.commands:
            yield line, output


def test_the_page_can_be_followed(tmp_path):
    pytest.importorskip("faithkit_feature_importance")
    environ = os.environ | {"PYTHONPATH": str(DOCS / "tutorials")}
    subprocess.run([sys.executable, "-m", "make_log"], cwd=tmp_path, env=environ, check=True)
    log = pd.read_parquet(tmp_path / "loans.parquet")
    (tmp_path / "decisions").mkdir()
    for quarter, part in log.groupby("quarter"):
        part.to_parquet(tmp_path / "decisions" / f"{quarter}.parquet")
    port = str(free_port())
    commands = [(line.replace("8786", port), output) for line, output in read_commands()]
    servers = [subprocess.Popen(shlex.split(line), cwd=tmp_path, stderr=subprocess.DEVNULL)
               for line, _ in commands if line.startswith("dask ")]  # fmt: skip
    try:
        with distributed.Client(f"tcp://127.0.0.1:{port}", timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        for line, output in commands:
            if line.startswith("faithkit "):
                code, out, err = finish(command(tmp_path, *shlex.split(line)[1:]))
                assert code == 0, err
                assert out.startswith(output), (line, out)
    finally:
        for server in servers[::-1]:
            server.terminate()
            server.wait(30)
    assert len(servers) == 2
    assert sum(line.startswith("faithkit ") for line, _ in commands) == 2


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
