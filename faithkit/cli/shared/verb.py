"""The click classes of the command line: verbs that keep stdout for results, and options with a heading."""

import functools
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from faithkit.cli.shared.streams import RESULT_STREAM, log_to_stderr, redirect_stdout
from faithkit.renamed import new_spelling

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
    usage: str, heading: str, help: str, *names: str, show_default: bool = True, **settings: Any
) -> Callable[[F], F]:
    """Return the decorator of an option that the help lists under a heading.

    Parameters
    ----------
    usage : str
        The start of its line in the help: "--data FILE". A flag has no second word.
    heading : str
        Options, Data, Model, Explainer, Measure, Checks and gates, Running or Output. Others come last.
    help : str
    *names : str
        The name of the parameter, and short forms.
    show_default : bool
        Whether the help shows the default value.
    **settings
        For `click.option`.

    Examples
    --------
    >>> import faithkit
    >>> @faithkit.plugin.report_command
    ... @faithkit.plugin.option("--log FILE", "Data", "Read this log.")
    ... def summary(deliver, log):
    ...     deliver(f"nothing in {log}")
    >>> summary.params[0].heading
    'Data'
    """
    flag, _, metavar = usage.partition(" ")
    settings |= {"metavar": metavar or None, "show_default": show_default, "heading": heading}
    return click.option(flag, *names, cls=HeadedOption, help=help, **settings)


def combine(*options: Callable[[F], F], into: str = "") -> Callable[[F], F]:
    """Return a decorator that adds several options, in the order of the help.

    With `into`, the verb gets the values of these options as one dictionary of that name, and can pass on
    the dictionary. A new option then arrives where the dictionary goes, without a change to the verb.

    Examples
    --------
    >>> pages = combine(click.option("--from"), click.option("--to"), into="pages")
    >>> @click.command()
    ... @pages
    ... def read(pages):
    ...     print(pages)
    >>> read(["--from", "1", "--to", "9"], standalone_mode=False)
    {'from': '1', 'to': '9'}
    """

    def apply(function: F) -> F:
        n_before = len(getattr(function, "__click_params__", ()))
        for decorator in reversed(options):
            function = decorator(function)
        params = vars(function)["__click_params__"][n_before:]
        names = [param.name for param in reversed(params) if param.expose_value]  # click has the last first

        @functools.wraps(function)
        def gather(*args: Any, **values: Any) -> Any:
            group = {name: values.pop(name) for name in names}
            return function(*args, **{into: group}, **values)

        return cast("F", gather) if into else function

    return apply


class Verb(click.Command):
    """A verb of the kernel: only `print_result` writes to stdout, and the help has headings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and keep them as they were typed."""
        ctx.meta[ARGUMENTS] = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            new = new_spelling(f"{ctx.info_name} {error.option_name}") or new_spelling(error.option_name)
            if new is None:
                raise
            raise click.UsageError(f"{new}.", ctx) from None

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
        for heading in sorted(sections, key=lambda heading: (*HEADINGS, heading).index(heading)):
            with formatter.section(heading if len(sections) > 1 else OPTIONS):
                formatter.write_dl(sections[heading])


def heading_of(param: click.Parameter) -> str:
    """Return the heading of an option; `--help` belongs to the output options."""
    if isinstance(param, HeadedOption):
        return param.heading
    return OUTPUT if "--help" in param.opts else OPTIONS


def build_verb(
    function: Callable[..., Any], verb: Callable[..., None], options: Callable[..., Any]
) -> click.Command:
    """Return the command of a plugin's function: it runs `verb`, and lists the function's options first."""
    documented = functools.wraps(function, updated=())(verb)
    command = click.command(cls=Verb)(options(documented))
    command.params[:0] = reversed(own_params(function))  # click keeps the last one first
    return command


def own_params(function: Callable[..., Any]) -> list[click.Parameter]:
    """Return the arguments and options that click's decorators gave to a function."""
    params: list[click.Parameter] = getattr(function, "__click_params__", [])
    return params
