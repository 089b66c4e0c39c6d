"""Two files of one log: joined by id, one row to one row, or refused."""

import json

import numpy as np
import pandas as pd
import pytest
from consoles import run
from looping import one_test

N = 40
ROWS = np.arange(N)
PREDICTIONS = pd.DataFrame(
    {"customer": 4700 + ROWS, "age": 20 + ROWS % 3, "label": np.where(ROWS % 3, "yes", "no")}
)
SHAP = pd.DataFrame(
    {"customer": 4700 + ROWS, "phi_age": (ROWS % 3 - 1) / 4, "phi_job": [None, 0.5] * (N // 2)}
)
ORDER = np.random.default_rng(0).permutation(N)


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    return str(path)


def score(*files, exit_code=0):
    result = run("score", *files, "--prediction", "label", "--explanation", "phi_*", "--diagnose", "none")
    assert result.exit_code == exit_code, result.output
    return result


@one_test
@pytest.mark.parametrize(("first", "second"), [("csv", "parquet"), ("parquet", "jsonl"), ("jsonl", "csv")])
def test_two_files_in_any_order_are_measured_as_one(tmp_path, first, second):
    whole = write(PREDICTIONS.merge(SHAP, on="customer"), tmp_path / "whole.csv")
    score(whole, "--out", str(tmp_path / "whole.json"))
    predictions = write(PREDICTIONS, tmp_path / f"predictions.{first}")
    shap = write(SHAP.iloc[ORDER], tmp_path / f"shap.{second}")
    score(predictions, "--with", shap, "--id", "customer", "--out", tmp_path / "joined.json")
    results = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "joined")]
    assert [result.pop("origin")["data"] for result in results] == ["whole.csv", f"predictions.{first}"]
    assert results[0] == results[1]


def test_ids_are_compared_as_texts_without_blanks_around_them(tmp_path):
    predictions = write(PREDICTIONS, tmp_path / "predictions.parquet")
    shap = write(SHAP.assign(customer=[f"{id} " for id in SHAP["customer"]]), tmp_path / "shap.csv")
    assert "40 instances" in score(predictions, "--with", shap, "--id", "cust*").stdout


REFUSALS = {
    "an id twice": (SHAP.assign(customer=[4700, 4700, *range(4702, 4700 + N)]), "shap.csv has 1 values of 'customer' more than once, such as '4700' in rows 0 and 1"),
    "an id that is missing": (SHAP[1:], "1 of 40 values of 'customer' in predictions.csv are not in shap.csv: '4700'"),
    "an id too many": (pd.concat([SHAP, SHAP[:1].assign(customer=1)]), "1 of 41 values of 'customer' in shap.csv are not in predictions.csv: '1'"),
    "floats": (SHAP.astype({"customer": float}), "Expected the same ids in both, written alike (shap.csv has '4700.0')"),
    "a row without an id": (SHAP.astype({"customer": object}).where(SHAP["customer"] != 4703), "row 3 of shap.csv has no 'customer'"),
    "a column of both": (SHAP.assign(age=0.1), "both have 'age'; expected 'customer' only. Rename these columns in one of them, such as to 'phi_age'"),
    "another name": (SHAP.rename(columns={"customer": "client"}), "shap.csv has no column 'customer', by which --with joins it to predictions.csv."),
}  # fmt: skip


@one_test
@pytest.mark.parametrize(("shap", "message"), REFUSALS.values(), ids=REFUSALS)
def test_files_that_do_not_match_one_to_one_are_refused(tmp_path, shap, message):
    predictions = write(PREDICTIONS, tmp_path / "predictions.csv")
    explanations = write(shap, tmp_path / "shap.csv")
    error = score(predictions, "--with", explanations, "--id", "customer", exit_code=1).stderr
    assert message in error


def test_the_column_that_joins_is_asked_for(tmp_path):
    predictions, shap = write(PREDICTIONS, tmp_path / "p.csv"), write(SHAP, tmp_path / "s.csv")
    assert "name it with --id" in score(predictions, "--with", shap, exit_code=2).stderr
