"""stdout is ours: whatever models, explainers and modules print, here and in workers, goes to stderr."""

import contextlib
import io
import json

import numpy as np
import pandas as pd
import pytest
from consoles import LOG, PLAN, SCORE, console, environment, run

from faithkit.cli import main

pytestmark = pytest.mark.slow  # every case is a process, or waits for one

# a module that prints in every way there is, when imported, when called and when the process ends
TALKATIVE = """
import atexit, ctypes, os, subprocess, sys

def talk(when):
    print(f"[print {when}]")
    sys.stdout.write(f"[write {when}]\\n")
    sys.__stdout__.write(f"[dunder {when}]\\n")
    sys.stdout.flush(), sys.__stdout__.flush()
    os.write(1, f"[descriptor {when}]\\n".encode())
    ctypes.CDLL(None).puts(f"[c {when}]".encode())
    ctypes.CDLL(None).fflush(None)
    subprocess.run(["echo", f"[subprocess {when}]"], check=True)

talk("import")
atexit.register(talk, "exit")

def model(X):
    talk("model")
    return (X["a"] > 30).tolist()
"""
WAYS = ("print", "write", "dunder", "descriptor", "c", "subprocess")

# a plugin with a verb, whose result is what it prints, and with an explainer
PLUGIN = """
import os
import click, faithkit

FAITHKIT_API = 1
print("[module of the plugin]")


@faithkit.plugin.hookimpl
def faithkit_explainers():
    yield faithkit.plugin.Component(name="talking", factory="talking_plugin:Talking", summary="Talks.", kinds=("vector",))


@click.command()
@click.option("--code", default=0)
@click.pass_context
def greet(ctx, code):
    click.echo("hello")
    print("world")
    os.write(1, b"[descriptor]\\n")
    ctx.exit(code)


class Talking:
    learns = False
    rows_per_chunk = 7

    def fit(self, predictor, background):
        print("[fit]")
        return self

    def explain(self, X, seeds):
        print("[explain]")
        os.write(1, b"[descriptor explain]\\n")
        return faithkit.Explanations.vectors(X[["b"]].to_numpy(float), instances=X)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    places = np.arange(60)
    pd.DataFrame({"a": places, "b": places % 3, "y": places % 2}).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "talkative.py").write_text(TALKATIVE)
    (tmp_path / "talking_plugin.py").write_text(PLUGIN)
    info = tmp_path / "talking_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: talking-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[faithkit]\nmain = talking_plugin\n[faithkit.commands]\ngreet = talking_plugin:greet\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


EVALUATE = ("evaluate", "--data", "data.csv", "--target", "y", "--background", "data.csv", "--diagnose", "none",
            "--out", "-", "--format", "json")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("workers", [("--n-jobs", 1), ("--n-jobs", 2), ("--executor", "threads:workers=2")])
def test_json_is_json_whatever_is_printed(here, workers):
    options = ("--model", "talkative:model", "--explainer", "talking", *workers)
    done = console(*EVALUATE, *options, env=environment(here))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == 60
    prints = [f"[{way} {when}]" for way in WAYS for when in ("import", "model", "exit")]
    for text in (*prints, "[module of the plugin]", "[fit]", "[explain]", "[descriptor explain]"):
        assert text in done.stderr


def test_what_is_printed_goes_to_stderr_in_process_too(here, monkeypatch):
    monkeypatch.syspath_prepend(str(here))
    (here / "chatty.py").write_text(
        "print('[import]')\ndef model(X):\n    print('[model]')\n    return X['b']\n"
    )
    done = run(*EVALUATE, "--model", "chatty:model", "--explainer", "tree")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["n"] == 60
    assert {"[import]", "[model]"} <= set(done.stderr.splitlines())


def test_whoever_closes_or_replaces_stdout_harms_himself_only(here):
    (here / "rude.py").write_text(
        "import os, sys\ndef model(X):\n    sys.stdout and sys.stdout.close()\n    sys.stdout = None\n    return X['b'].tolist()\n"
    )
    done = console(*EVALUATE, "--model", "rude:model", "--explainer", "tree", env=environment(here))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n"] == 60


def test_what_a_plugins_verb_prints_is_its_result(here):
    done = console("greet", env=environment(here))
    assert (done.returncode, done.stdout) == (0, "hello\nworld\n")
    assert set(done.stderr.splitlines()) == {"[module of the plugin]", "[descriptor]"}


@pytest.mark.parametrize("code", [0, 1, 3, 7])
def test_a_plugins_verb_ends_with_the_code_it_chose(here, code):
    assert console("greet", "--code", code, env=environment(here)).returncode == code


@pytest.mark.parametrize(
    "arguments", [("--help",), ("plugins", "--json"), ("show", "explainer", "talking", "--json")]
)
def test_a_module_that_prints_is_not_seen_on_stdout(here, arguments):
    done = console(*arguments, env=environment(here))
    assert done.returncode == 0
    assert "[module" not in done.stdout
    assert "talking" in done.stdout or "greet" in done.stdout


def test_a_result_reaches_whatever_stands_in_for_stdout():
    text = io.StringIO()
    with contextlib.redirect_stdout(text), pytest.raises(SystemExit):
        main(PLAN)
    assert "rows: a bias of at most 0.1" in text.getvalue()


@pytest.mark.parametrize("name", ["json", "csv", "html"])
def test_stdout_gets_the_bytes_that_a_file_gets(here, name):
    assert run(*SCORE, "--out", f"file.{name}").exit_code == 0
    written = (here / f"file.{name}").read_bytes()
    assert run(*SCORE, "--out", "-", "--format", name).stdout_bytes == written


@pytest.mark.parametrize("stdout", ["/dev/stdout", "/dev/fd/1"])
def test_another_name_of_stdout_is_stdout(here, stdout):
    assert (
        run(*SCORE, "--out", stdout, "--format", "json").stdout
        == run(*SCORE, "--out", "-", "--format", "json").stdout
    )


def test_json_and_html_are_ascii_where_stdout_is_not_utf_8(here):
    (here / "log.csv").write_text(LOG.replace("yes", "größer ≤ 𝄞"), encoding="utf-8")
    ascii_only = {"env": environment(here, PYTHONIOENCODING="ascii"), "text": False}
    options = (*SCORE, "--contradictions", 1)
    payload = json.loads(
        console(*options, "--out", "-", "--format", "json", **ascii_only).stdout.decode("ascii")
    )
    assert payload["contradictions"][0]["predictions"] == {"größer ≤ 𝄞": 1, "no": 1}
    assert "gr&#246;&#223;er &#8804; &#119070;" in console(
        *options, "--out", "-", "--format", "html", **ascii_only
    ).stdout.decode("ascii")
