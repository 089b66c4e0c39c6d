"""`faithkit plugins`: list the installed plugins and their problems."""

import json
from typing import Any

import click
from attrs import asdict, filters

from faithkit.cli.shared.options import print_options
from faithkit.cli.shared.streams import print_result, print_traceback
from faithkit.cli.shared.verb import Verb
from faithkit.extension.registry import KINDS, Registry


@click.command(cls=Verb)
@print_options
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the installed plugins and their problems.

    With --debug, the traceback of each plugin that cannot be loaded is shown.
    """
    installed = Registry()  # not the default registry, which warns of the problems listed here
    if as_json:
        problems = [asdict(problem, filter=filters.exclude("cause")) for problem in installed.broken]
        print_result(json.dumps({"components": _components(installed), "broken": problems}, indent=2))
    else:
        _print_plugins(installed)
    for problem in installed.broken if ctx.obj["debug"] else ():
        if problem.cause is not None:
            print_traceback(problem.cause, f"\n{problem}\n")


def _print_plugins(installed: Registry) -> None:
    for kind in filter(installed.entries, KINDS):
        print_result(f"{kind}s")
        _print_kind(installed, kind)
    if installed.broken:
        print_result("problems")
        for problem in installed.broken:
            print_result(f"  {problem}")


def _print_kind(installed: Registry, kind: str) -> None:
    rows = list(zip(installed.names(kind), installed.entries(kind), strict=True))
    width = max(len(name) for name, _ in rows)
    for name, entry in rows:
        missing = entry.component.missing_requirements()
        note = f" (needs {', '.join(missing)})" if missing else ""
        print_result(f"  {name:<{width}}  {entry.component.summary}{note} [{entry.distribution}]")


def _components(installed: Registry) -> list[dict[str, Any]]:
    return [
        {
            "kind": entry.kind,
            "name": entry.component.name,
            "summary": entry.component.summary,
            "distribution": entry.distribution,
            "version": entry.version,
            "kinds": list(entry.component.kinds),
            "inputs": list(entry.component.inputs),
        }
        for entry in installed.entries()
    ]
