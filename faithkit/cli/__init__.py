"""The command line: one file per verb, imported when it is called.

`faithkit --help` must answer at once, so this module imports click and nothing heavier, and the verbs are
written down in `faithkit.extension.builtins` instead of being collected from their files.
"""

import contextlib
import gc
import os
import sys
from importlib import import_module
from typing import Any

import click

from faithkit import __version__
from faithkit.cli.endings import one_line
from faithkit.cli.streams import aside, keep_stdout
from faithkit.errors import FaithkitError, InputError, UnknownComponentError
from faithkit.supervision import FAILED
from faithkit.wording import did_you_mean


class Verbs(click.Group):
    """The kernel's verbs and those of plugins, each loaded when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the kernel's verbs, then the plugins'."""
        return list(_verbs())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        from faithkit.extension.builtins import VERBS

        if cmd_name in VERBS:
            command: click.Command = import_module(f"faithkit.cli.{cmd_name}").command
            return command
        from faithkit.extension.registry import registry

        try:
            with aside():
                plugged: click.Command = registry().create("command", cmd_name)
        except UnknownComponentError as error:
            advice = error if "pip install" in str(error) else did_you_mean(cmd_name, _verbs())
            ctx.fail(f"no such command {cmd_name!r}. {advice}")
        return plugged

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List verbs by the summaries written down, so that none is imported for it."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_verbs().items()))

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the command, or print the help."""
        with one_line({}):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; whatever goes wrong becomes one line and an exit code."""
        gc.enable()
        ctx.obj = {"debug": False}
        with one_line(ctx.obj):
            _check_working_folder()
            return super().invoke(ctx)


def _check_working_folder() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise InputError(
            f"the working folder cannot be used ({error.strerror}): change to one that exists."
        ) from None


def _verbs() -> dict[str, str]:
    from faithkit.extension.installed import verbs

    return verbs()


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="faithkit")
def main() -> None:
    """Measure whether explanations of predictions tell the truth about the model."""


def console() -> int:
    """Run the command line as a process of its own, whose stdout and exit code are nobody else's.

    Its exit code is returned once everything is written.
    """
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
