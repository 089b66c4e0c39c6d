"""A run that ends without reporting its exit code has not succeeded, and signals end a run in an orderly way."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from consoles import command, console, environment, hearing, run, started

pytestmark = [
    pytest.mark.slow,  # every case is a process
    pytest.mark.skipif(os.name != "posix", reason="signals and terminals as POSIX has them"),
]

PATIENCE = 60  # seconds: a machine may be busy
SLOW_PLUGIN = Path(__file__).parents[1] / "fixtures" / "slow_plugin"


def make_command(work):
    """Return the command that does some work under supervision, without all that the command line imports."""
    imports = "import os, signal, sys, time\nfrom faithkit.supervision import supervise\n"
    return [sys.executable, "-c", f"{imports}{work}\nsupervise(work)"]


def supervise(body):
    """Do work that is the body of a function, and return how it ended."""
    work = "def work():\n    " + body.replace("\n", "\n    ")
    return subprocess.run(make_command(work), capture_output=True, text=True, timeout=PATIENCE, **hearing({}))


# --- how it ends -----------------------------------------------------------------------------------------

EXIT = "ended with exit status {} and without a result: a model, an explainer or a library ended the whole process"
SIGNAL = "error: the run was ended by {}, without a result."
ENDINGS = [
    ("return 0", 0, ""),
    ("return 3", 3, ""),
    ("os._exit(0)", 1, EXIT.format(0)),
    ("os._exit(7)", 1, EXIT.format(7)),
    ("sys.exit(0)", 1, EXIT.format(0)),  # outside of the command line, which makes an error of it
    ("os.execv('/bin/sh', ['sh', '-c', 'exit 0'])", 1, EXIT.format(0)),
    ("if os.fork(): os._exit(0)\ntime.sleep(0.2)\nreturn 0", 1, EXIT.format(0)),  # a copy reports nothing
    ("os.closerange(3, 64)\nreturn 0", 1, EXIT.format(0)),  # it cannot report that it has succeeded
    # a copy keeps the pipe open
    ("if not os.fork(): os.closerange(0, 3), time.sleep(70), os._exit(0)\nos._exit(0)", 1, EXIT.format(0)),
    ("os.kill(os.getpid(), signal.SIGKILL)", 137, SIGNAL.format("SIGKILL") + " Often memory was too small"),
    ("os.kill(os.getpid(), signal.SIGSEGV)", 139, SIGNAL.format("SIGSEGV") + " A library crashed"),
    ("import atexit; atexit.register(os._exit, 5)\nreturn 0", 0, ""),  # it has reported before
    ("from multiprocessing import Pool\nwith Pool(2) as pool:\n    return pool.map(abs, [0])[0]", 0, ""),
]


@pytest.mark.parametrize(("body", "code", "message"), ENDINGS, ids=[body for body, *_ in ENDINGS])
def test_a_command_ends_with_the_reported_code_and_fails_without_one(body, code, message):
    done = supervise(body)
    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == bool(message)


MODELS = """
import ctypes, os, sys

def leaves(X):
    os._exit(0)

def crashes(X):
    ctypes.string_at(0)

def exits(X):
    sys.exit(0)

