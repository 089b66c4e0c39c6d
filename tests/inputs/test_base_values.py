"""A base value among importances is no feature: it is left out, and said."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import faithkit
from faithkit.inputs.logs.base_values import sounds_like_base
from faithkit.inputs.logs.opening import open_log
from faithkit.run.scoring import score_log

RNG = np.random.default_rng(0)
PHI = pd.DataFrame(RNG.normal(size=(30, 2)).round(1), columns=["phi_age", "phi_debt"])
LABELS = np.where(PHI["phi_age"] > 0, "yes", "no")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("bias", "phi_bias", "base_value", "base_values", "expected_value")),
        *((name, True) for name in ("Intercept", "shap.base", "baseValue", "phi[BIAS]", "(intercept)")),
        *(
            (name, False)
            for name in ("database", "unbiased", "phi_basement", "interception", "age", "biased")
        ),
    ],
)
def test_a_name_says_whether_it_is_a_base_value(name, expected):
    assert sounds_like_base(name) == expected


def written(table, suffix, folder):
    path = folder / f"log.{suffix}"
    table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path, row_group_size=7)
    return str(path)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_base_value_that_a_pattern_takes_is_left_out_as_if_it_were_not_there(suffix, tmp_path):
    path = written(PHI.assign(phi_bias=7.5, label=LABELS), suffix, tmp_path)
    left, without, kept = (
        score_log(open_log(path, "label", patterns), discretizer="sign-of-top:k=1").result.to_dict()
        for patterns in (("phi_*",), ("phi_*,!phi_bias",), ("phi_*", "phi_bias"))
    )
    said = left.pop("notes")
    assert said == [
        "'phi_bias' is the same in every row and was taken for a base value, which is no feature, and left "
        "out; to keep it, give the full name."
    ]
    assert without.pop("notes") == kept.pop("notes") == []
    assert left == without
    assert kept["n_explanations"] == 1  # it is the largest number of every row


def test_it_is_left_out_of_features_and_weights_in_a_cell(tmp_path):
    rows = [
        {"label": str(label), "phi": phi}
        for label, phi in zip(LABELS, PHI.assign(bias=7.5).to_dict("records"), strict=True)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = score_log(open_log(str(tmp_path / "log.jsonl"), "label", ("phi",)), discretizer="sign-of-top:k=1")
    assert found.result.notes[0].startswith("'bias' is the same in every row and was taken for a base value")
    assert found.result.notes[0].endswith("to keep it, write lists of numbers.")
    assert found.result.consistency == faithkit.score(LABELS, PHI, discretizer="sign-of-top:k=1").consistency


TABLES = {
    "a frame": lambda table: table,
    "an Arrow table": pa.Table.from_pandas,
    "dicts": lambda table: table.to_dict("records"),
    "a column of dicts": lambda table: pd.Series(table.to_dict("records")),
    "pairs": lambda table: [list(row.items()) for row in table.to_dict("records")],
}


@pytest.mark.parametrize("form", TABLES)
def test_python_leaves_it_out_of_a_table_and_keeps_it_in_an_array(form):
    table = PHI.assign(bias=7.5, base_value=1.0)
    found = faithkit.score(LABELS, TABLES[form](table), discretizer="sign-of-top:k=1")
    assert re.match(
        "'(bias|base_value)' and '.*' are the same in every row and were taken for base", found.notes[0]
    )
    assert found.consistency == faithkit.score(LABELS, PHI, discretizer="sign-of-top:k=1").consistency
    assert faithkit.score(LABELS, table.to_numpy(), discretizer="sign-of-top:k=1").n_explanations == 1


@pytest.mark.parametrize(
    "more",
    [
        {"phi_bias": [0.5, 0.6] * 15},
        {"phi_constant": 7.5},
        {"phi_bias": "none"},
        {"phi_bias": np.nan},
    ],
    ids=["it varies", "another name", "no number", "nothing"],
)
def test_what_varies_or_is_called_otherwise_is_a_feature(more):
    assert faithkit.score(LABELS, PHI.assign(**more)).notes == ()


def test_a_table_of_nothing_else_is_kept():
    assert faithkit.score(LABELS, pd.DataFrame({"bias": np.ones(30)})).notes == ()


def test_a_row_that_has_only_a_base_value_has_no_explanation(tmp_path):
    table = PHI.assign(phi_bias=7.5)
    table.loc[3, ["phi_age", "phi_debt"]] = np.nan
    assert faithkit.score(LABELS, table).unexplained == 1
    path = written(table.assign(label=LABELS), "parquet", tmp_path)
    assert score_log(open_log(path, "label", ("phi_*",))).result.unexplained == 1
