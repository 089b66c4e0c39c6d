"""`faithkit plugins`: what is installed, and what is wrong with any of it."""

import json
from typing import Any

import click
from attrs import asdict, filters

from faithkit.cli.options import printing
from faithkit.cli.streams import Verb, say
from faithkit.extension.registry import KINDS, registry
from faithkit.extension.remembered import forget_failures


@click.command(cls=Verb)
@printing
def command(as_json: bool) -> None:
    """List the installed plugins, and what is wrong with any."""
    forget_failures()  # whoever lists them wants to know how they are now
    found = registry()
    if as_json:
        broken = [asdict(line, filter=filters.exclude("cause")) for line in found.broken]
        say(json.dumps({"components": _components(), "broken": broken}, indent=2))
        return
    for kind in filter(found.entries, KINDS):
        say(f"{kind}s")
        _list(kind)
    if found.broken:
        say("problems")
        for line in found.broken:
            say(f"  {line}")


def _list(kind: str) -> None:
    found = registry()
    rows = list(zip(found.names(kind), found.entries(kind), strict=True))
    width = max(len(name) for name, _ in rows)
    for name, entry in rows:
        missing = entry.component.missing_requirements()
        note = f" (needs {', '.join(missing)})" if missing else ""
        say(f"  {name:<{width}}  {entry.component.summary}{note} [{entry.distribution}]")


def _components() -> list[dict[str, Any]]:
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
        for entry in registry().entries()
    ]
