"""Whatever is killed, and whoever writes at the same time: nothing is lost, and nothing is counted twice."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from run.monitoring.streams import log

import faithkit

DAYS = 40
KILLS = 20
PATIENCE = 300  # seconds


@pytest.fixture
def folder(tmp_path):
    log(3000, seed=0).to_parquet(tmp_path / "reference.parquet")
    for day in range(DAYS):
        place = tmp_path / "log" / f"date=2026-{1 + day // 20:02}-{1 + day % 20:02}"
        place.mkdir(parents=True)
        log(200, seed=1 + day).to_parquet(place / "part.parquet")
    return tmp_path


def begin(folder, state, *logs):
    """Start the command in a session of its own, all of which can be killed."""
    roles = ["--reference", "reference.parquet", "--prediction", "label", "--explanation", "why"]
    return subprocess.Popen(
        [sys.executable, "-m", "faithkit", "monitor", state, *logs, *roles],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process):
    _, told = process.communicate(timeout=PATIENCE)
    return process.returncode, told


def count(path):
    """Return how many looks a state has; who may only read cannot clear up after somebody who was killed."""
    try:
        with sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=PATIENCE) as opened:
            return opened.execute("SELECT count(*) FROM looks").fetchone()[0]
    except sqlite3.OperationalError:  # not yet there, or not yet made
        return 0


def content(path):
    """Return everything in a state."""
    with sqlite3.connect(path) as opened:
        tables = ("settings", "pool", "looks")
        return {name: opened.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in tables}


@pytest.mark.slow
def test_twenty_kills_at_random_moments_leave_the_state_of_a_run_that_nobody_disturbed(folder):
    assert ended(begin(folder, "quiet.state", "log"))[0] == 0
    expected = content(folder / "quiet.state")
    assert len(expected["looks"]) == DAYS
    moments, state, before, seen = random.Random(0), folder / "killed.state", 0, []
    for number in range(KILLS):
        process = begin(folder, "killed.state", "log")
        # some at the very beginning, the others while looks are added
        wanted = before if number % 4 == 0 else before + moments.randint(1, 3)
        deadline = time.monotonic() + PATIENCE
        while count(state) < wanted and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(moments.random() * (2.5 if number % 4 == 0 else 0.05))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        seen.append(process.returncode)
        after = count(state)
        assert after >= before
        if after:
            names = [look.name for look in faithkit.Monitor.open(state).looks]
            assert names == [f"date=2026-{1 + day // 20:02}-{1 + day % 20:02}" for day in range(after)]
        before = after
    assert seen.count(-signal.SIGKILL) >= KILLS // 2  # the others had done all their work
    assert before > 0
    assert ended(begin(folder, "killed.state", "log"))[0] == 0
    assert content(state) == expected


@pytest.mark.slow
def test_two_writers_of_one_folder_add_every_day_once(folder):
    both = [begin(folder, "both.state", "log") for _ in range(2)]
    assert [ended(process)[0] for process in both] == [0, 0]
    assert ended(begin(folder, "one.state", "log"))[0] == 0
    assert content(folder / "both.state") == content(folder / "one.state")


@pytest.mark.slow
def test_two_writers_of_different_days_add_all_of_them(folder):
    days = sorted((folder / "log").iterdir())
    parts = [[str(day) for day in days[start::2]] for start in (0, 1)]
    both = [begin(folder, "both.state", *part) for part in parts]
    assert [ended(process)[0] for process in both] == [0, 0]
    told = faithkit.Monitor.open(folder / "both.state").to_dict()
    assert sorted(look["name"] for look in told["looks"]) == [day.name for day in days]
    assert ended(begin(folder, "one.state", "log"))[0] == 0
    alone = faithkit.Monitor.open(folder / "one.state").to_dict()
    names = ("n", "unverified", "agreement", "reference", "calibration")
    assert {name: told[name] for name in names} == {name: alone[name] for name in names}


@pytest.mark.slow
def test_of_two_writers_of_one_file_one_is_refused(folder):
    log(200, seed=99).to_csv(folder / "one.csv", index=False)
    both = [ended(process) for process in [begin(folder, "both.state", "one.csv") for _ in range(2)]]
    assert sorted(code for code, _ in both) == [0, 1]
    assert sum("was added before" in told for _, told in both) == 1
    assert count(folder / "both.state") == 1
