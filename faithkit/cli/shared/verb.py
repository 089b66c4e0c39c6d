"""The click classes of the command line: verbs that keep stdout for results, and options with a heading."""

import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

import click

from faithkit.cli.shared.streams import RESULT_STREAM, log_to_stderr, redirect_stdout

F = TypeVar("F", bound=Callable[..., Any])

DATA, MODEL, EXPLAINER, MEASURE = "Data", "Model", "Explainer", "Measure"
CHECKS, RUNNING, OUTPUT = "Checks and gates", "Running", "Output"
OPTIONS = "Options"
ARGUMENTS = "faithkit.cli.shared.verb.arguments"  # a key of click's context: the arguments as typed
HEADINGS = (OPTIONS, DATA, MODEL, EXPLAINER, MEASURE, CHECKS, RUNNING, OUTPUT)
"""The headings of a verb's help, in order; `OPTIONS` is for the options that a plugin adds."""


class HeadedOption(click.Option):
    """An option that the help lists under a heading."""

    def __init__(self, *args: Any, heading: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.heading = heading


def option(
    usage: str, *names: str, heading: str, show_default: bool = True, **settings: Any
) -> Callable[[F], F]:
    """Return the decorator of an option.

    Parameters
    ----------
    usage : str
        The start of its line in the help: "--data FILE". A flag has no second word.
    *names : str
        The name of the parameter, and short forms.
    heading : str
        One of `HEADINGS`.
    show_default : bool
    **settings
        For `click.option`.
    """
    flag, _, metavar = usage.partition(" ")
    settings |= {"metavar": metavar or None, "show_default": show_default, "heading": heading}
    return click.option(flag, *names, cls=HeadedOption, **settings)


class Verb(click.Command):
    """A verb of the kernel: only `print_result` writes to stdout, and the help has headings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and keep them as they were typed."""
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb while everything that others print goes to stderr."""
        ctx.meta[RESULT_STREAM] = sys.stdout
        with redirect_stdout(), log_to_stderr():
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List each option under its heading; a verb with a single heading needs none."""
        sections = defaultdict(list)
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and not isinstance(param, click.Argument):
                sections[heading_of(param)].append(record)
        for heading in sorted(sections, key=HEADINGS.index):
            with formatter.section(heading if len(sections) > 1 else OPTIONS):
                formatter.write_dl(sections[heading])


def heading_of(param: click.Parameter) -> str:
    """Return the heading of an option; `--help` belongs to the output options."""
    if isinstance(param, HeadedOption):
        return param.heading
    return OUTPUT if "--help" in param.opts else OPTIONS
