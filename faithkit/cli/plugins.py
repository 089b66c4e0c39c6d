"""`faithkit plugins`: what is installed, and what is wrong with any of it."""

import json
import traceback
from typing import Any

import click
from attrs import asdict, filters

from faithkit.cli.shared.options import printing
from faithkit.cli.shared.streams import Verb, say, tell
from faithkit.extension.registry import KINDS, Registry


@click.command(cls=Verb)
@printing
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the installed plugins, and what is wrong with any.

    With --debug the traceback of each plugin that cannot be loaded is shown, too.
    """
    installed = Registry()  # not the default one, which warns of what is listed here
    if as_json:
        broken = [asdict(line, filter=filters.exclude("cause")) for line in installed.broken]
        say(json.dumps({"components": _components(installed), "broken": broken}, indent=2))
    else:
        _list(installed)
    for line in installed.broken if ctx.obj["debug"] else ():
        if line.cause is not None:
            tell(f"\n{line}\n" + "".join(traceback.format_exception(line.cause)).rstrip())


def _list(installed: Registry) -> None:
    for kind in filter(installed.entries, KINDS):
        say(f"{kind}s")
        _list_kind(installed, kind)
    if installed.broken:
        say("problems")
        for line in installed.broken:
            say(f"  {line}")


def _list_kind(installed: Registry, kind: str) -> None:
    rows = list(zip(installed.names(kind), installed.entries(kind), strict=True))
    width = max(len(name) for name, _ in rows)
    for name, entry in rows:
        missing = entry.component.missing_requirements()
        note = f" (needs {', '.join(missing)})" if missing else ""
        say(f"  {name:<{width}}  {entry.component.summary}{note} [{entry.distribution}]")


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
