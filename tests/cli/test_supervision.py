"""A run that ends without having said how has not succeeded; nothing that it started or made is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from consoles import console, environment, hearing, started

from faithkit.scratch import PREFIX

pytestmark = [
    pytest.mark.slow,  # every case is a process
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
]

PATIENCE = 60  # seconds: a machine may be busy
SLOW_PLUGIN = Path(__file__).parents[1] / "fixtures" / "slow_plugin"


def script(work):
    """Return the command that does some work under supervision, without all that the command line imports."""
    imports = "import os, signal, sys, time\nfrom faithkit.supervision import supervised\n"
    return [sys.executable, "-c", f"{imports}{work}\nsupervised(work)"]


SOON = "import faithkit.supervision\nfaithkit.supervision.SECONDS_TO_END = 1\n"  # and not ten


def supervised(body, **options):
    """Do work that is given as the body of a function, and return how it ended."""
    work = "def work():\n    " + body.replace("\n", "\n    ")
    return subprocess.run(script(work), **{"capture_output": True, "text": True, **hearing(options)})


# --- how it ends -----------------------------------------------------------------------------------------

EXIT = "ended with exit status {} and without a result: a model, an explainer or a library ended the whole process"
SIGNAL = "error: the run was ended by {}, without a result."
ENDINGS = [
    ("return 0", 0, ""),
    ("return 3", 3, ""),
    ("return 130", 130, ""),
    ("os._exit(0)", 1, EXIT.format(0)),
    ("os._exit(7)", 1, EXIT.format(7)),
    ("import ctypes; ctypes.CDLL(None).exit(0)", 1, EXIT.format(0)),
    ("os.execv('/bin/sh', ['sh', '-c', 'exit 0'])", 1, EXIT.format(0)),
    ("if os.fork(): os._exit(0)\ntime.sleep(0.2)\nreturn 0", 1, EXIT.format(0)),
    ("os.closerange(3, 64)\nreturn 0", 1, EXIT.format(0)),  # it cannot say that it has succeeded
    ("os.kill(os.getpid(), signal.SIGKILL)", 137, SIGNAL.format("SIGKILL") + " Often memory was too small"),
    ("os.kill(os.getpid(), signal.SIGSEGV)", 139, SIGNAL.format("SIGSEGV") + " A library crashed"),
    ("os.abort()", 134, SIGNAL.format("SIGABRT") + " A library crashed"),
    ("os.kill(os.getpid(), signal.SIGUSR1)", 138, SIGNAL.format("SIGUSR1")),
    # what comes after the code was said changes nothing
    ("import atexit; atexit.register(os._exit, 5)\nreturn 0", 0, ""),
    ("import atexit; atexit.register(os.abort)\nreturn 3", 3, ""),
    ("if not os.fork(): os._exit(0)\nreturn 0", 0, ""),
    ("from multiprocessing import Pool\nwith Pool(2) as pool:\n    return pool.map(abs, [0])[0]", 0, ""),
]


@pytest.mark.parametrize(("body", "code", "told"), ENDINGS, ids=[body for body, *_ in ENDINGS])
def test_a_process_ends_with_the_code_that_was_said_and_with_no_success_if_none_was(body, code, told):
    done = supervised(body)
    assert done.returncode == code
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == bool(told)


def test_whoever_inherits_that_ends_of_children_are_ignored_learns_of_them_all_the_same():
    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    assert supervised("return 3", preexec_fn=ignore).returncode == 3
    assert supervised("os._exit(0)", preexec_fn=ignore).returncode == 1


def test_where_no_process_can_be_started_the_work_is_not_done():
    refuse = "def refuse():\n    raise OSError(11, 'Resource temporarily unavailable')\nos.fork = refuse\n"
    work = "def work():\n    print('done')\n    return 0"
    done = subprocess.run(script(refuse + work), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: no process can be started (Resource temporarily unavailable)")


@pytest.mark.slow
def test_a_thread_that_never_ends_does_not_keep_the_command_from_ending():
    work = "def work():\n    import threading; threading.Thread(target=time.sleep, args=(3600,)).start()\n    return 0"
    assert subprocess.run(script(SOON + work), **hearing({})).returncode == 0


MODELS = """
import ctypes, os, sys

def leaves(X):
    os._exit(0)

def leaves_by_c(X):
    ctypes.CDLL(None).exit(0)

def crashes(X):
    ctypes.string_at(0)

def exits(X):
    sys.exit(0)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "own_models.py").write_text(MODELS)
    (tmp_path / "leaves_when_imported.py").write_text("import os\nos._exit(0)")
    (tmp_path / "exits_when_imported.py").write_text("import sys\nsys.exit(0)")
    pd.DataFrame({"a": range(60), "y": [0, 1] * 30}).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


