"""Odd CSV files: each is read as what it holds, or refused in one line."""

import gzip
import os

import pandas as pd
import pytest
from fixtures.odd_files import csv_files
from inputs.frames import read_table
from looping import one_test

from faithkit.errors import InputError
from faithkit.inputs.files import text_streams
from faithkit.inputs.logs.log_files import open_log


def read_cells(frame):
    return {
        name: [None if pd.isna(cell) else cell for cell in frame[name].tolist()] for name in frame.columns
    }


@one_test
@pytest.mark.parametrize(
    ("suffix", "content", "expected"),
    [(".csv", *case) for case in csv_files.READ.values()]
    + [(".csv.gz", *case) for case in list(csv_files.READ.values())[::5]],
    ids=[*csv_files.READ, *(f"packed, {name}" for name in list(csv_files.READ)[::5])],
)
def test_an_odd_file_is_read_as_it_was_written(tmp_path, suffix, content, expected):
    path = tmp_path / f"odd{suffix}"
    path.write_bytes(gzip.compress(content) if suffix == ".csv.gz" else content)
    assert read_cells(read_table(path)) == expected


def check_refusal(path, words):
    with pytest.raises(InputError, match=words) as error:
        read_table(path)
    assert str(path) in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    with pytest.raises(InputError, match=words):
        open_log(str(path), "a", ("b",))


@one_test
@pytest.mark.parametrize(("content", "words"), csv_files.REFUSED.values(), ids=csv_files.REFUSED)
def test_a_file_that_is_no_table_is_refused_in_one_line(tmp_path, content, words):
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    check_refusal(path, words)


@one_test
@pytest.mark.parametrize(("content", "words"), csv_files.PACKED.values(), ids=csv_files.PACKED)
def test_a_packed_file_that_is_not_whole_is_refused_in_one_line(tmp_path, content, words):
    path = tmp_path / "odd.csv.gz"
    path.write_bytes(content)
    check_refusal(path, words)


def test_a_row_longer_than_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text_streams, "LONGEST_ROW", 1000)
    path = tmp_path / "odd.csv"
    path.write_text(f"a,b\n{'x' * 3000},1\n")
    check_refusal(path, "has a row of more than .* MiB")


def test_rows_on_both_sides_of_a_block_are_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr(text_streams, "LONGEST_ROW", 64)
    path = tmp_path / "odd.csv"
    path.write_text("a,b\n" + "".join(f'{i},"x\n{i}"\n' for i in range(500)))
    assert read_table(path)["b"].tolist() == [f"x\n{i}" for i in range(500)]


def test_a_row_behind_the_first_block_is_refused_by_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(text_streams, "LONGEST_ROW", 64)
    path = tmp_path / "odd.csv"
    path.write_text("a,b\n" + "1,2\n" * 500 + "1,2,3\n" + "1,2\n" * 9)
    check_refusal(path, "3 values in row 502 ")


@one_test
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_file_of_nothing_but_holes_is_told_before_it_fills_the_memory(tmp_path, suffix):
    path = tmp_path / f"odd{suffix}"
    if suffix == ".csv":
        path.touch()
        os.truncate(path, 2**36)
    else:
        path.write_bytes(gzip.compress(bytes(2**25)))
    check_refusal(path, "NUL bytes")
