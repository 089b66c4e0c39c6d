"""The state file: other files are refused in one line, and a state is never half written."""

import os
import shutil
import sqlite3
import stat
import sys
from pathlib import Path

import pytest
from faithkit_monitor import Monitor
from faithkit_monitor.state import State
from looping import one_test
from monitor.streams import columns, log

from faithkit.errors import InputError


@pytest.fixture(scope="module")
def saved_state(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "loans.state"
    Monitor.create(path, *columns(log(400, seed=0)))
    return path


@pytest.fixture
def state(saved_state, tmp_path):
    return Path(shutil.copy(saved_state, tmp_path))


def change(path, *statements):
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scribble(path):
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * len(content[4096:])
    path.write_bytes(content)


def replace_by_a_folder(path):
    path.unlink()
    path.mkdir()


def replace_by_a_pipe(path):
    path.unlink()
    os.mkfifo(path)


def replace_by_another_database(path):
    path.unlink()
    change(path, "CREATE TABLE people (name TEXT)")


ODD = {
    "not there": (Path.unlink, "there is no state"),
    "empty": (lambda path: path.write_bytes(b""), "there is no state"),
    "a text": (lambda path: path.write_text("label,why\nyes,a\n" * 100), "file is not a database"),
    "cut": (truncate, "malformed|damaged"),
    "scribbled": (scribble, "malformed|damaged"),
    "a folder": (replace_by_a_folder, "is no regular file"),
    "a pipe": (replace_by_a_pipe, "is no regular file"),
    "another database": (replace_by_another_database, "is a database, and no state of a monitor"),
    "of another program": (lambda path: change(path, "PRAGMA application_id = 1"), "no state of a monitor"),
    "with a trigger": (
        lambda path: change(
            path, "CREATE TRIGGER t AFTER INSERT ON looks BEGIN DELETE FROM pool; END"
        ),
        "no state of a monitor",
    ),
    "with a view": (lambda path: change(path, "CREATE VIEW v AS SELECT * FROM looks"), "no state of a monitor"),
    "with words for numbers": (
        lambda path: change(path, "UPDATE settings SET value = 'none' WHERE name = 'watch'"),
        "JSONDecodeError",
    ),
    "without its confidence": (
        lambda path: change(path, "DELETE FROM settings WHERE name = 'confidence'"),
        "KeyError",
    ),
    "with a look of something else": (
        lambda path: change(path, "INSERT INTO looks VALUES (0, '{}')"),
        "TypeError",
    ),
}  # fmt: skip


@one_test
@pytest.mark.parametrize(("spoil", "message"), ODD.values(), ids=ODD)
def test_a_file_that_is_no_state_is_refused_in_one_line_and_never_made_one(
    saved_state, tmp_path, spoil, message
):
    state = Path(shutil.copy(saved_state, tmp_path))
    spoil(state)
    with pytest.raises(InputError, match=message) as raised:
        Monitor.open(state)
    assert "\n" not in str(raised.value)
    if message == "there is no state":
        assert Monitor.create(state, *columns(log(400, seed=0))).looks == ()
        return
    before = state.read_bytes() if state.is_file() else None
    with pytest.raises(InputError):
        Monitor.create(state, *columns(log(400, seed=0)))
    assert (state.read_bytes() if state.is_file() else None) == before


def test_a_look_that_fails_leaves_no_trace(state):
    def fail(settings, looks):
        settings["seed"] = 7
        raise KeyError("seed")

    before = state.read_bytes()
    with pytest.raises(InputError, match="failed with KeyError"):
        State(state).add(fail)
    assert state.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_state_that_may_only_be_read_is_shown_and_not_added_to(state):
    state.chmod(stat.S_IRUSR)
    assert Monitor.open(state).looks == ()
    with pytest.raises(InputError, match="readonly"):
        Monitor.open(state).add(*columns(log(50, seed=1)), name="a")


def test_no_rows_and_no_words_of_explanations_are_in_the_file(tmp_path):
    frame = log(400, seed=0).replace({"why": {"income": "a secret that nobody should keep"}})
    path = tmp_path / "state"
    Monitor.create(path, *columns(frame)).add(*columns(frame.iloc[:99]), name="Monday")
    content = path.read_bytes()
    assert b"secret" not in content
    assert b"granted" in content  # the names of predictions are kept


def test_the_file_does_not_grow_with_the_rows(tmp_path):
    sizes = []
    for n in (1_000, 8_000):
        path = tmp_path / f"{n}.state"
        Monitor.create(path, *columns(log(n, seed=0))).add(*columns(log(n, seed=1)), name="a")
        sizes.append(path.stat().st_size)
    assert sizes[0] == sizes[1]


def test_a_path_with_odd_letters_is_a_path(tmp_path):
    path = tmp_path / "a ?#%20&.state"
    Monitor.create(path, *columns(log(400, seed=0)))
    assert path.exists()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_forged_state_imports_no_module(state, tmp_path, monkeypatch):
    trace = tmp_path / "imported"
    (tmp_path / "trap.py").write_text(f"open({str(trace)!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    change(state, """UPDATE settings SET value = '"trap:values"' WHERE name = 'discretizer'""")
    with pytest.raises(InputError, match="looked up among installed components only"):
        Monitor.open(state).add(*columns(log(50, seed=1)), name="a")
    assert not trace.exists()
