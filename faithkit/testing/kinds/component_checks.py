"""Checks of components of any kind: they can be created, and they reject unknown parameters.

A parameter without default gets a value by its annotation, so that `faithkit check` works without options.
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
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.kinds.declaration_checks import check_factory_can_be_imported
from faithkit.testing.worker_process import unexpected_outcome
from faithkit.wording import describe, join_words

METHODS_BY_KIND = {
    "explainer": ("fit", "explain"),
    "relation": ("key", "holds"),
    "discretizer": ("discretize",),
    "estimator": ("scores",),
    "diagnostic": ("diagnose",),
    "adapter": ("example",),
    "loader": ("load", "example"),
    "dataset": ("load", "place"),
}
_EXAMPLE_VALUES: dict[type, Any] = {bool: True, float: 0.5, int: 1}
_UNKNOWN_PARAMETER = "no_such_parameter"


def create(entry: Entry) -> Any:
    """Create an instance for a check; skip the check if that fails."""
    skip_unless_passes(check_can_be_created, entry)
    return build(entry, required_params(entry))


def check_can_be_created(entry: Entry) -> None:
    """Check that the factory works with its defaults and presets, and its result has the kind's methods.

    Users expect that every name in `faithkit plugins` can be used.
    """
    params = required_params(entry)
    name, methods = entry.component.name, METHODS_BY_KIND[entry.kind]
    try:
        instance = build(entry, params)
    except FaithkitError as error:
        arguments = f"with {params}" if params else "without parameters"
        remedy = "Give every parameter a default that works, or register it with presets"
        require(False, name, f"it cannot be made {arguments}: {describe(error)}", remedy, error)
    missing = [method for method in methods if not callable(getattr(instance, method, None))]
    problem = f"the factory gave a {type(instance).__name__}, which lacks {' and '.join(missing)}"
    require(not missing, name, problem, f"The methods of every {entry.kind} are {join_words(methods)}")
    problem = f"{type(instance).__name__} does not derive from faithkit.plugin.Relation"
    is_relation = entry.kind != "relation" or isinstance(instance, Relation)
    require(is_relation, name, problem, "Derive it: that gives it &, | and ~")


def check_unknown_parameter_is_refused(entry: Entry) -> None:
    """Check that a parameter that does not exist raises a `FaithkitError`.

    If a misspelt parameter is ignored, the result answers another question.
    """
    skip_unless_passes(check_can_be_created, entry)
    outcome = unexpected_outcome(partial(build, entry, {**required_params(entry), _UNKNOWN_PARAMETER: 1}))
    require(
        outcome is None,
        entry.component.name,
        f"it was given the parameter {_UNKNOWN_PARAMETER}, and {outcome}; expected a FaithkitError",
        "Name the parameters in the factory's signature instead of taking **options",
    )


def required_params(entry: Entry) -> dict[str, Any]:
    """Return values for the parameters without default and preset, or skip the check."""
    name, missing = entry.component.name, entry.component.missing_requirements()
    if missing:
        raise SkipTest(f"{name} needs {join_words(missing)}, not installed.")
    skip_unless_passes(check_factory_can_be_imported, entry)
    required = [p.name for p in parameters(entry) if p.default is EMPTY and p.preset is EMPTY]
    params = {parameter: _example_value(entry.component.load(), parameter) for parameter in required}
    without_value = [parameter for parameter, value in params.items() if value is EMPTY]
    if without_value:
        raise SkipTest(
            f"{name} needs the parameter {join_words(without_value)}, and only one that is annotated as "
            "float, int or bool is given a value here: register it with presets, or give defaults."
        )
    return params


def _example_value(factory: Any, parameter: str) -> Any:
    annotation = inspect.signature(factory, eval_str=True).parameters[parameter].annotation
    is_union = isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union
    types_ = typing.get_args(annotation) if is_union else (annotation,)
    return next((value for type_, value in _EXAMPLE_VALUES.items() if type_ in types_), EMPTY)
