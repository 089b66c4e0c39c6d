"""The command line: one file per verb, imported when it is called.

`faithkit --help` must answer at once, so this module imports click and nothing heavier. The kernel's verbs
are written down in `faithkit.extension.verbs`, and those of plugins are names of entry points.
"""

import contextlib
import gc
import os
import sys
import warnings
from importlib import import_module
from typing import Any

import click

from faithkit import __version__
from faithkit.cli.shared.exit_codes import one_line
from faithkit.cli.shared.streams import aside, keep_stdout, show_warning, tell
from faithkit.errors import FaithkitError, InputError
from faithkit.extension.plugin_sources import Source, installed_sources
from faithkit.extension.verbs import COMMANDS, VERBS, clashes, command_entry, plugin_verbs
from faithkit.supervision import FAILED
from faithkit.wording import did_you_mean


class Verbs(click.Group):
    """The kernel's verbs and those of plugins, each loaded when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the kernel's verbs, then the plugins'."""
        return [*VERBS, *_plugin_verbs()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        command: click.Command
        if cmd_name in VERBS:
            command = import_module(f"faithkit.cli.{cmd_name}").command
            return command
        providers = _plugin_verbs().get(cmd_name)
        if not providers:
            ctx.fail(f"no such command {cmd_name!r}. {_advice(cmd_name, self.list_commands(ctx))}")
        for line in clashes(providers):
            tell(f"warning: {line}.")
        from faithkit.extension.creation import build

        with aside():
            command = build(command_entry(providers[0]), {})
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List verbs without importing any: the plugins' by the distributions that provide them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))
        plugged = {
            verb: f"from {' and '.join(source.distribution for source in providers)}"
            for verb, providers in _plugin_verbs().items()
        }
        if plugged:
            with formatter.section("Commands of plugins"):
                formatter.write_dl(list(plugged.items()))

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the command, or print the help."""
        with one_line({}):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; whatever goes wrong becomes one line and an exit code."""
        gc.enable()
        ctx.obj = {"debug": False}
        warnings.showwarning = show_warning
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


def _plugin_verbs() -> dict[str, list[Source]]:
    enabled, _ = installed_sources(COMMANDS)
    return plugin_verbs(enabled)


def _advice(verb: str, verbs: list[str]) -> str:
    """Say what to type, or to install, for a verb that is not there."""
    from faithkit.extension.registry import Registry
    from faithkit.extension.suggestions import unknown

    installed = Registry()  # not the default one, whose warnings are no answer to a misspelt verb
    sentences = unknown("command", verb, verbs, installed.entries(), installed.broken)
    return sentences if "pip install" in sentences else did_you_mean(verb, verbs)


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
