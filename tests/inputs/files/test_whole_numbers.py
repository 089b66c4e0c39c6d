"""Integers stay integers: an empty cell among them merges no two of them, whoever reads the column."""

import gzip
from itertools import cycle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from inputs.frames import read_table
from looping import one_test
from pages import json_of

import faithkit
from faithkit.inputs.evaluation_inputs import prepare
from faithkit.inputs.files import parquet
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.evaluation_report import EvaluationReport
from faithkit.run.populations.log_scoring import score_log

pytestmark = pytest.mark.usefixtures("first_pairs")

LIMIT = 2**53  # the last integer up to which each is a float of its own


def write_csv(table, folder):
    pa_csv.write_csv(table, folder / "log.csv", pa_csv.WriteOptions(quoting_style="none"))
    return folder / "log.csv"


def write_gzip(table, folder):
    (folder / "log.csv.gz").write_bytes(gzip.compress(write_csv(table, folder).read_bytes()))
    return folder / "log.csv.gz"


def write_parquet(table, folder, **options):
    pq.write_table(table, folder / "log.parquet", row_group_size=30, **options)
    return folder / "log.parquet"


def write_parquet_without_statistics(table, folder):
    return write_parquet(table, folder, write_statistics=False)


def write_folder(table, folder):
    (folder / "log").mkdir(exist_ok=True)
    for i, start in enumerate(range(0, len(table), 40)):
        pq.write_table(table.slice(start, 40), folder / "log" / f"{i:03}.parquet", row_group_size=25)
    return folder / "log"


FORMS = [write_csv, write_gzip, write_parquet, write_parquet_without_statistics, write_folder]
FILES = FORMS[:4]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 100)


# cells, dtype and values for a model, dtype and values as labels
COLUMNS = {
    "no gap": ([1, -2, 3], "int64", [1, -2, 3], "int64"),
    "a gap": ([1, -2, None], "float64", [1.0, -2.0, None], "Int64"),
    "a gap, at the limit": ([LIMIT, -LIMIT, None], "float64", [2.0**53, -(2.0**53), None], "Int64"),
    "a gap, beyond the limit": ([LIMIT + 1, 1, None], "Int64", [LIMIT + 1, 1, None], "Int64"),
    "a gap, below the limit": ([-LIMIT - 1, 1, None], "Int64", [-LIMIT - 1, 1, None], "Int64"),
    "the largest": ([2**63 - 1, -(2**63)], "int64", [2**63 - 1, -(2**63)], "int64"),
    "the largest and a gap": ([2**63 - 1, -(2**63), None], "Int64", [2**63 - 1, -(2**63), None], "Int64"),
    "unsigned": ([2**64 - 1, 0], "uint64", [2**64 - 1, 0], "uint64"),
    "unsigned and a gap": ([2**64 - 1, 0, None], "UInt64", [2**64 - 1, 0, None], "UInt64"),
}


@one_test
@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize(("cells", "dtype", "values", "labels"), COLUMNS.values(), ids=COLUMNS)
def test_integers_are_floats_for_a_model_where_no_float_rounds_one(
    tmp_path, form, cells, dtype, values, labels
):
    kind = pa.uint64() if 2**64 - 1 in cells else pa.int64()
    path = form(pa.table({"id": pa.array(cells, kind), "x": [0.5] * len(cells)}), tmp_path)
    for column, expected_dtype, expected in (
        (read_table(path)["id"], dtype, values),
        (open_table(path).labels("id"), labels, cells),
    ):
        assert str(column.dtype) == expected_dtype
        assert [None if pd.isna(value) else value for value in column.tolist()] == expected


def make_forty_ids():
    """Return 80 rows: 40 ids that floats would round to one, two rows each, which agree; and one row without."""
    ids = [2**60 + k for k in range(40)] * 2
    return pa.table(
        {
            "id": pa.array([*ids, None], pa.int64()),
            "label": [k % 2 for k in range(40)] * 2 + [0],
            "phi": np.arange(81) % 3 / 4,
            "sex": ["f", "m"] * 40 + ["f"],
        }
    )


