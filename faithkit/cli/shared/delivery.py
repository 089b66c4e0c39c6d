"""Output of results: a table on stdout, or files that are written completely or not at all."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from faithkit.cli.shared.options import output_options
from faithkit.cli.shared.paths import STDOUT, check_paths
from faithkit.cli.shared.streams import print_result, write_output
from faithkit.cli.shared.verb import build_verb
from faithkit.errors import InputError
from faithkit.wording import describe, join_words

if TYPE_CHECKING:
    from faithkit.extension.entries import Entry

Step = Callable[[], None]


@attrs.frozen
class Outputs:
    """What a verb writes: files with the reporter of each, and the log of --export."""

    files: "tuple[tuple[Entry, str], ...]" = ()
    export_path: str | None = None
    has_stdout: bool = False


def check_outputs(outs: Sequence[str] = (), format: str | None = None, **paths: str | None) -> Outputs:
    """Find the reporter of each --out, and check that all outputs can be written, before anything runs."""
    reporters = _find_reporters(outs, format)
    names = [f"--out {place}" for place in range(len(outs))]
    checked = check_paths({**dict(zip(names, outs, strict=True)), **paths})
    files = zip(reporters, (checked[name] for name in names), strict=True)
    return Outputs(tuple(files), checked.get("export_path"), "-" in checked.values())


def _find_reporters(outs: Sequence[str], format: str | None) -> "list[Entry]":
    """Return the reporter of each output: that of its suffix, else the one that --format names."""
    from faithkit.errors import UnknownComponentError
    from faithkit.extension.registry import registry
    from faithkit.report.writing import find_reporter

    named = None if format is None else registry().find("reporter", format)
    reporters, is_used = [], False
    for path in outs:
        is_nameless = path in STDOUT or not Path(path).suffix
        if is_nameless and named is None:
            names = join_words(registry().names("reporter"), "or")
            raise click.UsageError(f"--out {path} does not say its format: add --format {names}.")
        try:
            entry = named if is_nameless else find_reporter(path)
        except UnknownComponentError:
            if named is None:
                raise
            entry = named
        assert entry is not None
        reporters.append(entry)
        is_used = is_used or entry is named
    if named is not None and not is_used:
        raise click.UsageError(f"--format {format} is for an output without an ending: add --out - (stdout).")
    return reporters


def deliver(result: Any, outputs: Outputs) -> None:
    """Print the result and write its files, even if one of these steps fails; raise the failures then.

    What a file needs is measured before, so that printing and writing compute nothing.
    """
    from faithkit.report.writing import add_needed

    result = add_needed(result, [reporter for reporter, _ in outputs.files])
    steps: list[Step] = [partial(_write, result, *file) for file in outputs.files]
    if outputs.export_path is not None:
        steps.append(partial(_export, result, outputs.export_path))
    if not outputs.has_stdout:
        steps.insert(0, lambda: print_result(str(result)))
    run_all(steps)


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


def _write(result: Any, reporter: "Entry", path: str) -> None:
    from faithkit.report.writing import render_report

    media_types = [kind for kind in reporter.component.types if "/" in kind]
    write_output("".join(media_types[:1]), path, render_report(reporter, result))


def _export(result: Any, path: str) -> None:
    from faithkit.run.exported_rows import write_log

    write_log(result.result.to_frame("explanations"), path)


def report_command(function: Callable[..., Any]) -> click.Command:
    """Turn a function that delivers a report into a verb.

    The function receives `deliver` first, then its arguments and options by click's own decorators. The verb
    also has the options --out, --format, --verbose and --debug. ``deliver(report)`` prints the report, and
    writes the files of --out by the reporters of their endings. Output files are checked before the function
    runs; none may be a file that an argument or option of type `click.Path` names.

    Examples
    --------
    >>> import click, faithkit
    >>> @faithkit.plugin.report_command
    ... @click.argument("log", type=click.Path())
    ... def summary(deliver, log):
    ...     deliver(f"nothing in {log}")
    >>> [parameter.name for parameter in summary.params][:3]
    ['log', 'outs', 'format']
    """

    def verb(output: dict[str, Any], **options: Any) -> None:
        outputs = check_outputs(**output)
        function(lambda report: deliver(report, outputs), **options)

    return build_verb(function, verb, output_options)
