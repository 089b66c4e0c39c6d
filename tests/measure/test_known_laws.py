"""Intervals of laws whose measure is known: how often they miss, by `tests/benchmarks/simulate_coverage.py`."""

import csv
import math
import runpy
from pathlib import Path

import pytest
from looping import one_test

ROOT = Path(__file__).parents[2]
SIMULATED = runpy.run_path(str(ROOT / "tests" / "benchmarks" / "simulate_coverage.py"))
LAWS = [law for law in SIMULATED["LAWS"] if law not in SIMULATED["APPROXIMATE"]]


def most(runs):
    """Return how often an end may miss: in 2.5 % of samples, and two standard errors of so many runs."""
    share = SIMULATED["ALLOWED"]
    return share + 2 * math.sqrt(share * (1 - share) / runs)


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("law", LAWS)
def test_neither_end_misses_more_often_than_it_may(law):
    _, above, below, *_ = SIMULATED["coverage"](law, runs=60)
    assert above <= most(60)
    assert below <= most(60) + 0.02  # upper ends are promised together with lower ones, not by themselves


@pytest.mark.simulation
@pytest.mark.parametrize("law", LAWS)
def test_neither_end_misses_more_often_than_it_may_in_a_thousand_samples(law):
    _, above, below, *_ = SIMULATED["coverage"](law)
    assert above <= most(1_000)
    assert above + below <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 1_000)


def test_the_table_on_the_theory_page_has_every_law_and_none_that_misses():
    with (ROOT / "docs" / "coverage.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [row["law"] for row in table] == list(SIMULATED["LAWS"])
    for row in table:
        if row["law"] in LAWS:
            assert float(row["interval above it"].removesuffix(" %")) <= 100 * most(1_000)
