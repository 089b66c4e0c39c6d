"""The command line: one file per verb, imported when the verb is called.

`faithkit --help` must be fast, so this module imports click and nothing heavier. The module
`faithkit.extension.entry_points` lists the kernel's verbs; the verbs of plugins are names of entry points.
"""

import contextlib
import gc
import sys
import warnings
from importlib import import_module
from typing import Any

import click

from faithkit import __version__
from faithkit.cli.shared.streams import (
    exit_on_error,
    print_message,
    redirect_stdout,
    reserve_stdout,
    show_warning,
)
from faithkit.errors import FaithkitError
from faithkit.extension.entry_points import (
    COMMANDS,
    PLUGIN_VERBS,
    VERBS,
    Source,
    command_entry,
    installed_sources,
    plugin_verbs,
    verb_clashes,
)
from faithkit.supervision import FAILED
from faithkit.wording import did_you_mean


class Verbs(click.Group):
    """The verbs of the kernel and of plugins, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the kernel's verbs, then the plugins'."""
        return [*VERBS, *_plugin_verbs()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        command: click.Command
        if cmd_name in VERBS:
            command = import_module(f"faithkit.cli.{cmd_name}").command
            return command
        sources = _plugin_verbs().get(cmd_name)
        if not sources:
            ctx.fail(f"no such command {cmd_name!r}. {_advise(cmd_name, self.list_commands(ctx))}")
        for problem in verb_clashes(sources):
            print_message(f"warning: {problem}.")
        from faithkit.cli.shared.options import debug_option
        from faithkit.extension.creation import build

        with redirect_stdout():
            command = build(command_entry(sources[0]), {})
        has_debug = any(parameter.name == "debug" for parameter in command.params)
        return command if has_debug else debug_option(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List verbs without importing any, plugins' verbs with their distributions."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))
        descriptions = {verb: _describe(sources) for verb, sources in _plugin_verbs().items()}
        if descriptions:
            with formatter.section("Commands of plugins"):
                formatter.write_dl(list(descriptions.items()))

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the command, or print the help."""
        with exit_on_error({}):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; any failure becomes one line and an exit code."""
        gc.enable()
        ctx.obj = {"debug": False}
        warnings.showwarning = show_warning
        with exit_on_error(ctx.obj):
            return super().invoke(ctx)


def _describe(sources: list[Source]) -> str:
    """Return what a plugin's verb does, if that is known, and where it comes from."""
    distributions = " and ".join(source.distribution for source in sources)
    summary = PLUGIN_VERBS.get(f"{sources[0].distribution}/{sources[0].entry_point.name}")
    return f"from {distributions}" if summary is None else f"{summary} ({distributions})"


def _plugin_verbs() -> dict[str, list[Source]]:
    enabled, _ = installed_sources(COMMANDS)
    return plugin_verbs(enabled)


def _advise(verb: str, verbs: list[str]) -> str:
    """Return what to type or to install if a verb does not exist."""
    from faithkit.extension.known_plugins import unknown_name_message
    from faithkit.extension.registry import Registry

    installed = Registry()  # not the default registry, whose warnings do not help here
    sentences = unknown_name_message("command", verb, verbs, installed.entries(), installed.broken)
    return sentences if "pip install" in sentences else did_you_mean(verb, verbs)


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="faithkit")
def main() -> None:
    """Measure whether explanations of predictions tell the truth about the model."""


def console() -> int:
    """Run the command line with a private stdout, and return the exit code once everything is written."""
    stdout = reserve_stdout()
    try:
        main()
        code = FAILED  # not reached: click ends with SystemExit
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else FAILED
    sys.stdout = sys.stderr  # exit handlers may print, and that is no result
    handle_errors = contextlib.suppress(FaithkitError, OSError) if code == FAILED else exit_on_error({})
    try:
        with handle_errors:
            stdout.close()
    except click.exceptions.Exit as exit:
        code = exit.exit_code
    return code
