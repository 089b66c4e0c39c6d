"""The table of gates on the page about builds: it is what the simulation gives, whose differences are those of `score`."""

import csv
import importlib
from pathlib import Path

import numpy as np
import pytest
from looping import one_test

import faithkit

TABLE = Path(__file__).parents[3] / "docs" / "howto" / "gates.csv"


@pytest.fixture
def simulation(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return importlib.import_module("simulate_gates")


def score_table(table):
    label, explanation = (np.repeat(codes, table.ravel()) for codes in ([0, 1, 0, 1], [0, 0, 1, 1]))
    return faithkit.score(label, explanation[:, None])


@one_test
@pytest.mark.parametrize("n", [30, 200])
def test_the_differences_are_those_of_score(simulation, n):
    rng = np.random.default_rng(n)
    now, before = simulation.draw(rng, 0.8, n), simulation.draw(rng, 0.9, n)
    expected = score_table(now).difference(score_table(before), paired=False)
    ends = simulation.difference(simulation.moments(now), simulation.moments(before))
    assert ends == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.slow
def test_each_gate_fails_as_often_as_the_table_says(simulation):
    with TABLE.open() as file:
        header, *rows = csv.reader(file)
    assert header == simulation.HEADER
    printed = np.array([[float(share.removesuffix(" %")) / 100 for share in row[2:]] for row in rows])
    builds = 100
    rates = np.concatenate([simulation.failure_rates(n, builds) for n in simulation.ROWS])
    four_errors = 4 * np.sqrt(0.25 / builds)  # the standard error of a share is largest at one half
    assert np.abs(rates - printed).max() < four_errors
