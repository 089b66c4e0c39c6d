"""Creation of components: import the factory, check the parameters, and call it.

The factory's signature is the only description of its parameters, so nothing is declared twice.
"""

import functools
import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from faithkit.errors import FaithkitError, ParameterError, PluginError
from faithkit.extension.entries import Entry
from faithkit.extension.known_plugins import pip_name
from faithkit.third_party import guard
from faithkit.wording import describe, did_you_mean, join_words

EMPTY = inspect.Parameter.empty
"""Stands for "no default" and "no preset", because None may be a default."""


class Parameter(NamedTuple):
    """One parameter of a component's factory; `EMPTY` if there is no default or preset."""

    name: str
    default: Any
    preset: Any


def parameters(entry: Entry) -> list[Parameter]:
    """Return the parameters of a component in the order of its factory's signature; this imports the factory.

    Examples
    --------
    >>> from faithkit.plugin import Component
    >>> wrap = Component(name="wrap", factory="textwrap:indent", summary="Indent.", params={"prefix": "> "})
    >>> [(p.name, p.default is EMPTY, p.preset) for p in parameters(Entry("command", wrap, "demo", "1.0"))]
    [('text', True, <class 'inspect._empty'>), ('prefix', True, '> '), ('predicate', False, ...)]
    """
    presets = entry.component.params
    defaults, _ = _parse_signature(_load_factory(entry))
    return [Parameter(name, default, presets.get(name, EMPTY)) for name, default in defaults.items()]


def build(entry: Entry, params: Mapping[str, Any]) -> Any:
    """Create an instance of a component; `params` override its presets.

    For a command this is the `click.Command`, which the factory *is*.

    Raises
    ------
    ParameterError
        If the factory does not take these parameters, or refuses their values.
    PluginError
        If the factory cannot be imported or fails.
    """
    _check_requirements(entry)
    factory = _load_factory(entry)
    if entry.kind == "command":
        return factory
    _check_parameters(entry, factory, params)
    hint = f"Update the plugin, or tell its authors: pip install --upgrade {entry.distribution}"
    with guard(f"{entry} cannot be made: it", hint, PluginError):
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
        modules = join_words(map(repr, missing))
        packages = " ".join(dict.fromkeys(map(pip_name, missing)))
        raise PluginError(
            f"{entry} needs {modules}, not installed. Usually this helps: pip install {packages}"
        )


def _load_factory(entry: Entry) -> Any:
    try:
        return entry.component.load()
    except FaithkitError as error:
        remedy = f"Update the plugin: pip install --upgrade {entry.distribution}"
        raise PluginError(f"{entry} cannot be used: {error} {remedy}") from error


def _parse_signature(factory: Any) -> tuple[Mapping[str, Any], bool]:
    """Return the defaults of all parameters that can be named, and whether any other name is accepted."""
    try:
        return _read_signature(factory)
    except TypeError:  # the factory has no hash
        return _read_signature.__wrapped__(factory)


@functools.lru_cache  # inspecting takes longer than counting a few rows
def _read_signature(factory: Any) -> tuple[Mapping[str, Any], bool]:
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # some classes written in C have no signature
        return {}, True
    nameable = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    params = signature.parameters.values()
    accepts_any = any(param.kind is inspect.Parameter.VAR_KEYWORD for param in params)
    return {param.name: param.default for param in params if param.kind in nameable}, accepts_any


def _check_parameters(entry: Entry, factory: Any, params: Mapping[str, Any]) -> None:
    defaults, accepts_any = _parse_signature(factory)
    presets = entry.component.params
    for name in [] if accepts_any else [*params, *presets]:
        if name not in defaults:
            error_class = ParameterError if name in params else PluginError  # a preset is the plugin's fault
            choice = f"Its parameters are {', '.join(defaults)}." if defaults else "It takes none."
            sentences = [f"{entry} has no parameter {name!r}.", did_you_mean(name, defaults), choice]
            raise error_class(" ".join(filter(None, sentences)))
    required = [name for name, default in defaults.items() if default is EMPTY]
    missing = [name for name in required if name not in params and name not in presets]
    if missing:
        example = f"{entry.component.name}:{','.join(f'{name}=…' for name in missing)}"
        raise ParameterError(
            f"{entry} needs the parameter {join_words(map(repr, missing))}. Write {example!r}."
        )
