"""A plugin that hangs, or ends the process, when it is loaded: it is named, and nothing else waits or ends."""

import re
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from unittest.mock import ANY

import pytest
from on_path import faithkit_with, install

from faithkit.errors import PluginError
from faithkit.extension import conversation, installed
from faithkit.extension.discovery import as_sources
from faithkit.extension.registry import Registry
from faithkit.testing import checks_for

pytestmark = pytest.mark.slow  # every case is a process, or waits for one

HEAD = "import os, re, signal, subprocess, sys, threading, time\nimport faithkit\nFAITHKIT_API = 1\n"
FINE = """
@faithkit.hookimpl
def faithkit_explainers():
    yield faithkit.Component(name="fine", factory="collections:Counter", summary="…")
@faithkit.hookimpl
def faithkit_commands():
    yield faithkit.Component(name="audit", factory="collections:Counter", summary="Audit a log.")
"""
ENDS = {
    "exits-at-once": "os._exit(0)",
    "exits-in-a-thread": "threading.Timer(0, os._exit, [0]).start(); time.sleep(60)",
    "kills-itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "interrupts": "raise KeyboardInterrupt",
    "closes-everything": "os.closerange(0, 1000)",
    "replaces-itself": "os.execv(sys.executable, [sys.executable, '-c', ''])",
}
HANGS = {
    "sleeps": "time.sleep(1000)",
    "works-without-end": "while True: pass",
    "works-without-end-in-c": "re.match('(a+)+$', 'a' * 60 + 'b')",
    "waits-for-a-person": "input()",
    "waits-for-itself": "lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "hears-nothing": "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)",
    "stops": "os.kill(os.getpid(), signal.SIGSTOP)",
}


@pytest.fixture
def folder(site):
    """A folder on the path, with a plugin that works."""
    install(site, "fine-plugin", HEAD + FINE)
    return site


def told(registry):
    return {line.distribution: line.problem for line in registry.broken}


def test_plugins_that_end_the_process_are_named_and_the_others_found(folder):
    for name, code in ENDS.items():
        install(folder, name, HEAD + code)
    registry = Registry()
    assert told(registry) == dict.fromkeys(ENDS, "ended the process when it was loaded")
    assert {"fine", "shap"} <= set(registry.names("explainer"))


@pytest.mark.parametrize("name", HANGS)
def test_a_plugin_that_hangs_is_named_and_the_others_found(name, folder, monkeypatch):
    assert told(Registry()) == {}  # so that from here on, time is given to this one alone
    monkeypatch.setattr(installed, "PATIENCE", 0.5)
    install(folder, name, HEAD + HANGS[name])
    registry = Registry()
    assert told(registry) == {name: ANY}
    # it gets more time where the machine is busy
    assert re.fullmatch(r"did not finish loading within [\d.]+ s", told(registry)[name])
    assert {"fine", "shap"} <= set(registry.names("explainer"))


def test_what_to_do_about_it_is_said(folder, monkeypatch):
    install(folder, "quitter", HEAD + ENDS["exits-at-once"])
    assert str(Registry().broken[0]) == (
        "quitter (main): ended the process when it was loaded. Remove it (pip uninstall quitter) or leave it "
        "out (FAITHKIT_DISABLE=quitter); `faithkit plugins` tries it again"
    )
    monkeypatch.setenv("FAITHKIT_STRICT", "1")
    with pytest.raises(PluginError, match="ended the process when it was loaded"):
        Registry()


def test_a_run_that_needs_such_a_plugin_fails(folder):
    install(folder, "quitter", HEAD + ENDS["exits-at-once"] + FINE.replace('"fine"', '"quit"'))
    done = faithkit_with(folder, "show", "explainer", "quit")
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: no explainer 'quit' is installed.")
    assert "Some plugins have problems: see `faithkit plugins`." in line


def test_it_is_not_checked_either(folder):
    install(folder, "quitter", HEAD + ENDS["exits-at-once"])
    with pytest.raises(PluginError, match=r"^quitter \(main\): ended the process when it was loaded\. "):
        checks_for("quitter")


@pytest.mark.slow
def test_the_listing_names_a_plugin_that_hangs_after_a_few_seconds(folder):
    install(folder, "sleeper", HEAD + HANGS["sleeps"])
    for _ in range(2):  # whoever lists plugins wants to know how they are now
        start = time.monotonic()
        done = faithkit_with(folder, "plugins")
        assert time.monotonic() - start >= 5
        assert "  sleeper (main): did not finish loading within 5 s." in done.stdout
        assert "  fine  " in done.stdout
        assert done.returncode == 0


def test_help_gives_a_hanging_plugin_a_moment_once_and_lists_the_verbs_of_others(folder, monkeypatch):
    assert told(Registry()) == {}
    install(folder, "sleeper", HEAD + HANGS["sleeps"])
    first, again = faithkit_with(folder, "--help"), faithkit_with(folder, "--help")
    assert (first.returncode, first.stderr) == (0, "")
    assert "  audit      Audit a log.\n" in first.stdout
    assert first.stdout == again.stdout
    monkeypatch.setattr(conversation, "ask", pytest.fail)  # it is known by now to take more than a moment
    assert installed.verbs.__wrapped__()["audit"] == "Audit a log."


