"""`faithkit show`: one component's parameters and documentation."""

import inspect
import json
from typing import Any

import click

from faithkit.cli import VERBS
from faithkit.cli.options import debug
from faithkit.cli.streams import Verb, say
from faithkit.errors import UnknownComponentError
from faithkit.extension.creation import EMPTY, Parameter, parameters
from faithkit.extension.registry import KINDS, registry


@click.command(cls=Verb)
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="As JSON on stdout.")
@debug
def command(kind: str, name: str, as_json: bool) -> None:
    """Show a component's parameters: `faithkit show explainer shap`."""
    if kind == "command" and name in VERBS:
        raise UnknownComponentError(
            f"{name!r} is one of faithkit's own commands, which no plugin provides: faithkit {name} --help"
        )
    entry = registry().find(kind, name)
    facts = {
        "kind": kind,
        "name": entry.component.name,
        "summary": entry.component.summary,
        "distribution": entry.distribution,
        "version": entry.version,
        "parameters": {p.name: _value(p) for p in parameters(entry)},
        "documentation": inspect.getdoc(entry.component.load()),
    }
    say(json.dumps(facts, indent=2, default=str) if as_json else _text(facts))


REQUIRED = "(required)"


def _value(parameter: Parameter) -> Any:
    value = parameter.preset if parameter.preset is not EMPTY else parameter.default
    return REQUIRED if value is EMPTY else value


def _text(facts: dict[str, Any]) -> str:
    lines = [
        f"{facts['kind']} {facts['name']}: {facts['summary']}",
        f"from {facts['distribution']} {facts['version']}",
    ]
    if facts["parameters"]:
        lines += ["", "parameters"]
    for name, value in facts["parameters"].items():
        lines.append(f"  {name} {value}" if value == REQUIRED else f"  {name} = {value!r}")
    return "\n".join([*lines, "", facts["documentation"] or ""]).rstrip()