DATA = (
    "--data",
    "data.csv",
    "--target",
    "y",
    "--diagnose",
    "none",
    "--background",
    "data.csv",
    "--explainer",
    "tree",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "code"),
    [("own_models:leaves", 1), ("own_models:leaves_by_c", 1), ("own_models:crashes", 139), ("own_models:exits", 1),
     ("leaves_when_imported:model", 1), ("exits_when_imported:model", 1)],
)  # fmt: skip
def test_a_model_that_ends_the_process_fails_the_build(here, model, code):
    limits = ("--fail-under", "consistency=0", "--json", "r.json")
    done = console("evaluate", *DATA, "--model", model, *limits, env=environment(here))
    assert (done.returncode, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: ")
    assert not (here / "r.json").exists()


# --- signals ---------------------------------------------------------------------------------------------

WAITING = """
def work():
    try:
        print("ready", flush=True)
        time.sleep(3600)
    except KeyboardInterrupt:
        print("cleared up", flush=True)
        return 130
"""
DEAF = """
def work():
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    print("ready", flush=True)
    time.sleep(3600)
"""


def ready(work, **options):
    """Start work, and return its process once it has begun."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    process = subprocess.Popen(script(work), **pipes, **hearing(options))
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize(
    "send", [os.kill, os.killpg], ids=["to the command", "to its group, as terminals do"]
)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_work_in_an_orderly_way(name, send):
    process = ready(WAITING)
    send(process.pid, getattr(signal, name))
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (128 + getattr(signal, name), "cleared up\n", "")


@pytest.mark.slow
def test_who_hears_no_signal_is_killed_after_a_while():
    process = ready(SOON + DEAF)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (143, "interrupted\n")


def test_a_signal_that_was_to_be_ignored_is_ignored():
    process = ready(WAITING, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.terminate()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143


def test_it_can_be_stopped_and_goes_on():
    process = ready(
        "def work():\n    print('ready', flush=True)\n    sys.stdin.read()\n    return 0", stdin=-1
    )
    os.killpg(process.pid, signal.SIGSTOP)  # a terminal's Ctrl-Z stops the whole group, too
    os.killpg(process.pid, signal.SIGCONT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


@pytest.mark.parametrize("work", [WAITING, DEAF], ids=["waiting", "deaf"])
def test_the_work_ends_when_its_supervisor_is_killed(work):
    process = ready(work)
    process.kill()
    process.communicate(timeout=PATIENCE)  # stdout is closed when the last that has it open is gone


# --- what is left behind ---------------------------------------------------------------------------------


def folders(place):
    return [name for name in os.listdir(place) if name.startswith(PREFIX)]


TEMPORARY = "import tempfile\nfolder = tempfile.mkdtemp()\nopen(os.path.join(folder, 'model'), 'w').close()\n"


@pytest.mark.parametrize(
    "end", ["return 0", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)", "os.abort()"]
)
def test_no_temporary_file_outlives_the_run(tmp_path, end):
    supervised(TEMPORARY + end, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_are_nobody_elses_to_read(tmp_path):
    body = (
        "import tempfile\nprint(oct(os.stat(tempfile.gettempdir()).st_mode), os.environ['TMPDIR'])\nreturn 0"
    )
    done = supervised(body, env={**os.environ, "TMPDIR": str(tmp_path)})
    mode, folder = done.stdout.split()
    assert mode == "0o40700"
    assert folder.startswith(str(tmp_path / PREFIX))


def test_the_next_run_clears_up_after_one_that_was_killed_and_spares_one_that_lives(tmp_path):
    settings = {"env": {**os.environ, "TMPDIR": str(tmp_path)}}
    living, killed = ready(WAITING, **settings), ready(WAITING, **settings)
    killed.kill()
    killed.communicate(timeout=PATIENCE)
    assert len(folders(tmp_path)) == 2
    (tmp_path / f"{PREFIX}not-a-folder").write_text("kept")
    supervised("return 0", **settings)
    assert len(folders(tmp_path)) == 2  # that of the living, and what is no folder
    living.terminate()
    living.communicate(timeout=PATIENCE)
    assert folders(tmp_path) == [f"{PREFIX}not-a-folder"]


def test_it_works_where_no_temporary_folder_can_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    done = supervised("return 3", env={**os.environ, "TMPDIR": str(tmp_path / "file")})
    assert done.returncode == 3


ORPHANS = """
def work():
    import subprocess
    sleeper = "import time; time.sleep(3600)"
    workers = [subprocess.Popen([sys.executable, "-c", sleeper]) for _ in range(2)]
    daemon = subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True)
    print("ready", flush=True)
    print(*[worker.pid for worker in workers], daemon.pid, flush=True)
    {}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux only")
@pytest.mark.parametrize("end", ["return 0", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_workers_end_with_the_run_and_what_made_itself_a_daemon_stays(end):
    process = ready(ORPHANS.format(end))
    *workers, daemon = map(int, process.stdout.readline().split())
    process.wait(PATIENCE)
    try:
        assert [pid for pid in workers if alive(pid)] == []
        assert alive(daemon)
    finally:
        os.kill(daemon, signal.SIGKILL)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def evaluating(here):
    """Start a real evaluation with workers, and return its process once they work."""

    def start():
        (here / "even.py").write_text("def model(X):\n    return X['a'] % 2\n")
        variables = {"SLOW_LOG": str(here / "log"), "TMPDIR": str(here / "tmp"), "MARK": str(here)}
        process = started(
            "evaluate", *DATA[:-2], "--model", "even:model", "--explainer", "slow:seconds=0.2", "--n-jobs", 2,
            env=environment(f"{SLOW_PLUGIN}{os.pathsep}{here}", **variables), start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while not (here / "log").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return process

    return start


def of_this_run(here):
    """Return all processes that have the run's mark in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as variables:
                found += [pid] * (f"MARK={here}\0".encode() in variables.read())
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129), ("SIGKILL", -9)]
)
def test_an_evaluation_leaves_no_worker_behind(here, evaluating, name, code):
    process = evaluating()
    assert len(of_this_run(here)) > 3
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    deadline = time.monotonic() + PATIENCE
    while of_this_run(here) and name == "SIGKILL":  # there is nobody left who could wait for them
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert of_this_run(here) == []
    assert name == "SIGKILL" or folders(here / "tmp") == []