def test_help_loads_no_plugin(folder):
    (folder / "fine_plugin.py").write_text(HEAD + FINE + "open(__file__ + '.loaded', 'a').write('x')")
    faithkit_with(folder, "show", "explainer", "fine")
    assert (folder / "fine_plugin.py.loaded").read_text() == "xx"  # on trial, and there
    assert "audit" in faithkit_with(folder, "--help").stdout
    assert (folder / "fine_plugin.py.loaded").read_text() == "xx"
    faithkit_with(folder, "show", "explainer", "fine")
    assert (folder / "fine_plugin.py.loaded").read_text() == "xxx"


def test_one_that_ends_the_process_later_is_not_taken_for_the_next(folder):
    install(folder, "a-bomb", HEAD + "threading.Timer(0.3, os._exit, [0]).start()")
    install(folder, "b-bystander", HEAD + "time.sleep(1)")
    points = [point for point in entry_points(group="faithkit") if point.value in ("a_bomb", "b_bystander")]
    answers = conversation.ask(as_sources(points), patience=30)
    assert {source.distribution: answer.outcome for source, answer in answers} == {
        "a-bomb": "loads",  # it did; what it does later, it does to whoever uses it
        "b-bystander": "loads",
    }


def test_a_plugin_may_use_the_registry_while_it_is_loaded(folder):
    install(
        folder,
        "curious",
        HEAD + "KNOWN = faithkit.registry().names('estimator')\n" + FINE.replace("fine", "odd"),
    )
    install(folder, "a-quitter", HEAD + ENDS["exits-at-once"])
    registry = Registry()
    assert told(registry) == {"a-quitter": "ended the process when it was loaded"} | clash()
    assert "odd" in registry.names("explainer")


def clash():
    alone = "so 'audit' alone is ambiguous"
    return {
        "curious": f"the command 'audit' is also registered by fine-plugin, {alone}",
        "fine-plugin": f"the command 'audit' is also registered by curious, {alone}",
    }


def test_what_a_hanging_plugin_has_started_is_ended_with_it(folder, monkeypatch):
    assert told(Registry()) == {}
    monkeypatch.setattr(installed, "PATIENCE", 2.0)
    started = folder / "started"
    start = (
        f"child = subprocess.Popen(['sleep', '1000']); open({str(started)!r}, 'w').write(str(child.pid))\n"
    )
    install(folder, "parent", HEAD + start + HANGS["sleeps"])
    assert told(Registry()) == {"parent": "did not finish loading within 2 s"}
    assert is_gone(int(started.read_text()))


def is_gone(pid):
    for _ in range(100):
        status = Path(f"/proc/{pid}/stat")
        if not status.exists() or status.read_text().split()[2] == "Z":
            return True
        time.sleep(0.1)
    return False


def test_the_process_does_not_outlive_an_interruption(folder, monkeypatch):
    started = []

    def interrupted(lines, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(conversation, "_next", interrupted)
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(real(*a, **k)) or started[-1])
    with pytest.raises(KeyboardInterrupt):
        Registry()
    assert started[0].returncode is not None


EXECUTABLES = {
    "none": None,
    "an empty name": "",
    "not there": "/no/such/python",
    "a program with Python inside": "/usr/bin/uwsgi",
    "one that fails": "#!/bin/sh\nexit 1\n",
    "one that says something else": "#!/bin/sh\necho Hello\n",
    "one that cannot be run": "garbage",
}


@pytest.mark.parametrize("case", EXECUTABLES)
def test_where_no_process_can_be_started_plugins_are_loaded_at_once(case, folder, monkeypatch):
    executable = EXECUTABLES[case]
    if executable and not executable.startswith("/"):
        (folder / "python3").write_text(executable)
        (folder / "python3").chmod(0o755)
        executable = str(folder / "python3")
    monkeypatch.setattr(sys, "executable", executable)
    install(folder, "exiting", "import sys; sys.exit(0)")
    registry = Registry()
    assert told(registry) == {"exiting": "cannot be loaded: SystemExit: 0"}
    assert "fine" in registry.names("explainer")
    assert installed.verbs.__wrapped__()["audit"] == "Audit a log."  # now it is known


@pytest.mark.parametrize("lacking", ["subprocess.Popen", "threading.Thread.start"])
def test_where_the_system_refuses_plugins_are_loaded_at_once(lacking, folder, monkeypatch):
    def refuse(*args, **options):
        raise RuntimeError("no more of these")

    monkeypatch.setattr(lacking, refuse)
    assert "fine" in Registry().names("explainer")


def test_a_frozen_program_is_not_started_again(folder, monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(subprocess, "Popen", pytest.fail)
    assert "fine" in Registry().names("explainer")


def test_modules_beside_the_working_folder_are_not_imported_on_trial(folder, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert told(Registry()) == {}
    assert not (tmp_path / "imported").exists()
