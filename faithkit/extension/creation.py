"""From an entry to an instance, with every check that can be made before somebody else's code runs.

The factory's signature is the one description of its parameters: nothing is declared twice.
"""

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from faithkit.errors import FaithkitError, ParameterError, PluginError
from faithkit.extension.entries import Entry
from faithkit.extension.known_plugins import pip_name
from faithkit.foreign import foreign
from faithkit.wording import describe, did_you_mean, listing

EMPTY = inspect.Parameter.empty
"""Stands for "no default" and "no preset"; None may well be one."""


class Parameter(NamedTuple):
    """One parameter of a component's factory; `EMPTY` where there is no default or preset."""

    name: str
    default: Any
    preset: Any


def parameters(entry: Entry) -> list[Parameter]:
    """List what a component can be given, from its factory's signature; this imports the factory.

    Parameters
    ----------
    entry : Entry

    Returns
    -------
    list of Parameter
        ``(name, default, preset)``, in the order of the signature.

    Examples
    --------
    >>> from faithkit.plugin import Component
    >>> wrap = Component(name="wrap", factory="textwrap:indent", summary="Indent.", params={"prefix": "> "})
    >>> [(p.name, p.default is EMPTY, p.preset) for p in parameters(Entry("command", wrap, "demo", "1.0"))]
    [('text', True, <class 'inspect._empty'>), ('prefix', True, '> '), ('predicate', False, ...)]
    """
    presets = entry.component.params
    accepted, _ = _accepted(_load(entry))
    return [Parameter(name, default, presets.get(name, EMPTY)) for name, default in accepted.items()]


def build(entry: Entry, params: Mapping[str, Any]) -> Any:
    """Make an instance of a component.

    Parameters
    ----------
    entry : Entry
    params : mapping
        They override the presets.

    Returns
    -------
    object
        What the factory returns; for a command the `click.Command`, which the factory *is*.

    Raises
    ------
    ParameterError
        If the factory does not take these parameters, or refuses their values.
    PluginError
        If the factory cannot be imported or fails.
    """
    _check_requirements(entry)
    factory = _load(entry)
    if entry.kind == "command":
        return factory
    _check_parameters(entry, factory, params)
    hint = f"Update the plugin, or tell its authors: pip install --upgrade {entry.distribution}"
    with foreign(f"{entry} cannot be made: it", hint, PluginError):
        try:
            return factory(**{**entry.component.params, **params})
        except FaithkitError:
            raise
        except (TypeError, ValueError) as error:
            hint = f"Its parameters: faithkit show {entry.kind} {entry.qualified}"
            raise ParameterError(f"{entry} refuses its parameters: {describe(error)}. {hint}") from error


def _check_requirements(entry: Entry) -> None:
    missing = entry.component.missing_requirements()
    if missing:
        modules = listing(map(repr, missing))
        packages = " ".join(dict.fromkeys(map(pip_name, missing)))
        raise PluginError(
            f"{entry} needs {modules}, not installed. Usually this helps: pip install {packages}"
        )


def _load(entry: Entry) -> Any:
    try:
        return entry.component.load()
    except FaithkitError as error:
        remedy = f"Update the plugin: pip install --upgrade {entry.distribution}"
        raise PluginError(f"{entry} cannot be used: {error} {remedy}") from error


def _accepted(factory: Any) -> tuple[dict[str, Any], bool]:
    """Return the parameters that can be named, with their defaults, and whether any other name will do."""
    try:
        with foreign("the signature"):
            signature = inspect.signature(factory)
    except FaithkitError:  # some classes written in C do not tell
        return {}, True
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = signature.parameters.values()
    anything = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in found)
    return {parameter.name: parameter.default for parameter in found if parameter.kind in named}, anything


def _check_parameters(entry: Entry, factory: Any, params: Mapping[str, Any]) -> None:
    accepted, anything = _accepted(factory)
    presets = entry.component.params
    for name in [] if anything else [*params, *presets]:
        if name not in accepted:
            blame = ParameterError if name in params else PluginError  # a wrong preset is the plugin's fault
            choice = f"Its parameters are {', '.join(accepted)}." if accepted else "It takes none."
            sentences = [f"{entry} has no parameter {name!r}.", did_you_mean(name, accepted), choice]
            raise blame(" ".join(filter(None, sentences)))
    needed = [name for name, default in accepted.items() if default is EMPTY]
    missing = [name for name in needed if name not in params and name not in presets]
    if missing:
        example = f"{entry.component.name}:{','.join(f'{name}=…' for name in missing)}"
        raise ParameterError(f"{entry} needs the parameter {listing(map(repr, missing))}. Write {example!r}.")
