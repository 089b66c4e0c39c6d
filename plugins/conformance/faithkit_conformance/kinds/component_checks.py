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
from faithkit.plugin import Relation, build, join_words
from faithkit_conformance.checks import forbid, require, skip_unless_passes
from faithkit_conformance.components import find_parameters
from faithkit_conformance.kinds.declaration_checks import check_factory_can_be_imported
from faithkit_conformance.kit import Candidate
from faithkit_conformance.worker_process import unexpected_outcome

METHODS_BY_KIND = {
    "explainer": ("fit", "explain"),
    "relation": ("key", "holds"),
    "discretizer": ("discretize",),
    "estimator": ("scores",),
    "diagnostic": ("diagnose",),
    "executor": ("run",),
    "reporter": ("write",),
    "adapter": ("example",),
    "loader": ("load", "example"),
    "dataset": ("load", "place"),
}
_EXAMPLE_VALUES: dict[type, Any] = {bool: True, float: 0.5, int: 1}
_UNKNOWN_PARAMETER = "no_such_parameter"


def create(candidate: Candidate) -> Any:
    """Create an instance for a check; skip the check if that fails."""
    skip_unless_passes(check_can_be_created, candidate)
    return build(candidate.entry, required_params(candidate))


def check_can_be_created(candidate: Candidate) -> None:
    """Check that the factory works with its defaults and presets, and its result has the kind's methods.

    Users expect that every name in `faithkit plugins` can be used.
    """
    params, kind = required_params(candidate), candidate.entry.kind
    problem = f"it cannot be made {f'with {params}' if params else 'without parameters'}"
    remedy = "Give every parameter a default that works, or register it with presets"
    with forbid(FaithkitError, problem, remedy):
        instance = build(candidate.entry, params)
    methods, class_name = METHODS_BY_KIND[kind], type(instance).__name__
    missing = [method for method in methods if not callable(getattr(instance, method, None))]
    problem = f"the factory gave a {class_name}, which lacks {' and '.join(missing)}"
    require(not missing, problem, f"The methods of every {kind} are {join_words(methods)}")
    problem = f"{class_name} does not derive from faithkit.plugin.Relation"
    is_relation = kind != "relation" or isinstance(instance, Relation)
    require(is_relation, problem, "Derive it: that gives it &, | and ~")


def check_unknown_parameter_is_refused(candidate: Candidate) -> None:
    """Check that a parameter that does not exist raises a `FaithkitError`.

    If a misspelt parameter is ignored, the result answers another question.
    """
    skip_unless_passes(check_can_be_created, candidate)
    params = {**required_params(candidate), _UNKNOWN_PARAMETER: 1}
    outcome = unexpected_outcome(partial(build, candidate.entry, params))
    problem = f"it was given the parameter {_UNKNOWN_PARAMETER}, and {outcome}; expected a FaithkitError"
    remedy = "Name the parameters in the factory's signature instead of taking **options"
    require(outcome is None, problem, remedy)


def required_params(candidate: Candidate) -> dict[str, Any]:
    """Return values for the parameters without default and preset, or skip the check."""
    if candidate.kit.skipped:
        raise SkipTest(candidate.kit.skipped)
    name, missing = candidate.name, candidate.component.missing_requirements()
    if missing:
        raise SkipTest(f"{name} needs {join_words(missing)}, not installed.")
    skip_unless_passes(check_factory_can_be_imported, candidate)
    presets, found = candidate.component.params, find_parameters(candidate.component)
    required = [key for key, param in found.items() if param.default is param.empty and key not in presets]
    params = {parameter: _example_value(candidate.component.load(), parameter) for parameter in required}
    without_value = [parameter for parameter, value in params.items() if value is None]
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
    return next((value for type_, value in _EXAMPLE_VALUES.items() if type_ in types_), None)
