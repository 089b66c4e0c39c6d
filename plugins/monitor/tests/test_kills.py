"""Processes that are killed or write at the same time lose nothing and count nothing twice."""

import contextlib
import datetime as dt
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from faithkit_monitor import Monitor
from monitor.streams import log

DAYS = 12
KILLS = 6
PATIENCE = 300  # seconds


@pytest.fixture
def folder(tmp_path):
    log(3000, seed=0).to_parquet(tmp_path / "reference.parquet")
    write_days(tmp_path, DAYS)
    return tmp_path


def name_day(day):
    return f"date={dt.date(2026, 1, 1) + dt.timedelta(day)}"


def write_days(folder, number):
    """Let the log have so many days."""
    for day in range(number):
        place = folder / "log" / name_day(day)
        if not place.exists():
            place.mkdir(parents=True)
            log(200, seed=1 + day).to_parquet(place / "part.parquet")


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


def wait_for_end(process):
    _, stderr = process.communicate(timeout=PATIENCE)
    return process.returncode, stderr


def count_looks(path):
    """Return how many looks a state has; a connection that only reads cannot clear up after a killed process."""
    try:
        opened = sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=PATIENCE)
        with contextlib.closing(opened):
            return opened.execute("SELECT count(*) FROM looks").fetchone()[0]
    except sqlite3.OperationalError:  # not yet there, or not yet made
        return 0


def read_content(path):
    """Return everything in a state."""
    with contextlib.closing(sqlite3.connect(path)) as opened:
        tables = ("settings", "pool", "looks")
        return {name: opened.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in tables}


@pytest.mark.slow
def test_six_kills_at_random_moments_leave_the_state_of_a_run_that_nobody_disturbed(folder):
    moments, state, before, kills = random.Random(0), folder / "killed.state", 0, 0
    while kills < KILLS:
        write_days(folder, before + DAYS)
        process = begin(folder, "killed.state", "log")
        if kills % 4 == 0:  # at the beginning, the others while looks are added
            time.sleep(moments.random())
        else:
            wait_for(state, before + moments.randint(1, 3), process)
            time.sleep(moments.random() / 50)
        kills += kill(process)
        after = count_looks(state)
        assert after >= before
        if after:
            assert [look.name for look in Monitor.open(state).looks] == list(map(name_day, range(after)))
        before = after
    assert before > 0
    assert wait_for_end(begin(folder, "killed.state", "log"))[0] == 0
    assert wait_for_end(begin(folder, "quiet.state", "log"))[0] == 0
    assert read_content(state) == read_content(folder / "quiet.state")


def wait_for(state, looks, process):
    """Wait until a state has so many looks."""
    deadline = time.monotonic() + PATIENCE
    while count_looks(state) < looks and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)


def kill(process):
    """Kill the command and all that it started, and return whether it had not ended before."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    return process.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_two_writers_of_one_folder_add_every_day_once(folder):
    both = [begin(folder, "both.state", "log") for _ in range(2)]
    assert [wait_for_end(process)[0] for process in both] == [0, 0]
    assert wait_for_end(begin(folder, "one.state", "log"))[0] == 0
    assert read_content(folder / "both.state") == read_content(folder / "one.state")


@pytest.mark.slow
def test_two_writers_of_different_days_add_all_of_them(folder):
    days = sorted((folder / "log").iterdir())
    parts = [[str(day) for day in days[start::2]] for start in (0, 1)]
    both = [begin(folder, "both.state", *part) for part in parts]
    assert [wait_for_end(process)[0] for process in both] == [0, 0]
    payload = Monitor.open(folder / "both.state").to_dict()
    assert sorted(look["name"] for look in payload["looks"]) == [day.name for day in days]
    assert wait_for_end(begin(folder, "one.state", "log"))[0] == 0
    alone = Monitor.open(folder / "one.state").to_dict()
    names = ("n", "unverified", "agreement", "reference", "calibration")
    assert {name: payload[name] for name in names} == {name: alone[name] for name in names}


@pytest.mark.slow
def test_of_two_writers_of_one_file_one_is_refused(folder):
    log(200, seed=99).to_csv(folder / "one.csv", index=False)
    both = [wait_for_end(process) for process in [begin(folder, "both.state", "one.csv") for _ in range(2)]]
    assert sorted(code for code, _ in both) == [0, 1]
    assert sum("was added before" in stderr for _, stderr in both) == 1
    assert count_looks(folder / "both.state") == 1
