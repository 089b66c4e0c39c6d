"""`faithkit show`: one component's parameters and documentation."""

import inspect
import json
from typing import Any

import click

from faithkit.cli.shared.options import printing
from faithkit.cli.shared.streams import Verb, say
from faithkit.errors import UnknownComponentError
from faithkit.extension.creation import EMPTY, Parameter, parameters
from faithkit.extension.known_plugins import providers
from faithkit.extension.registry import KINDS, Entry, registry
from faithkit.wording import closest, listing


@click.command(cls=Verb)
@click.argument("words", metavar="[KIND] NAME", nargs=-1, required=True)
@printing
def command(words: tuple[str, ...], as_json: bool) -> None:
    """Show a component's parameters and documentation.

    `faithkit show shap` finds it where only one kind of component has this name; otherwise KIND says which is
    meant: `faithkit show explainer shap`.
    """
    if len(words) > 2 or words in [(kind,) for kind in KINDS]:
        raise click.UsageError("give a component's name, with or without its kind: explainer shap.")
    entry = registry().find(words[0], words[1]) if len(words) == 2 else _of_any_kind(words[0])
    facts = {
        "kind": entry.kind,
        "name": entry.component.name,
        "summary": entry.component.summary,
        "distribution": entry.distribution,
        "version": entry.version,
        "parameters": {p.name: _value(p) for p in parameters(entry)},
        "documentation": _documentation(entry),
    }
    say(json.dumps(facts, indent=2, default=str) if as_json else _text(facts))


def _of_any_kind(name: str) -> Entry:
    """Find a component whose kind was not given."""
    entries = [entry for entry in registry().entries() if name in (entry.component.name, entry.qualified)]
    kinds = list(dict.fromkeys(entry.kind for entry in entries)) or [_likeliest_kind(name)]
    if len(kinds) > 1:
        commands = listing((f"`faithkit show {kind} {name}`" for kind in kinds), "or")
        raise UnknownComponentError(f"{name!r} is the name of several kinds of component: write {commands}.")
    return registry().find(kinds[0], name)


def _likeliest_kind(name: str) -> str:
    """Return the kind of the component that may be meant by a name that none has here."""
    kinds = {known: kind for kind in KINDS for known in (*registry().names(kind), *providers(kind))}
    meant = closest(name.rpartition("/")[2], kinds)
    if meant is None:
        raise UnknownComponentError(f"no component {name!r} is installed: `faithkit plugins` lists all.")
    return kinds[meant]


def _documentation(entry: Entry) -> str | None:
    factory = entry.component.load()
    return getattr(factory, "help", None) if entry.kind == "command" else inspect.getdoc(factory)


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
