"""Which columns a model sees on the command line, and how rows are found and called."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test
from sklearn.tree import DecisionTreeClassifier

from faithkit.errors import InputError
from faithkit.inputs.evaluation_inputs import prepare

N = 90
MODEL_COLUMNS = ["age", "debt"]


@pytest.fixture
def loans(tmp_path, monkeypatch):
    """A table with more columns than its model sees, and a background with others beside."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "branch": random.choice(["north", "south"], N),
            "debt": random.normal(size=N).round(1),
            "customer": [f"c{row // 2:03}" for row in range(N)],
            "age": random.integers(20, 60, N),
            "weight": random.integers(1, 3, N),
        }
    )
    table["decision"] = np.where(table["debt"] > 0, "no", "yes")
    table.to_csv("loans.csv", index=False)
    table[["debt", "weight", "age", "customer"]].assign(shift="late").to_csv("known.csv", index=False)
    table[MODEL_COLUMNS].to_csv("narrow.csv", index=False)
    joblib.dump(
        DecisionTreeClassifier(max_depth=2).fit(table[MODEL_COLUMNS], table["decision"]), "model.joblib"
    )
    return table


FILE = {"data": "loans.csv", "model": "model.joblib", "trust_pickle": True}
TRAINED = {"data": "loans.csv", "target": "decision", "model": "tree"}


@one_test
@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, ["branch", "debt", "customer", "age", "weight"]),
        ({"drop": "cust*"}, ["branch", "debt", "age", "weight"]),
        ({"drop": "customer,weight"}, ["branch", "debt", "age"]),
        ({"columns": "*,!customer"}, ["branch", "debt", "age", "weight"]),
        ({"columns": "age,debt,branch", "drop": "b*"}, ["debt", "age"]),
        ({"id": "customer", "weights": "weight"}, ["branch", "debt", "age"]),
        ({"id": "customer", "columns": "age,customer"}, ["customer", "age"]),
    ],
)
def test_a_model_that_is_trained_sees_what_is_not_taken_out(loans, options, shown):
    inputs = prepare(**TRAINED, **options)
    assert list(inputs.X) == shown
    assert list(inputs.model.feature_names_in_) == shown


@one_test
@pytest.mark.parametrize("roles", [{}, {"weights": "age"}, {"clusters": "debt", "id": "age"}], ids=str)
def test_a_model_that_knows_its_columns_sees_them_whatever_else_they_are(loans, roles):
    inputs = prepare(**FILE, **roles, background="known.csv", pool="known.csv")
    assert [list(table) for table in (inputs.background, *inputs.pool.pieces())] == [
        MODEL_COLUMNS,
        MODEL_COLUMNS,
    ]
    assert set(MODEL_COLUMNS) < set(inputs.X)


def test_a_column_that_the_model_needs_cannot_be_dropped(loans):
    with pytest.raises(InputError, match="X lacks 'debt'"):
        prepare(**FILE, drop="debt", background="known.csv")
    with pytest.raises(InputError, match="no column is left for the model"):
        prepare(**TRAINED, drop="*")


MODEL = ("--model", "model.joblib", "--trust-pickle")


def evaluate(*options):
    explainer = ("--explainer", "tree:max_depth=1", "--diagnose", "none", "--control-draws", "0")
    result = run("evaluate", *MODEL, *explainer, *options, "--out", "-", "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_numbers_are_those_of_the_narrow_table(loans):
    whole, narrow = (
        evaluate("--data", name, "--background", "known.csv") for name in ("loans.csv", "narrow.csv")
    )
    assert whole.pop("notes") == [
        "The model does not use the columns 'branch', 'customer', 'weight', 'decision'."
    ]
    assert narrow.pop("notes") == []
    assert [table.pop("origin")["data"] for table in (whole, narrow)] == ["loans.csv", "narrow.csv"]
    assert whole == narrow


def test_groups_weights_and_names_come_from_the_other_columns(loans):
    roles = ("--by", "branch", "--weights", "weight", "--id", "customer", "--contradictions", "1")
    result = evaluate("--data", "loans.csv", *roles)
    assert list(result["subgroups"]["groups"]["consistency"]) == ["north", "south"]
    for contradiction in result["contradictions"]:
        for sample_row in contradiction["pair"]:
            assert sample_row["id"] == loans["customer"][sample_row["row"]]


def explain_row(*options):
    return run("local", "--data", "loans.csv", *MODEL, "--explainer", "tree", *options)


def test_a_row_is_found_by_its_value_in_any_column(loans):
    loans["customer"] = [f"c{row}" for row in range(N)]
    loans.to_csv("loans.csv", index=False)
    by_name, by_number = explain_row("--row", "customer=c17"), explain_row("--row", "17", "--id", "customer")
    assert by_name.stdout.startswith("row 17 (customer c17): debt = ")  # which its rule names
    assert by_name.stdout == by_number.stdout
    assert (
        json.loads(explain_row("--row", "customer=c17", "--out", "-", "--format", "json").stdout)["id"]
        == "c17"
    )


@one_test
@pytest.mark.parametrize(
    ("row", "code", "message"),
    [
        (
            "customer=c003",
            1,
            "the sample has 2 rows of customer 'c003': give the number of one of them, 6, 7.",
        ),
        ("customer=c999", 1, "the sample has no customer 'c999'; it has 'c000', 'c000', 'c001'"),
        ("name=c003", 1, "no column matches 'name'"),
        ("c003", 2, "c003 is neither a row's number, of which the first is 0, nor COLUMN=VALUE."),
    ],
)
def test_a_row_that_cannot_be_found_is_said_in_one_line(loans, row, code, message):
    result = explain_row("--row", row)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.split())
