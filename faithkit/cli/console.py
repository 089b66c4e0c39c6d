"""The command line as a process of its own, whose stdout and exit code are nobody else's."""

import contextlib
import sys

import click

from faithkit.cli import main
from faithkit.cli.endings import one_line
from faithkit.cli.streams import keep_stdout
from faithkit.errors import FaithkitError
from faithkit.supervision import FAILED


def console() -> int:
    """Run the command line, and return its exit code once everything is written."""
    stdout = keep_stdout()
    try:
        main()
        code = FAILED  # it always raises what it ends with
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else FAILED
    sys.stdout = sys.stderr  # what is printed by exit handlers is no result
    failing = contextlib.suppress(FaithkitError, OSError) if code == FAILED else one_line({})
    try:
        with failing:
            stdout.close()
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    return code
