"""Odd Parquet files: each is read as what it holds, in pieces as in memory, or refused in one line."""

import datetime as dt
import json
import re
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fixtures.odd_files import parquet_files
from fixtures.odd_files.parquet_files import COLUMNS, FOREIGN, NESTED, REFUSED, TABLE
from inputs.frames import read_table
from looping import one_test

import faithkit
from faithkit.errors import InputError
from faithkit.inputs.evaluation_inputs import prepare
from faithkit.inputs.files import parquet
from faithkit.inputs.files.arrow_types import MissingValues, as_frame
from faithkit.inputs.files.table_files import open_table
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.evaluation_report import EvaluationReport
from faithkit.run.populations.log_scoring import score_log

pytestmark = pytest.mark.usefixtures("first_pairs")

N = 28


def repeat_cells(cells):
    """Repeat cells in an order that is neither their own nor that of row groups."""
    return [cells[i] for i in np.random.default_rng(0).integers(0, len(cells), N)]


def make_column(kind, cells):
    stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    return pa.array(repeat_cells(cells), stored).cast(kind)


@pytest.fixture
def write_odd(tmp_path, monkeypatch):
    """Write a table with the column `odd` in small row groups, with or without statistics."""
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 30)

    def write(odd, **options):
        table = pa.table({"label": [0, 1] * (N // 2), "phi": np.arange(N) % 4 / 4, "odd": odd})
        pq.write_table(table, tmp_path / "odd.parquet", row_group_size=7, **options)
        return tmp_path / "odd.parquet"

    return write


def to_python(value):
    """Return a label as Python has it."""
    if pd.isna(value):
        return None
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    return value.to_pytimedelta() if isinstance(value, pd.Timedelta) else value


@one_test
@pytest.mark.parametrize(("name", "statistics"), [*zip(COLUMNS, cycle([True, False]), strict=False)])
def test_a_column_of_any_type_keeps_its_values(write_odd, name, statistics):
    kind, cells, expected = COLUMNS[name]
    path = write_odd(make_column(kind, cells), write_statistics=statistics)
    expected_values = repeat_cells(expected or cells)
    for table in (open_table(path), parquet.ParquetTable.open(path).select(["odd"]).read()):
        values = [to_python(value) for value in table.labels("odd").tolist()]
        assert values == expected_values
        assert [type(value) for value in values] == [type(value) for value in expected_values]


ROLES = {
    "explanation, feature and group": {"explanation": ("odd",), "features": ("odd", "phi"), "by": "odd"},
    "one column of two": {"explanation": ("odd", "phi")},
    "prediction": {"prediction": "odd"},
}


# every fifth type in three roles at once, and a part of them in others: as predictions those that are numbers or none
EVERY_SO_MANY = {"explanation, feature and group": 5, "one column of two": 13, "prediction": 14}
NO_LABELS = {"half floats", "infinite floats", "durations", "nothing"}
TYPES_IN_ROLES = [
    (name, role)
    for place, name in enumerate(COLUMNS)
    for role in ROLES
    if place % EVERY_SO_MANY[role] == 0 or (role == "prediction" and name in NO_LABELS)
]


@one_test
@pytest.mark.parametrize(("name", "role"), TYPES_IN_ROLES)
@pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")
def test_a_column_of_any_type_in_any_role_is_counted_alike_in_pieces_and_in_memory(write_odd, name, role):
    kind, cells, _ = COLUMNS[name]
    present = [cell for cell in cells if cell is not None] or [None]
    path = write_odd(make_column(kind, present if role == "prediction" else cells))
    log = open_log(str(path), **complete_roles(ROLES[role]))
    reason = _find_refusal(present) if role == "prediction" else None
    if reason is not None:
        with pytest.raises(InputError, match=reason):
            score_log(log)
        return
    in_pieces, rows = score_log(log, contradictions=2), log.read()
    assert len(log.table.pieces) > 3
    in_memory = EvaluationReport.of(
        faithkit.score(rows.predictions, rows.explanations, X=rows.X), 2, rows.groups
    )
    assert in_pieces.to_dict() == in_memory.to_dict()
    if ROLES[role].get("explanation") == ("odd",):
        gaps = repeat_cells(cells).count(None)
        assert in_pieces.result.unexplained == gaps
        assert in_pieces.result.n_explanations == gaps + len(present) * (present != [None])


def _find_refusal(cells):
    if cells == [None]:
        return "predictions are missing"
    if any(isinstance(cell, float) and np.isinf(cell) for cell in cells):
        return r"the prediction of row \d is infinite"
    return "predictions are durations: give labels" if isinstance(cells[0], dt.timedelta) else None


def complete_roles(role):
    return {"prediction": "label", "explanation": ("phi",)} | role


@one_test
@pytest.mark.parametrize(("name", "role"), [*zip(NESTED, cycle(ROLES), strict=False)])
def test_a_nested_column_is_refused_in_every_role(write_odd, name, role):
    path = write_odd(make_column(*NESTED[name]))
    with pytest.raises(
        InputError, match=r"the column 'odd' is of type .*expected one number, text or date per row"
    ):
        open_log(str(path), **complete_roles(ROLES[role]))


@one_test
@pytest.mark.parametrize(("kind", "cells"), NESTED.values(), ids=NESTED)
def test_a_nested_column_can_be_left_out_and_cannot_be_grouped_by(write_odd, kind, cells):
    path = str(write_odd(make_column(kind, cells)))
    assert list(prepare(path, target="label", columns="phi", model="tree").X) == ["phi"]
    with pytest.raises(InputError, match="the column 'odd' is of type"):
        prepare(path, target="label", columns="phi", model="tree", by="odd")
    with pytest.raises(InputError, match="the column 'odd' is of type"):
        prepare(path, target="odd", columns="phi", model="tree")


@one_test
@pytest.mark.parametrize(("kind", "cells", "words"), REFUSED.values(), ids=REFUSED)
def test_values_that_python_does_not_have_are_refused(write_odd, kind, cells, words):
    path = write_odd(make_column(kind, cells))
    with pytest.raises(InputError, match=words) as error:  # the zone is part of the type
        read_table(path)
    assert re.match("the column 'odd' of type .* failed with ", str(error.value))
    with pytest.raises(InputError, match="the column 'odd' of type"):
        score_log(open_log(str(path), "odd", ("phi",)))


@one_test
@pytest.mark.parametrize("metadata", FOREIGN.values(), ids=FOREIGN)
def test_metadata_that_does_not_fit_says_nothing(tmp_path, metadata):
    path = tmp_path / "odd.parquet"
    pq.write_table(TABLE.replace_schema_metadata({b"pandas": metadata}), path)
    expected = pd.DataFrame({"label": [0, 1] * 3, "phi": [0.5, 0.25, 0.5] * 2, "age": [31.0, np.nan] * 3})
    pd.testing.assert_frame_equal(read_table(path), expected)
    assert open_log(str(path), "label", ("phi",), ("age",)).read().X["age"].tolist()[::2] == [31.0] * 3


def describe_table(change):
    payload = json.loads(pa.Schema.from_pandas(TABLE.to_pandas()).metadata[b"pandas"])
    change(payload)
    return TABLE.replace_schema_metadata({b"pandas": json.dumps(payload).encode()})


def test_an_index_is_no_column_and_a_table_of_nothing_else_is_refused(tmp_path):
    path = tmp_path / "odd.parquet"
    pq.write_table(describe_table(lambda metadata: metadata.update(index_columns=["age"])), path)
    assert list(read_table(path)) == ["label", "phi"]
    pq.write_table(
        describe_table(lambda metadata: metadata.update(index_columns=["age", "phi", "label"])), path
    )
    with pytest.raises(InputError, match="0 columns; expected at least one"):
        read_table(path)
    with pytest.raises(InputError, match="0 columns; expected at least one"):
        open_log(str(path), "label", ("phi",))


NAMES = [
    "",
    " ",
    "a.b",
    "a\nb",
    "a,b",
    "*",
    "[x]",
    "é",
    "\x1b[31m",
    "0",
    "a" * 5000,
    "__index_level_0__",
    "None",
]


@one_test
@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:10]))
def test_a_column_of_any_name_is_read(tmp_path, name):
    path = tmp_path / "odd.parquet"
    pq.write_table(
        pa.table({"label": [0, 1] * 3, name: pa.array([1, None, 1] * 2), "b": [{"b": 1}] * 6}), path
    )
    assert read_table(path)[name].isna().sum() == 2
    if name.strip():
        assert score_log(open_log(str(path), "label", (name,))).result.unexplained == 2


