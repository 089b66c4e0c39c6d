"""Where files go is decided at the start; what is there keeps its kind, its mode and its links; nothing is lost."""

import json
import os
import stat
import subprocess
import threading
import time

import numpy as np
import pandas as pd
import pytest
from consoles import LOG, SCORE, console, environment, run

from faithkit.errors import InputError
from faithkit.files import write_atomically

pytestmark = pytest.mark.slow  # every case is a process, or waits for one


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "log.csv").write_text(LOG)
    pd.read_csv(tmp_path / "log.csv").to_parquet(tmp_path / "log.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- what is replaced, and what is written into ----------------------------------------------------------


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "result.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real/result.json")
    write_atomically(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real" / "result.json").read_text() == "new"


def test_a_link_to_nothing_gets_its_target(tmp_path):
    (tmp_path / "link.json").symlink_to("later.json")
    write_atomically(tmp_path / "link.json", "new")
    assert (tmp_path / "later.json").read_text() == "new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_file_keeps_its_mode(tmp_path, mode):
    file = tmp_path / "result.json"
    file.write_text("old")
    file.chmod(mode)
    write_atomically(file, "new")
    assert (stat.S_IMODE(file.stat().st_mode), file.read_text()) == (mode, "new")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(tmp_path):
    file = tmp_path / "result.json"
    file.write_text("old")
    os.chown(file, 1234, 4321)
    write_atomically(file, "new")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 4321)


def test_a_new_file_gets_the_mode_that_the_umask_allows(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "result.json", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "result.json").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make devices")
def test_a_device_stays_a_device(tmp_path):
    try:
        os.mknod(tmp_path / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError:
        pytest.skip("no devices can be made here")
    write_atomically(tmp_path / "null", "lost")
    assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)


def test_the_device_null_is_written_into(here):
    assert run(*SCORE, "--out", os.devnull, "--format", "json").exit_code == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_pipe_is_written_into_and_may_hold_less_than_is_written(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    content = os.urandom(1_000_000)
    deadline = time.monotonic() + 60
    while True:
        try:
            write_atomically(tmp_path / "pipe", content)
            break
        except InputError:  # the reader is not there yet
            assert time.monotonic() < deadline
            time.sleep(0.01)
    reader.join()
    assert read == [content]


def test_a_pipe_that_nobody_reads_is_an_error_and_no_wait(here):
    os.mkfifo(here / "pipe")
    done = run(*SCORE, "--out", "pipe", "--format", "json")
    assert done.exit_code == 1
    assert done.stderr == (
        f"error: cannot write {here / 'pipe'}: no process reads it. Give a path that you can write to.\n"
    )
    assert "consistency" in done.stdout


def test_a_file_that_a_shell_has_opened_is_written_into(here):
    with open(here / "open.json", "wb") as file:
        path = f"/dev/fd/{file.fileno()}"
        if not os.path.exists(path):
            pytest.skip("this system does not name open files")
        inode = os.fstat(file.fileno()).st_ino
        done = console(*SCORE, "--out", path, "--format", "json", pass_fds=[file.fileno()])
    assert done.returncode == 0, done.stderr
    assert (here / "open.json").stat().st_ino == inode
    assert json.loads((here / "open.json").read_text())["n"] == 4


def test_nothing_is_left_beside_a_file_that_could_not_be_replaced(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(os, "replace", refuse)
    (tmp_path / "result.json").write_text("old")
    with pytest.raises(InputError, match="Device or resource busy"):
        write_atomically(tmp_path / "result.json", "new")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("result.json", "old")]


def test_the_content_is_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    done = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *args, name=name, real=real: (done.append(name), real(*args)))
    write_atomically(tmp_path / "result.json", "new")
    assert done == ["fsync", "replace"]


@pytest.mark.parametrize("name", ["x" * 250 + ".json", "ü ≤.json", "-r.json", " "])
def test_any_name_that_the_system_takes_will_do(here, name):
    format = () if name.endswith("json") else ("--format", "json")
    assert run(*SCORE, "--out", name, *format).exit_code == 0
    assert json.loads((here / name).read_text())["n"] == 4


def test_half_a_surrogate_pair_is_written_as_its_escape(tmp_path):
    write_atomically(tmp_path / "result.json", json.dumps("\ud800é", ensure_ascii=False))
    assert (tmp_path / "result.json").read_bytes() == '"\\ud800é"'.encode()


# --- refused before anything is computed -----------------------------------------------------------------

REFUSED = [
    (
        ("--out", "out.json", "--out", "out.json"),
        "cannot write out.json: another output goes to out.json already",
    ),
    (("--out", "out.json", "--out", "./out.json"), "another output goes to out.json"),
    (("--out", "out.json", "--out", "{here}/out.json"), "another output goes to out.json"),
    (("--out", "old.json", "--out", "link-to-old.csv"), "another output goes to old.json"),
    (("--out", "old.json", "--out", "twin-of-old.csv"), "another output goes to old.json"),
    (("--out", "link-to-new.csv", "--out", "new.json"), "another output goes to link-to-new.csv"),
    (("--out", "log.csv"), "cannot write log.csv: {here}/log.csv is read"),
    (("--out", "link-to-log.csv"), "{here}/log.csv is read"),
    (("--out", "twin-of-log.csv"), "{here}/log.csv is read"),
    (("--out", "folder.json"), "folder.json is a folder"),
    (("--out", "", "--format", "json"), "a file needs a name"),
    (("--out", "new/", "--format", "json"), "a file needs a name"),
    (("--out", "none/out.json"), "there is no folder none"),
    (("--out", "log.csv/out.json"), "Not a directory"),
    (("--out", "circle.json"), "Too many levels of symbolic links"),
]
if os.path.isdir("/proc/self"):
    REFUSED.append((("--out", "/proc/out.json"), "the folder /proc takes no files"))


