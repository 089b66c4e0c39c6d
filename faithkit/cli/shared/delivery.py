"""Output of results: a table on stdout, or files that are written completely or not at all."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import click

from faithkit.cli.shared.options import output_options
from faithkit.cli.shared.paths import check_paths
from faithkit.cli.shared.streams import escape_json, print_result, write_output
from faithkit.cli.shared.verb import build_verb
from faithkit.display import VERBOSE
from faithkit.errors import InputError
from faithkit.wording import describe

Step = Callable[[], None]

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")

WRITERS: dict[str, Callable[[Any], str]] = {
    "json_path": lambda result: escape_json(result.to_json()),
    "csv_path": lambda result: result.to_frame().map(escape_formula).to_csv(index=False),
    "html_path": lambda result: result.to_html(),
}


def deliver(result: Any, paths: dict[str, str]) -> None:
    """Print the result and write its files, even if one of these steps fails; raise the failures then."""
    steps: list[Step] = [partial(_write, result, *file) for file in paths.items()]
    if "-" not in paths.values():
        steps.insert(0, lambda: print_result(str(result)))
    run_all(steps)


def needed_diagnostics(diagnostics: Any, paths: Mapping[str, str]) -> Any:
    """Return the diagnostics to run; without a request, quick ones if an output shows them."""
    is_shown = VERBOSE.get() or not paths.keys().isdisjoint({"json_path", "html_path"})
    return () if diagnostics is None and not is_shown else diagnostics


def run_all(steps: Iterable[Step]) -> None:
    """Run every step, even after a failure; then raise the failures."""
    failures = []
    for step in steps:
        try:
            step()
        except Exception as error:
            failures.append(error)
    if len(failures) > 1:
        raise InputError(" ".join(map(describe, failures))) from failures[0]
    for failure in failures:
        raise failure


def _write(result: Any, name: str, path: str) -> None:
    if name == "export_path":
        from faithkit.run.exported_rows import write_log

        write_log(result.result.to_frame("explanations"), path)
    else:
        write_output(name, path, WRITERS[name](result))


def escape_formula(value: Any) -> Any:
    """Escape a value that a spreadsheet would read as a formula.

    Examples
    --------
    >>> escape_formula("=HYPERLINK(A1)"), escape_formula("yes"), escape_formula(-0.5)
    ("'=HYPERLINK(A1)", 'yes', -0.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


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

    def verb(output: dict[str, Any], **options: Any) -> None:
        paths = check_paths(output)
        function(lambda report: deliver(report, paths), **options)

    return build_verb(function, verb, output_options)