def test_a_part_of_a_nested_column_is_not_taken_for_a_column_of_its_path(tmp_path):
    path = tmp_path / "odd.parquet"
    nested = pa.array([{"b": None}] * 4, pa.struct({"b": pa.int64()}))
    table = pa.table({"a": nested, "a.b": pa.array([2**60, 2**60 + 1, None, 2**60]), "label": [0, 1, 0, 0]})
    pq.write_table(table, path, row_group_size=1)
    result = score_log(open_log(str(path), "label", ("a.b",))).result
    assert (result.n_explanations, result.unexplained, result.consistency.value) == (3, 1, 0.5)


def test_texts_that_are_no_utf8_are_refused(tmp_path):
    path = tmp_path / "odd.parquet"
    bad = pa.StringArray.from_buffers(2, *pa.array([b"\xff", b"a"]).buffers()[1:])
    pq.write_table(pa.table({"label": [0, 1], "odd": bad}), path)
    for read in (lambda: read_table(path), lambda: score_log(open_log(str(path), "label", ("odd",)))):
        with pytest.raises(InputError, match=r"the column 'odd' of type string failed with .*UTF8"):
            read()


@one_test
@pytest.mark.parametrize("values", [["a", "a", "b"], ["a", None, "b"]])
def test_a_dictionary_that_pandas_does_not_take_is_read_by_its_values(values):
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(values))
    column = as_frame(pa.table({"odd": twice}), MissingValues(), categories=True)["odd"]
    assert [to_python(value) for value in column.tolist()] == [*values, None]


