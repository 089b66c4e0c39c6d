"""Infinite cells of a file are numbers like others, or refused in one line; the result is JSON."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test

from faithkit.cli import main

N = 60
INFINITE = [np.inf, -np.inf]
COLUMNS = ("phi_a", "phi_b", "x", "label", "group")


@pytest.fixture
def log(tmp_path):
    """Write a log with infinite cells in the first two rows of a column."""

    def write(column, suffix):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({name: rng.integers(0, 3, N) / 2 for name in COLUMNS})
        frame["label"] *= 2  # whole, or they would be numbers
        frame.loc[:1, column] = INFINITE
        path = tmp_path / f"log{suffix}"
        if suffix == ".csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path, row_group_size=10)
        return path

    return write


def strict(constant):
    raise AssertionError(f"{constant} is no JSON")


def run(path, *options):
    columns = ("--prediction", "label", "--explanation", "phi_*")
    arguments = ["score", path, *columns, "--diagnose", "none", "--json", "-", *options]
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


OPTIONS = [
    ("--diagnose", "reader"),
    ("--violations", 9),
    ("--violations", 9, "--features", "x"),
    ("--by", "group"),
    ("--by", "x"),
    ("--relation", "near-explanation:tau=0.5"),
    ("--permutations", 5),
    ("--relation", "same-top-features:k=1", "--features", "x,group"),
    ("--discretize", "sign"),
    ("--discretize", "1fp"),
]


# each option with explanations, and each column with the options that read it
CASES = [*(("phi_a", options) for options in OPTIONS), ("phi_b", OPTIONS[0]), ("phi_b", OPTIONS[8])]
CASES += [("x", OPTIONS[place]) for place in (0, 2, 4, 7)] + [
    ("group", OPTIONS[place]) for place in (1, 3, 7)
]
CASES += [("label", OPTIONS[0]), ("label", OPTIONS[3]), ("label", OPTIONS[5])]


@one_test
@pytest.mark.parametrize(("place", "column", "options"), [(i, *case) for i, case in enumerate(CASES)])
def test_a_log_gives_a_number_or_a_line(log, place, column, options):
    suffix = [".csv", ".parquet"][place % 2]  # in turn
    done = run(log(column, suffix), *options)
    if done.exit_code == 1:
        line = done.stderr.strip().splitlines()[-1]
        assert ("infinite: drop" if column == "label" else "infinite importance") in line.replace(
            "infinite (the first in row 0)", "infinite"
        )
        assert column == "label" or column.startswith("phi_")
    else:
        assert done.exit_code == 0, done.output
        payload = json.loads(done.stdout, parse_constant=strict)
        assert 0 <= payload["measures"]["consistency"]["value"] <= 1
        assert payload["n"] == N


def test_infinite_predictions_and_cells_are_texts_among_witnesses(tmp_path):
    (tmp_path / "log.csv").write_text("label,phi,x\ninf,1,-inf\n-inf,1,0.5\n1,2,0.5\n")
    done = CliRunner().invoke(
        main,
        [
            *("score", str(tmp_path / "log.csv"), "--prediction", "label", "--explanation", "phi"),
            *("--features", "x", "--violations", "1", "--json", "-"),
        ],
    )
    (worst,) = json.loads(done.stdout, parse_constant=strict)["violations"]
    assert worst["predictions"] == {"-inf": 1, "inf": 1}
    assert [(seen["prediction"], seen["values"]) for seen in worst["witnesses"]] == [
        ("inf", {"x": "-inf"}),
        ("-inf", {"x": 0.5}),
    ]


def test_infinite_explanations_are_equal_where_they_are_the_same(tmp_path):
    (tmp_path / "log.csv").write_text("label,phi\n1,inf\n1,Infinity\n1,-inf\n0,-inf\n0,inf\n")
    done = CliRunner().invoke(
        main,
        ["score", str(tmp_path / "log.csv"), "--prediction", "label", "--explanation", "phi", "--json", "-"],
    )
    payload = json.loads(done.stdout)
    assert payload["n_explanations"] == 2
    # of three that share inf two agree with one other of two; of two that share −inf none agrees
    assert payload["measures"]["consistency"]["value"] == pytest.approx((0.5 + 0.5) / 5)


def test_a_model_that_takes_no_infinite_cell_is_named(tmp_path):
    rows = "".join(f"{k % 7},{k % 2}\n" for k in range(60))
    (tmp_path / "people.csv").write_text(f"x,y\ninf,1\n{rows}")
    done = CliRunner().invoke(
        main,
        [
            *("evaluate", "--data", str(tmp_path / "people.csv"), "--target", "y", "--model", "tree"),
            *("--explainer", "tree", "--json", "-"),
        ],
    )
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert "infinity" in line