@pytest.mark.parametrize(("options", "reason"), REFUSED, ids=[" ".join(options) for options, _ in REFUSED])
def test_what_cannot_be_written_is_refused_at_once(here, options, reason):
    (here / "folder.json").mkdir()
    (here / "old.json").write_text("old")
    os.link("old.json", "twin-of-old.csv")
    os.link("log.csv", "twin-of-log.csv")
    for link, target in {"old": "old.json", "log": "log.csv", "new": "new.json"}.items():
        (here / f"link-to-{link}.csv").symlink_to(target)
    (here / "circle.json").symlink_to("circle.json")
    before = {file.name: file.stat(follow_symlinks=False).st_mtime_ns for file in here.iterdir()}
    done = run(*SCORE, *(option.format(here=here) for option in options))
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert reason.format(here=here) in line
    assert {file.name: file.stat(follow_symlinks=False).st_mtime_ns for file in here.iterdir()} == before
    assert (here / "log.csv").read_text() == LOG


@pytest.mark.parametrize("option", ["--data", "--background", "--model"])
def test_no_output_goes_onto_an_input(here, option):
    name = {"--model": "mine.skops"}.get(option, "mine.csv")
    format = ("--format", "json") if option == "--model" else ()
    (here / name).write_text("a,y\n1,2\n")
    done = run("evaluate", "--explainer", "tree", option, name, "--out", name, *format)
    assert done.exit_code == 1
    assert f"cannot write {name}" in done.stderr
    assert "is read" in done.stderr


def test_no_output_becomes_a_part_of_a_log_that_is_a_folder(here):
    (here / "logs").mkdir()
    (here / "log.parquet").rename(here / "logs" / "a.parquet")
    score = ("score", "logs", *SCORE[2:])
    for name in ("logs/a.parquet", "logs/b.parquet", "logs/result.csv"):
        format = () if name.endswith("csv") else ("--format", "json")
        done = run(*score, "--out", name, *format)
        assert (done.exit_code, done.stdout) == (1, "")
        assert "logs is read" in done.stderr
    assert run(*score, "--out", "result.csv").exit_code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_what_lacks_permission_is_refused_at_once(here):
    (here / "closed").mkdir(mode=0o500)
    (here / "kept.json").touch(mode=0o400)
    for name, reason in {
        "closed/out.json": "closed takes no files (Permission denied)",
        "kept.json": "not yours to",
    }.items():
        done = run(*SCORE, "--out", name)
        assert (done.exit_code, done.stdout) == (1, "")
        assert reason in done.stderr


# --- decided at the start --------------------------------------------------------------------------------

RESTLESS = """
import os
os.chdir("/")

def model(X):
    os.chdir("/")
    return (X["a"] > 30).tolist()
"""


def test_whoever_changes_the_working_folder_moves_no_file(here):
    places = np.arange(60)
    frame = pd.DataFrame({"a": places, "b": places % 3, "y": places % 2})
    for name in ("data.csv", "train.csv"):
        frame.to_csv(here / name, index=False)
    (here / "restless.py").write_text(RESTLESS)
    inputs = ("--data", "data.csv", "--background", "train.csv", "--target", "y")
    outputs = ("--out", "r.json", "--out", "r.csv", "--executor", "stored:folder=kept")
    done = console(
        "evaluate",
        *inputs,
        "--model",
        "restless:model",
        "--explainer",
        "tree",
        *outputs,
        env=environment(here),
    )
    assert done.returncode == 0, done.stderr
    assert all((here / name).exists() for name in ("r.json", "r.csv", "kept"))


# --- written whatever happens to the rest ----------------------------------------------------------------


def written_files(here):
    return {name for name in ("r.json", "r.csv", "r.html") if (here / name).exists()}


@pytest.mark.parametrize("broken", ["full", "closed", "gone"])
def test_files_are_written_when_stdout_fails(here, broken):
    if broken == "full" and not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    reader, writer = os.pipe()
    os.close(reader)
    stdout = os.open("/dev/full", os.O_WRONLY) if broken == "full" else writer
    settings = {"preexec_fn": lambda: os.close(1)} if broken == "closed" else {}
    outputs = ("--out", "r.json", "--out", "r.csv")
    done = console(*SCORE, *outputs, capture_output=False, stdout=stdout, stderr=subprocess.PIPE, **settings)
    assert done.returncode == 1
    assert written_files(here) == {"r.json", "r.csv"}
    assert len(done.stderr.splitlines()) == (0 if broken == "gone" else 1)


def test_the_other_files_are_written_when_one_fails(here):
    os.mkfifo(here / "pipe")
    done = run(*SCORE, "--out", "r.json", "--out", "pipe", "--out", "r.html", "--format", "csv")
    assert done.exit_code == 1
    assert written_files(here) == {"r.json", "r.html"}
