"""Only regular files are read, and only those of a folder that are part of a log: nothing waits for ever."""

import os
import socket
from itertools import cycle

import pandas as pd
import pytest
from consoles import run
from inputs.deadline import promptly
from inputs.frames import read_table
from looping import one_test

from faithkit.errors import InputError
from faithkit.inputs.evaluation_inputs import prepare, read_like
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log


def make_pipe(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as end:
        os.chdir(path.parent)  # a socket's path is short
        end.bind(path.name)


def link_to_a_device(path):
    path.symlink_to("/dev/zero")


def link_to_itself(path):
    path.symlink_to(path)


def link_to_nothing(path):
    path.symlink_to(path.parent / "nothing")


ODD = {
    make_pipe: "is a pipe, a socket or a device; expected a regular file",
    make_socket: "is a pipe, a socket or a device; expected a regular file",
    link_to_a_device: "is a pipe, a socket or a device; expected a regular file",
    link_to_itself: "cannot be read .*Check the path",
    link_to_nothing: "there is no file",
}

READERS = {
    "a table": read_table,
    "the data": lambda path: prepare(str(path), target="y"),
    "a background": lambda path: read_like(pd.DataFrame({"x": [1]}), str(path)),
    "a log": lambda path: open_log(str(path), "label", ("phi",)),
}


@one_test
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("make", ODD)
def test_what_is_no_regular_file_is_refused_at_once(tmp_path, monkeypatch, make, suffix, read):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"odd{suffix}"
    make(path)
    with pytest.raises(InputError, match=ODD[make]) as error:
        promptly(lambda: read(path))
    assert len(str(error.value).splitlines()) == 1


PATHS = {
    "too long": "a" * 5000 + ".csv",
    "too long and Parquet": "a" * 5000 + ".parquet",
    "a NUL": "a\0b.csv",
    "a file for a folder": "file.csv/data.csv",
    "a half of a character": "\udcff.csv",
}


@one_test
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("name", PATHS.values(), ids=PATHS)
def test_a_path_that_cannot_be_is_refused_in_one_line(tmp_path, monkeypatch, name, read):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.csv").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match=r"no file|cannot be read|neither a file nor a dataset") as error:
        read(name)
    assert len(str(error.value)) < 1000


def deny(*_arguments, **_options):
    raise PermissionError(13, "Permission denied")


@one_test
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_folder_that_may_not_be_searched_is_refused_in_one_line(tmp_path, monkeypatch, read):
    monkeypatch.setattr(os, "stat", deny)  # tests run as root, to whom nothing is denied
    with pytest.raises(InputError, match=r"data\.csv cannot be read \(PermissionError"):
        read(tmp_path / "data.csv")


def test_a_folder_that_may_not_be_listed_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "listdir", deny)
    with pytest.raises(InputError, match=r"reading the folder .* failed with PermissionError"):
        open_log(str(tmp_path), "label", ("phi",))


@one_test
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_a_file_that_may_not_be_opened_is_refused_in_one_line(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"data{suffix}"
    path.write_bytes(b"x,y\n1,2\n")
    monkeypatch.setattr("builtins.open", deny)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile", deny)
    with pytest.raises(InputError, match=f"reading .*data{suffix} failed with PermissionError"):
        read_table(path)


# --- folders ------------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path):
    """A folder with two files of three rows each."""
    part = pd.DataFrame({"label": [0, 1, 0], "phi": [0.5, 0.5, 0.25]})
    (tmp_path / "log").mkdir()
    for name in ("a.parquet", "b.parquet"):
        part.to_parquet(tmp_path / "log" / name)
    return tmp_path / "log"


HIDDEN = [
    ".a.parquet",
    "_c.parquet",
    "._a.parquet",
    "_temporary/c.parquet",
    ".staging/0/c.parquet",
    "_spark/_x/c.parquet",
    "part/.c.parquet",
    "_metadata",
    "_SUCCESS",
    "c.parquet.crc",
    "notes.txt",
]


@one_test
@pytest.mark.parametrize(("name", "content"), list(zip(HIDDEN, cycle(["a table", "no table"]), strict=False)))
def test_what_is_hidden_in_a_folder_is_no_part_of_a_log(log, name, content):
    path = log / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes((log / "a.parquet").read_bytes() if content == "a table" else b"not yet written")
    assert len(open_log(str(log), "label", ("phi",)).read().predictions) == 6


def test_a_file_that_is_named_may_be_hidden(log):
    (log / "a.parquet").rename(log / "_a.parquet")
    assert score_log(open_log(str(log / "_a.parquet"), "label", ("phi",))).result.n == 3


@one_test
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (make_pipe, r"c\.parquet is a pipe, a socket or a device; expected a regular file"),
        (link_to_a_device, r"c\.parquet is a link; expected files and folders themselves"),
        (link_to_nothing, r"c\.parquet is a link"),
    ],
)
def test_an_odd_part_of_a_log_is_named(log, make, words):
    make(log / "c.parquet")
    with pytest.raises(InputError, match=words):
        promptly(lambda: open_log(str(log), "label", ("phi",)))
    (log / "c.parquet").unlink()


def test_the_command_line_says_it_in_one_line(tmp_path):
    make_pipe(tmp_path / "log.csv")
    roles = ("--prediction", "label", "--explanation", "phi")
    done = promptly(lambda: run("score", tmp_path / "log.csv", *roles))
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert "log.csv is a pipe, a socket or a device" in line


def test_a_name_too_long_for_a_file_is_no_dataset_either():
    with pytest.raises(InputError, match=r"^there is no file .*, and no dataset"):
        prepare("a" * 5000)