@one_test
@pytest.mark.parametrize(
    ("form", "explanation"), list(zip(FORMS, cycle([("id",), ("id", "sex"), ("id", "phi")]), strict=False))
)
def test_one_empty_cell_merges_no_ids(tmp_path, form, explanation):
    table = make_forty_ids()
    if "phi" in explanation:
        table = table.set_column(2, "phi", pa.array([0.5] * 81))
    if "sex" in explanation:
        table = table.set_column(3, "sex", pa.array(["f"] * 80 + [None]))
    result = score_log(open_log(str(form(table, tmp_path)), "label", explanation)).result
    assert result.n_explanations == 41
    assert result.consistency.value == pytest.approx(80 / 81)


def test_ids_with_a_gap_are_exact_in_memory_too():
    frame = make_forty_ids().to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    result = faithkit.score(frame["label"], frame[["id"]])
    assert result.consistency.value == pytest.approx(80 / 81)


@pytest.fixture(autouse=True)
def rows_in_memory_are_not_searched(monkeypatch):
    """A log that is read in pieces is searched neither for repeated rows nor for an order."""
    monkeypatch.setattr(
        "faithkit.run.populations.in_memory.InMemory.with_cases", lambda population: population
    )
    monkeypatch.setattr("faithkit.run.judgement._warn_of_order", lambda population, counts: None)


QUESTIONS = [
    {"explanation": ("id", "phi"), "features": ("small", "whole")},
    {"explanation": ("small",), "by": "small"},
    {"explanation": ("truth",), "by": "truth"},
    {"explanation": ("nothing",), "prediction": "whole", "features": ("nothing",)},
]


@one_test
@pytest.mark.parametrize(("question", "form"), list(zip(QUESTIONS, cycle(FORMS[2:]), strict=False)))
def test_csv_and_parquet_and_memory_give_the_same_bytes(tmp_path, question, form):
    rng = np.random.default_rng(0)
    small = [None if k == 7 else int(k) for k in rng.integers(0, 8, 81)]
    table = (
        make_forty_ids()
        .append_column("small", pa.array(small, pa.int64()))
        .append_column("whole", pa.array(rng.integers(0, 3, 81)))
        .append_column("truth", pa.array([None if k is None else k > 3 for k in small], pa.bool_()))
        .append_column("nothing", pa.nulls(81))
    )
    # as pandas writes truth values
    words = pa.array([None if k is None else str(k > 3) for k in small])
    texts = table.set_column(table.column_names.index("truth"), "truth", words)
    roles = {"prediction": "label"} | question
    logs = [open_log(str(path), **roles) for path in (write_csv(texts, tmp_path), form(table, tmp_path))]
    rows = logs[1].read()
    result = faithkit.score(rows.predictions, rows.explanations, X=rows.X)
    expected = json_of(EvaluationReport.of(result, 2, rows.groups))
    assert [json_of(score_log(log, contradictions=2)) for log in logs] == [expected] * 2


def test_groups_of_integers_are_named_as_integers(tmp_path):
    table = pa.table(
        {"label": [0, 1] * 6, "phi": [0.5] * 12, "ward": pa.array([1, 10, None] * 4, pa.int64())}
    )
    for form in FORMS:
        log = open_log(str(form(table, tmp_path)), "label", ("phi",), (), "ward")
        assert list(score_log(log).subgroups) == [1, 10, "missing"]


def test_a_model_gets_floats_and_the_groups_of_the_same_column_stay_integers(tmp_path):
    rows = "".join(f"{k % 5 or ''},{k % 3},{k % 2}\n" for k in range(60))
    (tmp_path / "people.csv").write_text(f"ward,age,y\n{rows}")
    inputs = prepare(str(tmp_path / "people.csv"), target="y", model="tree", by="ward")
    assert inputs.X["ward"].dtype == np.float64
    assert set(inputs.groups.dropna()) == {1, 2, 3, 4}
    assert str(inputs.groups.dtype) == "Int64"


def test_a_result_of_ids_is_json(tmp_path):
    log = open_log(str(write_parquet(make_forty_ids(), tmp_path)), "label", ("id",))
    assert score_log(log, contradictions=1).to_dict()["n"] == 81
