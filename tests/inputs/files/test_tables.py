import gzip
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inputs.frames import people, read_table
from looping import one_test

from faithkit.errors import InputError
from faithkit.inputs.files import text_streams
from faithkit.inputs.files.column_patterns import match_names


@pytest.fixture
def write_file(tmp_path):
    """Write a file of a given name and content, and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_only_empty_cells_of_a_csv_are_missing(write_file):
    frame = read_table(write_file("t.csv", "n,x,word\n1,,NA\n2,0.5,None\n3,1.5,\n4,2,null\n"))
    assert frame["n"].dtype == np.int64
    assert frame["x"].dtype == np.float64
    assert frame["x"].isna().tolist() == [True, False, False, False]
    assert frame["word"].isna().tolist() == [False, False, True, False]
    assert frame["word"].dropna().tolist() == ["NA", "None", "null"]


def test_numbers_in_a_csv_are_read_exactly(tmp_path):
    x = np.random.default_rng(0).normal(size=2000) * 10.0 ** np.random.default_rng(1).integers(-20, 20, 2000)
    pd.DataFrame({"x": x}).to_csv(tmp_path / "t.csv", index=False)
    assert read_table(tmp_path / "t.csv")["x"].tolist() == x.tolist()


def test_a_late_string_does_not_split_a_long_column_into_two_types(write_file, monkeypatch):
    monkeypatch.setattr(text_streams, "LONGEST_ROW", 64)  # many blocks
    frame = read_table(write_file("t.csv", "x,y\n" + "1,1\n" * 500 + "a,1\n"))
    assert {type(value) for value in frame["x"]} == {str}


def test_gzip_suffixes_and_capitals_are_understood(write_file):
    content = "a,b\n1,x\n"
    expected = pd.DataFrame({"a": [1], "b": ["x"]})
    for path in (write_file("t.csv.gz", gzip.compress(content.encode())), write_file("T.CSV", content)):
        pd.testing.assert_frame_equal(read_table(path), expected)
        pd.testing.assert_frame_equal(read_table(str(path)), expected)


def test_a_single_column_is_a_table(write_file):
    assert read_table(write_file("t.csv", "text\ngood; really\nbad\n"))["text"].tolist() == [
        "good; really",
        "bad",
    ]


def test_parquet_keeps_every_kind_of_column(tmp_path):
    frame = people()
    frame["town"] = frame["town"].astype("str")
    frame["mixed"] = frame["mixed"].astype("boolean")
    frame.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.parquet"), frame)


PARQUET = b"PAR1" + bytes(20)


@one_test
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.txt", "a\n1\n", r"suffix '\.txt'; expected \.csv, \.jsonl, .*packed \(\.gz, \.bz2"),
        ("table", "a\n1\n", r"suffix ''; expected \.csv"),
        ("t.csv", "a;b\n1;2\n", "single column 'a;b': its values are separated by ';'; expected commas"),
        (
            "t.csv",
            "a,b\n1,2\n1,2,3\n",
            "3 values in row 3 .*expected 2, one for each name in its header. Check that row",
        ),
        ("t.csv", "pred,a,a,b\n1,2,3,4\n", "several columns 'a': give each column a name of its own"),
        ("t.csv.gz", gzip.compress(b"a,a\n1,2\n", mtime=0), "several columns 'a'"),
        ("t.parquet", b"", "not a whole Parquet file: write it again"),
        ("t.parquet", "a,b\n1,2\n", "not a whole Parquet file"),
        ("t.parquet", PARQUET, "not a whole Parquet file"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_one_line(write_file, name, content, words):
    path = write_file(name, content)
    with pytest.raises(InputError, match=words) as error:
        read_table(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_truncated_parquet_file_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": np.arange(1000.0)}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match="not a whole Parquet file"):
        read_table(path)


def test_a_parquet_file_with_damaged_pages_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": np.arange(1000.0)}).to_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"reading .*t\.parquet failed with"):
        read_table(path)


def test_columns_of_one_name_are_refused_in_parquet_as_they_are_in_csv(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet has several columns 'a': give each column a name"):
        read_table(tmp_path / "t.parquet")


def test_a_missing_file_and_a_folder_without_tables_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"no file .*nowhere\.csv"):
        read_table(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match=r"the folder .* has no file that ends in \.csv"):
        read_table(tmp_path)


LOG = ["age", "phi_age", "label", "phi_sex", "phi[1]"]


@one_test
@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ("phi_*", ["phi_age", "phi_sex"]),
        ("label, age", ["label", "age"]),
        (("label", "phi_*"), ["label", "phi_age", "phi_sex"]),
        ("phi_s?x,phi_*", ["phi_sex", "phi_age"]),
        ("phi[1]", ["phi[1]"]),
        ("phi_[as]*", ["phi_age", "phi_sex"]),
        ("phi_*,!phi_sex", ["phi_age"]),
        ("!phi_sex,phi_*", ["phi_age"]),
        (("phi*", "! phi_*"), ["phi[1]"]),
        (("*,!phi*", "!age"), ["label"]),
    ],
)
def test_columns_are_selected_in_the_order_of_their_patterns(patterns, expected):
    assert match_names(LOG, patterns) == expected


def test_a_pattern_without_a_match_is_answered_with_the_nearest_column():
    with pytest.raises(InputError, match=r"no column matches 'lable'\. Did you mean 'label'\?"):
        match_names(LOG, "age,lable")
    with pytest.raises(InputError, match=r"no column matches 'PHI_\*'\."):
        match_names(LOG, "PHI_*")
    with pytest.raises(InputError, match=r"no column matches 'phi_bais'\."):
        match_names(LOG, "phi_*,!phi_bais")


@one_test
@pytest.mark.parametrize(
    "patterns",
    [" ,", "!label", "phi_*,!phi*", ("phi_*", "!phi*")],
)
def test_what_leaves_no_column_is_refused(patterns):
    text = re.escape(repr(patterns if isinstance(patterns, str) else "phi_*,!phi*"))
    with pytest.raises(InputError, match=f"^{text} takes no column; expected names .* Available: 'age'"):
        match_names(LOG, patterns)


def test_a_name_that_begins_with_an_exclamation_mark_is_a_name():
    assert match_names(["!a", "a"], "!a") == ["!a"]
