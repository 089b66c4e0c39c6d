"""What every component promises, whatever its kind: that it can be made, and that it refuses what it ignores.

A factory that needs a number and has no default gets one here, chosen by the parameter's annotation, so that
`faithkit check` works without options.
"""

import inspect
import types
import typing
from functools import partial
from typing import Any
from unittest import SkipTest

from faithkit.errors import FaithkitError
from faithkit.explanations.relations import Relation
from faithkit.extension.creation import EMPTY, build, parameters
from faithkit.extension.entries import Entry
from faithkit.testing.checks import demand, needs
from faithkit.testing.declarations import check_factory_can_be_imported
from faithkit.testing.elsewhere import raised
from faithkit.wording import describe, listing

METHODS = {
    "explainer": ("fit", "explain"),
    "relation": ("key", "holds"),
    "discretizer": ("discretize",),
    "estimator": ("scores",),
    "diagnostic": ("diagnose",),
    "adapter": ("example",),
    "loader": ("load", "example"),
    "dataset": ("load", "place"),
}
_EXAMPLES: dict[type, Any] = {bool: True, float: 0.5, int: 1}
_UNKNOWN = "no_such_parameter"


def make(entry: Entry) -> Any:
    """Make an instance for a check; skip the check where none can be made."""
    needs(check_can_be_made, entry)
    return build(entry, needed_params(entry))


def check_can_be_made(entry: Entry) -> None:
    """Check that the factory works with its defaults and presets, and gives what has the kind's methods.

    A name that `faithkit plugins` lists is a promise that it can be used.
    """
    params = needed_params(entry)
    name, needed = entry.component.name, METHODS[entry.kind]
    try:
        made = build(entry, params)
    except FaithkitError as error:
        given = f"with {params}" if params else "without parameters"
        mend = "Give every parameter a default that works, or register it with presets"
        demand(False, name, f"it cannot be made {given}: {describe(error)}", mend, error)
    lacking = [method for method in needed if not callable(getattr(made, method, None))]
    found = f"the factory gave a {type(made).__name__}, which lacks {' and '.join(lacking)}"
    demand(not lacking, name, found, f"The methods of every {entry.kind} are {listing(needed)}")
    found = f"{type(made).__name__} does not derive from faithkit.plugin.Relation"
    is_relation = entry.kind != "relation" or isinstance(made, Relation)
    demand(is_relation, name, found, "Derive it: that gives it &, | and ~")


def check_unknown_parameter_is_refused(entry: Entry) -> None:
    """Check that a parameter which does not exist gives a `FaithkitError`.

    A misspelt parameter that is ignored gives the answer to another question than was asked.
    """
    needs(check_can_be_made, entry)
    found = raised(partial(build, entry, {**needed_params(entry), _UNKNOWN: 1}))
    demand(
        found is None,
        entry.component.name,
        f"it was given the parameter {_UNKNOWN}, and {found}; expected a FaithkitError",
        "Name the parameters in the factory's signature instead of taking **options",
    )


def needed_params(entry: Entry) -> dict[str, Any]:
    """Return values for the parameters that have neither a default nor a preset, or skip the check."""
    name, missing = entry.component.name, entry.component.missing_requirements()
    if missing:
        raise SkipTest(f"{name} needs {listing(missing)}, not installed.")
    needs(check_factory_can_be_imported, entry)
    needed = [p.name for p in parameters(entry) if p.default is EMPTY and p.preset is EMPTY]
    given = {parameter: _example(entry.component.load(), parameter) for parameter in needed}
    unknown = [parameter for parameter, value in given.items() if value is EMPTY]
    if unknown:
        raise SkipTest(
            f"{name} needs the parameter {listing(unknown)}, and only one that is annotated as float, int or "
            "bool is given a value here: register it with presets, or give defaults."
        )
    return given


def _example(factory: Any, parameter: str) -> Any:
    annotation = inspect.signature(factory, eval_str=True).parameters[parameter].annotation
    is_union = isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union
    choices = typing.get_args(annotation) if is_union else (annotation,)
    return next((value for known, value in _EXAMPLES.items() if known in choices), EMPTY)