def even(X):
    return X["a"] % 2
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "own_models.py").write_text(MODELS)
    (tmp_path / "leaves_when_imported.py").write_text("import os\nos._exit(0)")
    for name, first in {"data.csv": 0, "others.csv": 60}.items():
        rows = {"a": range(first, first + 60), "y": [0, 1] * 30}
        pd.DataFrame(rows).to_csv(tmp_path / name, index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


DATA = ("--data", "data.csv", "--target", "y", "--diagnose", "none", "--background", "others.csv")


@pytest.mark.parametrize(
    ("model", "code"),
    [("own_models:leaves", 1), ("own_models:crashes", 139), ("own_models:exits", 1), ("leaves_when_imported:model", 1)],
)  # fmt: skip
def test_a_model_that_ends_the_process_fails_the_build(here, model, code):
    output = ("--out", "r.json")
    done = console("evaluate", *DATA, "--explainer", "tree", "--model", model, *output, env=environment(here))
    assert (done.returncode, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")
    assert not (here / "r.json").exists()
    assert run("gate", "r.json", "--fail-under", "consistency=0").exit_code == 1


def test_a_command_that_measures_nothing_starts_no_child(here):
    assert [console(*words).returncode for words in (("--help",), ("plan", "--range", 9))] == [0, 0]
    watching = (
        "import subprocess, sys\ndef refuse(*_, **__):\n    raise SystemExit(9)\nsubprocess.Popen = refuse\n"
    )
    watching += "from faithkit.__main__ import main\nsys.argv[1:] = sys.argv[2:]\nmain()"
    for words, code in {
        ("--help",): 0,
        ("score", "--help"): 0,
        ("datasets",): 0,
        ("score", "x.csv"): 9,
    }.items():
        done = subprocess.run([sys.executable, "-c", watching, "-", *words], capture_output=True)
        assert done.returncode == code, (words, done.stderr)


# --- the terminal and signals ----------------------------------------------------------------------------

WAITING = """
def work():
    try:
        print("ready", flush=True)
        time.sleep(3600)
    except KeyboardInterrupt:
        time.sleep(0.2)  # clearing up, during which another signal may come
        print("cleared up", flush=True)
        return 130
"""
DEAF = """
def work():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("ready", flush=True)
    time.sleep(3600)
"""


def start(work):
    """Start work, and return its process once it has begun."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    process = subprocess.Popen(make_command(work), **pipes, **hearing({}))
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize(
    "send", [os.kill, os.killpg], ids=["to the command", "to its group, as terminals do"]
)
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_ends_the_work_in_an_orderly_way(name, code, send):
    process = start(WAITING)
    send(process.pid, getattr(signal, name))
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (code, "cleared up\n", "")


def test_a_second_signal_kills_what_ignores_the_first():
    process = start(DEAF)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)  # a system may deliver two pending signals as one
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, "interrupted\n")


def test_the_work_ends_when_the_command_is_killed():
    process = start(DEAF)
    process.kill()  # as subprocess.run does when its timeout has passed
    process.communicate(timeout=PATIENCE)  # stdout is closed when the last that has it open is gone


def test_the_work_has_the_terminal_and_its_input():
    work = "def work():\n    size = os.get_terminal_size().columns\n    print(input('? '), sys.stdout.isatty(), size)\n    return 0"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, make_command(work))
    os.write(terminal, b"typed\n")
    output = b""
    try:
        while data := os.read(terminal, 1024):
            output += data
    except OSError:  # how Linux says that the other side is closed
        pass
    assert os.waitpid(pid, 0)[1] == 0, output
    assert b"typed True" in output.splitlines()[-1]


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGKILL", -9)])
def test_an_evaluation_leaves_no_worker_behind(here, name, code):
    """The workers hold stderr open, so that `communicate` returns when the last of them is gone."""
    process = started(
        "evaluate", *DATA, "--model", "own_models:even", "--explainer", "slow:seconds=0.2", "--n-jobs", 2,
        env=environment(f"{SLOW_PLUGIN}{os.pathsep}{here}", SLOW_LOG=str(here / "log")), start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while not (here / "log").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert "Traceback" not in err


def test_a_shell_may_pass_files_on(here):
    (here / "log.csv").write_text("label,why\nyes,a\nno,a\nyes,b\nyes,b\n")
    words = command(
        "score", "log.csv", "--prediction", "label", "--explanation", "why", "--format", "json", "--out"
    )
    reader, writer = os.pipe()
    done = subprocess.run([*words, f"/dev/fd/{writer}"], pass_fds=[writer], capture_output=True)
    os.close(writer)
    assert done.returncode == 0, done.stderr
    assert os.read(reader, 1) == b"{"
