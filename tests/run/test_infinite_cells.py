"""Infinite cells of a file are refused among predictions and explanations, and else numbers like others."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.explanations.explanations import InfiniteImportanceError
from faithkit.inputs.files import parquet
from faithkit.inputs.logs.log_files import open_log

N = 30
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


def refuse_constant(constant):
    raise AssertionError(f"{constant} is no JSON")


def run_score(path, *options):
    columns = ("--prediction", "label", "--explanation", "phi_a,phi_b")
    arguments = ["score", path, *columns, "--diagnose", "none", "--out", "-", "--format", "json", *options]
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


SAME_TOP = ("--relation", "same-top-features:k=1", "--features", "x,group")
CONTRADICTIONS = ("--contradictions", 9, "--features", "x")
CASES = [  # each option with explanations, and each column with the options that read it
    ("phi_a", ("--diagnose", "reader")),
    ("phi_a", CONTRADICTIONS),
    ("phi_a", ("--by", "group")),
    ("phi_a", ("--relation", "near-explanation:tau=0.5")),
    ("phi_a", ("--permutations", 5)),
    ("phi_a", SAME_TOP),
    ("phi_a", ("--discretize", "sign")),
    ("phi_b", ("--discretize", "1fp")),
    ("x", CONTRADICTIONS),
    ("x", ("--by", "x")),
    ("x", SAME_TOP),
    ("group", ("--by", "group")),
    ("group", SAME_TOP),
    ("label", ("--by", "group")),
    ("label", ("--relation", "near-explanation:tau=0.5")),
]


@one_test
@pytest.mark.parametrize(("place", "column", "options"), [(i, *case) for i, case in enumerate(CASES)])
def test_a_log_gives_a_number_or_a_line(log, place, column, options):
    suffix = [".csv", ".parquet"][place % 2]  # in turn
    run = run_score(log(column, suffix), *options)
    assert run.exit_code == 1 or not column.startswith("phi_")
    if run.exit_code == 1:
        line = run.stderr.strip().splitlines()[-1]
        assert ("infinite: drop" if column == "label" else "infinite importance") in line.replace(
            "infinite (the first in row 0)", "infinite"
        )
        assert column == "label" or column.startswith("phi_")
    else:
        assert run.exit_code == 0, run.output
        payload = json.loads(run.stdout, parse_constant=refuse_constant)
        assert 0 <= payload["measures"]["consistency"]["value"] <= 1
        assert payload["n"] == N


WITH_INFINITY = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, -np.inf], [np.inf, 0.0]])
FORMS = {
    "vectors": lambda values: faithkit.Explanations.vectors(values),
    "kind": lambda values: faithkit.Explanations(kind="vector", values=values),
    "array": lambda values: faithkit.score([0, 1, 0, 1], values),
    "half precision": lambda values: faithkit.score([0, 1, 0, 1], values.astype(np.float16)),
    "list": lambda values: faithkit.score([0, 1, 0, 1], values.tolist()),
    "frame": lambda values: faithkit.score([0, 1, 0, 1], pd.DataFrame(values).astype(object)),
    "dicts": lambda values: faithkit.plugin.adapt(
        [dict(zip("ab", row, strict=True)) for row in values.tolist()]
    ),
    "function": lambda values: faithkit.evaluate(
        lambda X: X[:, 0] > 1, np.arange(4.0)[:, None], explainer=lambda X: values[X[:, 0].astype(int)]
    ),
}


@one_test
@pytest.mark.parametrize("form", FORMS)
def test_infinite_importances_are_refused_in_every_form(form):
    row = "failed on row 2: " if form == "function" else "row 2 has "
    with pytest.raises(faithkit.errors.FaithkitError, match=f"{row}an infinite importance.* give NaN where"):
        FORMS[form](WITH_INFINITY)


def test_rows_with_infinite_importances_may_be_recorded_as_unexplained():
    values = WITH_INFINITY[:, :1]
    result = faithkit.evaluate(
        lambda X: X[:, 0] > 1,
        np.arange(4.0)[:, None],
        explainer=lambda X: values[X[:, 0].astype(int)],
        on_error="record",
    )
    assert result.why_unexplained == {
        "no explanation": 1,
        "an infinite importance, which says nothing about the model": 1,
    }


def test_infinite_values_of_missing_rows_and_sums_beyond_floats_are_no_infinite_importances():
    marked = np.array([False, False, True, True])
    assert faithkit.Explanations.vectors(WITH_INFINITY, missing=marked).missing.tolist() == [
        False,
        True,
        True,
        True,
    ]
    assert len(faithkit.Explanations.vectors([[1.7e308, 1.7e308]])) == 1


def test_the_row_of_an_infinite_importance_is_that_of_the_log(tmp_path, monkeypatch):
    frame = pd.DataFrame({"phi": np.arange(40.0), "label": 0})
    frame.loc[33, "phi"] = np.inf
    frame.to_parquet(tmp_path / "log.parquet", row_group_size=10)
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 8)
    log = open_log(str(tmp_path / "log.parquet"), "label", ("phi",))
    with pytest.raises(InfiniteImportanceError, match="row 33 has") as refused:
        list(log.logs())
    assert pickle.loads(pickle.dumps(refused.value)).row == 33


def test_infinite_predictions_and_cells_are_texts_among_pairs(tmp_path):
    (tmp_path / "log.csv").write_text("label,phi_a,phi_b,x\ninf,1,0,-inf\n-inf,1,0,0.5\n1,2,0,0.5\n")
    run = run_score(tmp_path / "log.csv", "--features", "x", "--contradictions", "1")
    (worst,) = json.loads(run.stdout, parse_constant=refuse_constant)["contradictions"]
    assert worst["predictions"] == {"-inf": 1, "inf": 1}
    assert [(sample_row["prediction"], sample_row["values"]) for sample_row in worst["pair"]] == [
        ("inf", {"x": "-inf"}),
        ("-inf", {"x": 0.5}),
    ]


def test_a_model_that_takes_no_infinite_cell_is_named(tmp_path):
    rows = "".join(f"{k % 7},{k % 2}\n" for k in range(60))
    (tmp_path / "people.csv").write_text(f"x,y\ninf,1\n{rows}")
    run = CliRunner().invoke(
        main,
        [
            *("evaluate", "--data", str(tmp_path / "people.csv"), "--target", "y", "--model", "tree"),
            *("--explainer", "tree", "--out", "-", "--format", "json"),
        ],
    )
    assert run.exit_code == 1
    (line,) = run.stderr.splitlines()
    assert "infinity" in line
