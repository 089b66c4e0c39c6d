"""Find the checks of a target: a module, a distribution or a component."""

import re
from collections.abc import Mapping
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points
from importlib.metadata import distribution as distribution_named
from itertools import chain
from types import ModuleType
from typing import Any

from attrs import evolve

from faithkit.errors import InputError
from faithkit.plugin import Component, Entry, did_you_mean
from faithkit_conformance.checks import Check, bind, bind_all, check_expected_failures, clear_cache
from faithkit_conformance.kinds import (
    adapter_checks,
    component_checks,
    dataset_checks,
    declaration_checks,
    diagnostic_checks,
    discretizer_checks,
    estimator_checks,
    executor_checks,
    explainer_checks,
    explainer_invariance_checks,
    explainer_side_effect_checks,
    loader_checks,
    plugin_checks,
    relation_checks,
    relation_invariance_checks,
    relation_objection_checks,
    reporter_checks,
)
from faithkit_conformance.kinds.plugin_checks import Plugin
from faithkit_conformance.kit import Candidate, Kit, Situation, load_kit
from faithkit_conformance.situations import situation_names
from faithkit_conformance.trials import try_explainer

GROUP, COMMANDS = "faithkit", "faithkit.commands"
"""The entry point groups of plugins and of their verbs."""

_MODULES_BY_KIND: dict[str, tuple[ModuleType, ...]] = {
    "explainer": (explainer_checks, explainer_invariance_checks, explainer_side_effect_checks),
    "relation": (relation_checks, relation_invariance_checks, relation_objection_checks),
    "discretizer": (discretizer_checks,),
    "estimator": (estimator_checks,),
    "diagnostic": (diagnostic_checks,),
    "executor": (executor_checks,),
    "reporter": (reporter_checks,),
    "adapter": (adapter_checks,),
    "loader": (loader_checks,),
    "dataset": (dataset_checks,),
    "command": (),
}

CHECK_MODULES = (
    plugin_checks,
    declaration_checks,
    component_checks,
    *chain.from_iterable(_MODULES_BY_KIND.values()),
)
"""The modules whose functions are checks."""


def checks_for(target: Any, *, situations: Mapping[str, Situation] | None = None) -> list[Check]:
    """Return the checks that a plugin, or one component, should pass.

    Parameters
    ----------
    target : module, str, or tuple
        A plugin's module, the name of an installed distribution, or ``(kind, component)``.
    situations : mapping of str to Situation, optional
        Your own models for checking explainers, instead of those of the kit: each a fitted model, six rows to
        explain, of which the second and the last are equal, and a background.

    Returns
    -------
    list of Check

    Raises
    ------
    InputError
        If there is nothing to check.

    Examples
    --------
    >>> from faithkit.plugin import registry
    >>> from faithkit_conformance import checks_for
    >>> majority = registry().find("estimator", "majority").component
    >>> [check.name for check in checks_for(("estimator", majority))][-2:]
    ['interval_is_of_the_same_quantity', 'by_chance_is_a_share']
    >>> checks_for("faithkit-scoped-rulez")
    Traceback (most recent call last):
    faithkit.errors.InputError: no plugin of a distribution 'faithkit-scoped-rulez' is installed. Did...
    """
    clear_cache()
    try_explainer.cache_clear()
    if isinstance(target, tuple):
        entry = _parse_component(target)
        return _component_checks(Candidate(entry, Kit(situations=situations or {})))
    checks: list[Check] = []
    for plugin in _find_plugins(target):
        checks += bind_all(plugin_checks, "plugin", plugin.name, plugin)
        entries, _ = plugin.load_components()
        kit = load_kit(plugin.load()) if entries else Kit()
        if situations:
            kit = evolve(kit, situations=situations)
        checks += _plugin_checks(entries, kit)
    return [*checks, *_plugin_checks(_find_commands(target), Kit())]


def _plugin_checks(entries: list[Entry], kit: Kit) -> list[Check]:
    """Return the checks of a plugin's components, with the failures that its kit announces."""
    checks = [check for entry in entries for check in _component_checks(Candidate(entry, kit))]
    failures = kit.expected_failures
    check_expected_failures(failures, checks)
    return [evolve(check, expected=failures.get(check.id, failures.get(check.name, ""))) for check in checks]