def test_a_dictionary_of_integers_rounds_none_of_them():
    ids = [2**60, 2**60 + 1, None]
    for categories in (True, False):
        table = pa.table({"odd": pa.array(ids).dictionary_encode()})
        column = as_frame(table, MissingValues.of(table), categories=categories)["odd"]
        assert [to_python(value) for value in column.tolist()] == ids


def test_files_of_a_folder_may_differ_in_what_they_promise_about_gaps(tmp_path):
    for name, nullable, values in (("a", False, [1, 2]), ("b", True, [2**60, None])):
        field = pa.field("odd", pa.int64(), nullable=nullable)
        table = pa.table(
            [pa.array(values, pa.int64()), pa.array([0, 1])], pa.schema([field, ("label", pa.int64())])
        )
        pq.write_table(table, tmp_path / f"{name}.parquet")
    log = open_log(str(tmp_path), "label", ("odd",))
    assert score_log(log).result.n_explanations == 4
    assert log.read().explanations.identities["odd"].tolist() == [1, 2, 2**60, pd.NA]


def test_no_row_groups_and_no_columns_are_refused(tmp_path):
    for table in (TABLE.slice(0, 0), pa.table({})):
        pq.write_table(table, tmp_path / "odd.parquet")
        for read in (read_table, lambda path: open_log(str(path), "label", ("phi",))):
            with pytest.raises(InputError, match="expected at least one of each"):
                read(tmp_path / "odd.parquet")


@one_test
@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "boolean", "string", "Float64"])
def test_a_target_of_any_nullable_dtype_is_learnt(tmp_path, dtype):
    y = pd.array([0, 1] * 30 if dtype != "string" else ["a", "b"] * 30, dtype=dtype)
    pd.DataFrame({"x": np.arange(60.0), "y": y}).to_parquet(tmp_path / "odd.parquet")
    inputs = prepare(str(tmp_path / "odd.parquet"), target="y", model="tree")
    assert inputs.model.classes_.tolist() == sorted(set(y.tolist()))


def test_intervals_are_no_feature_to_explain(tmp_path):
    X = pd.DataFrame({"odd": pd.arrays.IntervalArray.from_breaks(range(61)), "y": [0, 1] * 30})
    X.to_parquet(tmp_path / "odd.parquet")
    with pytest.raises(InputError, match=r"column 'odd' is interval.*Convert it first"):
        faithkit.plugin.Encoder(read_table(tmp_path / "odd.parquet"))


@one_test
@pytest.mark.parametrize(("name", "refused"), [("other_type", True), ("unknown_type", False)])
def test_statistics_that_would_end_the_process_are_not_read(name, refused):
    """In these two, made by changing a byte, Arrow's reader of statistics aborts the program."""
    path = str(Path(parquet_files.__file__).with_name(f"{name}.parquet"))
    if refused:
        with pytest.raises(InputError, match=r"reading row group 0, .* failed with"):
            open_log(path, "label", ("phi",), (), "id")
    else:  # the cells themselves are whole
        assert list(score_log(open_log(path, "label", ("phi",), (), "id")).subgroups) == [3, 2**60, "missing"]
