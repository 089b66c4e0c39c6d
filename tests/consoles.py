"""The command line for tests: in this process where that will do, in a real one where it must be."""

import os
import signal
import subprocess
import sys

from click.testing import CliRunner

from faithkit.cli import main

LOG = "label,why\nyes,a\nno,a\nyes,b\nyes,b\n"
SCORE = ("score", "log.csv", "--prediction", "label", "--explanation", "why")
PLAN = ("plan", "--range", "30")


def run(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def console(*arguments, **options):
    """Run a command in a process of its own, as a shell would."""
    return subprocess.run(command(*arguments), **{"capture_output": True, "text": True, **hearing(options)})


def started(*arguments, **options):
    """Start a command in a process of its own, and return that."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command(*arguments), **{**pipes, **hearing(options)})


def command(*arguments):
    """Return the words of a command."""
    return [sys.executable, "-m", "faithkit", *map(str, arguments)]


def hearing(options):
    """Let a process hear signals: what a shell or nohup runs may ignore some, and so do its children."""
    return {"preexec_fn": _hear, **options}


def _hear():
    for name in ("SIGINT", "SIGHUP", "SIGTERM"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def environment(folder, **more):
    """Return an environment in which modules of a folder can be imported."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}
