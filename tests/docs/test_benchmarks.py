"""The tables on the pages about benchmarks and builds are those that the scripts in tests/benchmarks write."""

import csv
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from documented import DOCS, ROOT

pytestmark = pytest.mark.xdist_group("benchmarks")  # what its tests share is made once

TABLES = DOCS / "benchmarks"


def run_benchmarks(*arguments):
    command = [sys.executable, ROOT / "tests" / "benchmarks", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.fixture(scope="module")
def refusal():
    return run_benchmarks("consistensy")


def read_rows(name):
    with (TABLES / name).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_every_benchmark_has_its_rows(refusal):
    names = refusal.stderr.strip().partition("there are ")[2].split(", ")
    shown = {
        row["benchmark"] for name in ("contests.csv", "growth.csv", "limits.csv") for row in read_rows(name)
    }
    assert shown == set(names)


def test_every_peer_has_its_version_and_every_machine_is_described():
    libraries = "polars|duckdb|quantus|explainiverse|shap|lime|anchor-exp|dice"
    peers = [row for row in read_rows("contests.csv") if re.search(libraries, row["peer"])]
    assert len(peers) > 8
    assert all(row["version"] for row in peers)
    processors = {
        row["processor"] for name in ("contests.csv", "growth.csv", "limits.csv") for row in read_rows(name)
    }
    assert processors == {row["processor"] for row in read_rows("machines.csv")}


def test_consistency_grows_linearly():
    growth = pd.read_csv(TABLES / "growth.csv").query("curve == 'consistency' and size >= 100_000")
    assert growth["size"].max() == 10_000_000
    slope = np.polyfit(np.log(growth["size"]), np.log(growth["seconds"]), 1)[0]
    assert 0.9 <= slope <= 1.1


@pytest.mark.slow
def test_an_unknown_benchmark_is_refused(refusal):
    assert refusal.returncode == 1
    assert "no benchmark consistensy; there are" in refusal.stderr


@pytest.mark.slow
def test_a_run_replaces_its_own_rows_only(tmp_path):
    for name in ("contests.csv", "growth.csv", "machines.csv"):
        (tmp_path / name).write_text((TABLES / name).read_text())
    before = pd.read_csv(tmp_path / "contests.csv")
    run = run_benchmarks("startup", "--write", tmp_path)
    assert run.returncode == 0, run.stderr
    after = pd.read_csv(tmp_path / "contests.csv")
    assert after["contest"].tolist() == before["contest"].tolist()
    others = before["benchmark"] != "startup"
    pd.testing.assert_frame_equal(after[others], before[others])