def _component_checks(candidate: Candidate) -> list[Check]:
    kind, name = candidate.entry.kind, candidate.name
    checks = bind_all(declaration_checks, kind, name, candidate)
    if kind != "command":  # the factory of a command is the command itself
        checks += bind_all(component_checks, kind, name, candidate)
    if kind == "explainer":
        checks += [
            bind(explainer_checks.explains, kind, name, candidate, situation, name=f"explains_{situation}")
            for situation in situation_names(candidate)
        ]
    for module in _MODULES_BY_KIND[kind]:
        checks += bind_all(module, kind, name, candidate)
    return checks


def _parse_component(target: tuple[Any, ...]) -> Entry:
    if len(target) == 2 and target[0] in _MODULES_BY_KIND and isinstance(target[1], Component):
        return Entry(target[0], target[1], "your plugin", "unknown")
    raise InputError(
        "a single component is checked as (kind, Component), with a kind out of "
        f"{', '.join(_MODULES_BY_KIND)}. Got {target!r:.80} instead."
    )


def _find_plugins(target: Any) -> list[Plugin]:
    declared_plugins = _entry_points_with_owners(GROUP)
    if isinstance(target, ModuleType):
        owners = [owner for entry_point, owner in declared_plugins if entry_point.value == target.__name__]
        provider = owners[0] if owners else target.__name__.partition(".")[0]
        return [Plugin(EntryPoint(target.__name__, target.__name__, GROUP), provider)]
    if not isinstance(target, str):
        raise InputError(
            f"the target is a {type(target).__name__}: give a plugin's module, the name of an installed "
            "distribution, or (kind, Component)."
        )
    plugins = [
        Plugin(entry_point, normalise_name(target)) for entry_point in find_entry_points(GROUP, target)
    ]
    if not plugins and not _find_commands(target):
        raise InputError(_describe_missing_plugin(target, sorted({owner for _, owner in declared_plugins})))
    return plugins


def _find_commands(target: Any) -> list[Entry]:
    """Return the commands of a distribution. A module has none: commands are separate entry points."""
    if not isinstance(target, str):
        return []
    return [
        _command_entry(entry_point, normalise_name(target))
        for entry_point in find_entry_points(COMMANDS, target)
    ]


def _command_entry(entry_point: EntryPoint, owner: str) -> Entry:
    verb = entry_point.name
    summary = f"Described by `faithkit {verb} --help`."
    component = Component(name=verb, factory=entry_point.value, summary=summary)
    return Entry("command", component, owner, "unknown", verb)


def find_entry_points(group: str, distribution: str) -> list[EntryPoint]:
    """Return the entry points of a group that an installed distribution declares."""
    return [
        entry_point
        for entry_point, owner in _entry_points_with_owners(group)
        if owner == normalise_name(distribution)
    ]


def _entry_points_with_owners(group: str) -> list[tuple[EntryPoint, str]]:
    """Return the installed entry points of a group with the distributions that declare them, sorted."""
    pairs = [(entry_point, _owner(entry_point)) for entry_point in entry_points(group=group)]
    return sorted(pairs, key=lambda pair: (pair[1], pair[0].name, pair[0].value))


def _owner(entry_point: EntryPoint) -> str:
    """Return the distribution of an entry point; if its metadata are damaged, the package of its value."""
    name = None if entry_point.dist is None else entry_point.dist.metadata["Name"]
    return normalise_name(name or re.split("[.:]", entry_point.value)[0])


def normalise_name(distribution: str) -> str:
    """Return a distribution's name in the spelling of pip (PEP 503).

    >>> normalise_name("Faithkit_Scoped.Rules")
    'faithkit-scoped-rules'
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _describe_missing_plugin(target: str, distributions: list[str]) -> str:
    try:
        installed = distribution_named(target).name
    except (PackageNotFoundError, ValueError):
        suggestion = did_you_mean(target, distributions)
        installed_names = ", ".join(distributions)
        return (
            f"no plugin of a distribution {target!r} is installed. {suggestion} Available: {installed_names}."
        )
    return (
        f"{installed} is installed, and declares no plugin. Add to its pyproject.toml "
        f'[project.entry-points.{GROUP}] with a line such as main = "its_module", and install it again.'
    )
