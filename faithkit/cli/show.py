"""`faithkit show`: print one component's parameters and documentation."""

import inspect
import json
from typing import Any

import click

from faithkit.cli.shared.options import print_options
from faithkit.cli.shared.streams import print_result
from faithkit.cli.shared.verb import Verb
from faithkit.errors import UnknownComponentError
from faithkit.extension.creation import EMPTY, Parameter, parameters
from faithkit.extension.known_plugins import providers
from faithkit.extension.registry import KINDS, Entry, registry
from faithkit.wording import find_closest, join_words

REQUIRED = "(required)"


@click.command(cls=Verb)
@click.argument("words", metavar="[KIND] NAME", nargs=-1, required=True)
@print_options
def command(words: tuple[str, ...], as_json: bool) -> None:
    """Show a component's parameters and documentation.

    `faithkit show shap` is enough if only one kind of component has this name. Otherwise KIND says which one:
    `faithkit show explainer shap`.
    """
    if len(words) > 2 or words in [(kind,) for kind in KINDS]:
        raise click.UsageError("give a component's name, with or without its kind: explainer shap.")
    entry = registry().find(words[0], words[1]) if len(words) == 2 else _find_any_kind(words[0])
    payload = {
        "kind": entry.kind,
        "name": entry.component.name,
        "summary": entry.component.summary,
        "distribution": entry.distribution,
        "version": entry.version,
        "parameters": {parameter.name: _value(parameter) for parameter in parameters(entry)},
        "documentation": _documentation(entry),
    }
    print_result(json.dumps(payload, indent=2, default=str) if as_json else _text(payload))


def _find_any_kind(name: str) -> Entry:
    """Find a component by its name alone."""
    entries = [entry for entry in registry().entries() if name in (entry.component.name, entry.qualified)]
    kinds = list(dict.fromkeys(entry.kind for entry in entries)) or [_likeliest_kind(name)]
    if len(kinds) > 1:
        commands = join_words((f"`faithkit show {kind} {name}`" for kind in kinds), "or")
        raise UnknownComponentError(f"{name!r} is the name of several kinds of component: write {commands}.")
    return registry().find(kinds[0], name)


def _likeliest_kind(name: str) -> str:
    """Return the kind of the component whose name is most like a name that is not installed."""
    kinds = {candidate: kind for kind in KINDS for candidate in (*registry().names(kind), *providers(kind))}
    match = find_closest(name.rpartition("/")[2], kinds)
    if match is None:
        raise UnknownComponentError(f"no component {name!r} is installed: `faithkit plugins` lists all.")
    return kinds[match]


def _documentation(entry: Entry) -> str | None:
    factory = entry.component.load()
    return getattr(factory, "help", None) if entry.kind == "command" else inspect.getdoc(factory)


def _value(parameter: Parameter) -> Any:
    value = parameter.preset if parameter.preset is not EMPTY else parameter.default
    return REQUIRED if value is EMPTY else value


def _text(payload: dict[str, Any]) -> str:
    lines = [
        f"{payload['kind']} {payload['name']}: {payload['summary']}",
        f"from {payload['distribution']} {payload['version']}",
    ]
    if payload["parameters"]:
        lines += ["", "parameters"]
    for name, value in payload["parameters"].items():
        lines.append(f"  {name} {value}" if value == REQUIRED else f"  {name} = {value!r}")
    return "\n".join([*lines, "", payload["documentation"] or ""]).rstrip()
