"""`report_command`: the decorator for plugins' verbs that print a report, or write it to files."""

import functools
from collections.abc import Callable
from typing import Any

import click

from faithkit.cli.shared.delivery import deliver
from faithkit.cli.shared.options import output_options
from faithkit.cli.shared.paths import check_paths
from faithkit.cli.shared.verb import Verb


def report_command(function: Callable[..., Any]) -> click.Command:
    """Turn a function that delivers a report into a verb.

    The function receives `deliver` first, then its arguments and options by click's own decorators. The verb
    also has the options --json, --csv, --html, --verbose and --debug. ``deliver(report)`` prints the report,
    or writes it by its methods `to_json`, `to_frame` and `to_html`. Output files are checked before the
    function runs; none may be a file that an argument or option of type `click.Path` names.

    Examples
    --------
    >>> import click, faithkit
    >>> @faithkit.plugin.report_command
    ... @click.argument("log", type=click.Path())
    ... def summary(deliver, log):
    ...     deliver(f"nothing in {log}")
    >>> [parameter.name for parameter in summary.params][:3]
    ['log', 'json_path', 'csv_path']
    """
    function_params: list[click.Parameter] = getattr(function, "__click_params__", [])

    @functools.wraps(function, updated=())
    def verb(output: dict[str, Any], **options: Any) -> None:
        paths = check_paths(output)
        function(lambda report: deliver(report, paths), **options)

    command = click.command(cls=Verb)(output_options(verb))
    command.params[:0] = reversed(function_params)  # click keeps the last one first
    return command
