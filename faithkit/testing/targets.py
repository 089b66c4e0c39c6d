"""From what a person wants checked (a module, a distribution, a component) to the checks that apply to it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points
from importlib.metadata import distribution as distribution_named
from itertools import chain
from types import ModuleType
from typing import Any
from unittest import SkipTest

from attrs import evolve

from faithkit.errors import InputError
from faithkit.extension.component import Component
from faithkit.extension.entries import Entry
from faithkit.extension.plugin_sources import as_sources, normalised
from faithkit.extension.registry import GROUP
from faithkit.extension.verbs import COMMANDS, command_entry
from faithkit.inputs.evaluation_inputs import EvaluationInputs
from faithkit.testing import (
    declarations,
)
from faithkit.testing.checks import Check, bind_all, check_expected, forget
from faithkit.testing.fixtures import are_given, given_situations
from faithkit.testing.kinds import (
    adapter_checks,
    command_checks,
    component_checks,
    dataset_checks,
    diagnostic_checks,
    discretizer_checks,
    estimator_checks,
    explainer_checks,
    explainer_function,
    explainer_manners,
    loader_checks,
    plugin_checks,
    relation_checks,
    relation_function,
)
from faithkit.testing.kinds.plugin_checks import Plugin
from faithkit.testing.kit import Kit, given_samples, kit_of
from faithkit.wording import did_you_mean

_MODULES: dict[str, tuple[ModuleType, ...]] = {
    "explainer": (explainer_checks, explainer_function, explainer_manners),
    "relation": (relation_checks, relation_function),
    "discretizer": (discretizer_checks,),
    "estimator": (estimator_checks,),
    "diagnostic": (diagnostic_checks,),
    "adapter": (adapter_checks,),
    "loader": (loader_checks,),
    "dataset": (dataset_checks,),
    "command": (command_checks,),
}

ALL = (plugin_checks, declarations, component_checks, *chain.from_iterable(_MODULES.values()))
"""The modules whose functions are checks."""


def checks_for(
    target: Any, *, distribution: str | None = None, situations: Mapping[str, EvaluationInputs] | None = None
) -> list[Check]:
    """List the checks that a plugin, or one component, should pass.

    Parameters
    ----------
    target : module, str, or tuple
        A plugin's module, the name of an installed distribution, or ``(kind, component)``.
    distribution : str, optional
        Who provides it, for messages; by default the distribution that has declared the module.
    situations : mapping of str to Situation, optional
        Models of your own to try explainers on, instead of the kit's: each a fitted model, six rows to
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
    >>> from faithkit.plugin import Component
    >>> from faithkit.testing import checks_for
    >>> majority = Component(name="majority", factory="faithkit.measure.estimators:Majority", summary="…")
    >>> [check.name for check in checks_for(("estimator", majority))][-2:]
    ['interval_is_of_the_same_quantity', 'by_chance_is_a_share']
    >>> checks_for("faithkit-scoped-rulez")
    Traceback (most recent call last):
    faithkit.errors.InputError: no plugin of a distribution 'faithkit-scoped-rulez' is installed. Did...
    """
    forget()
    with given_situations(situations):
        found = list(_checks(target, distribution))
    if situations is None:
        return found
    return [evolve(check, run=partial(_run_in, situations, check.run)) for check in found]


def _run_in(situations: Mapping[str, EvaluationInputs], run: Callable[[], None]) -> None:
    with given_situations(situations):
        run()


def _checks(target: Any, distribution: str | None) -> Iterator[Check]:
    if isinstance(target, tuple):
        yield from _component_checks(_entry(target, distribution or "your plugin"))
        return
    for plugin in _plugins(target, distribution):
        yield from bind_all(plugin_checks, "plugin", plugin.name, plugin)
        entries = plugin.offers()[0]
        kit = kit_of(plugin.load()) if entries else Kit()
        with _given(kit):
            found = [check for entry in entries for check in _component_checks(entry)]
        check_expected(kit.expected_failures, found)
        yield from (_with_kit(check, kit) for check in found)
    for entry in _commands(target):
        yield from _component_checks(entry)


@contextmanager
def _given(kit: Kit) -> Iterator[None]:
    """Try what a plugin gives, unless who checks it gives situations of another kind."""
    situations = given_situations(kit.situations) if kit.situations and not are_given() else nullcontext()
    with situations, given_samples(kit.samples):
        yield


def _with_kit(check: Check, kit: Kit) -> Check:
    expected = kit.expected_failures.get(check.id, kit.expected_failures.get(check.name, ""))
    return evolve(check, run=partial(_run_with, kit, check.run), expected=expected)


def _run_with(kit: Kit, run: Callable[[], None]) -> None:
    if kit.skipped:
        raise SkipTest(kit.skipped)
    with _given(kit):
        run()


def _component_checks(entry: Entry) -> Iterator[Check]:
    kind, name = entry.kind, entry.component.name
    yield from bind_all(declarations, kind, name, entry)
    if kind != "command":  # whose factory is the command itself
        yield from bind_all(component_checks, kind, name, entry)
    if kind == "explainer":
        yield from explainer_checks.situation_checks(entry)
    for module in _MODULES[kind]:
        yield from bind_all(module, kind, name, entry)


def _entry(target: tuple[Any, ...], distribution: str) -> Entry:
    if len(target) == 2 and target[0] in _MODULES and isinstance(target[1], Component):
        return Entry(target[0], target[1], distribution, "unknown")
    raise InputError(
        f"a single component is checked as (kind, Component), with a kind out of {', '.join(_MODULES)}. "
        f"Got {target!r:.80} instead."
    )


def _plugins(target: Any, distribution: str | None) -> list[Plugin]:
    points = [(source.entry_point, source.distribution) for source in as_sources(entry_points(group=GROUP))]
    if isinstance(target, ModuleType):
        declared = [owner for point, owner in points if point.value == target.__name__]
        provider = distribution or (declared or [target.__name__.partition(".")[0]])[0]
        return [Plugin(EntryPoint(target.__name__, target.__name__, GROUP), provider)]
    if not isinstance(target, str):
        raise InputError(
            f"the target is a {type(target).__name__}: give a plugin's module, the name of an installed "
            "distribution, or (kind, Component)."
        )
    found = [Plugin(point, owner) for point, owner in points if owner == normalised(target)]
    if not found and not _commands(target):
        raise InputError(_nothing_to_check(target, sorted({owner for _, owner in points})))
    return found


def _commands(target: Any) -> list[Entry]:
    """Return the verbs of a distribution; a module has none, because they are entry points of their own."""
    if not isinstance(target, str):
        return []
    sources = as_sources(entry_points(group=COMMANDS))
    return [command_entry(source) for source in sources if source.distribution == normalised(target)]


def _nothing_to_check(target: str, known: list[str]) -> str:
    try:
        installed = distribution_named(target).name
    except (PackageNotFoundError, ValueError):
        guess = did_you_mean(target, known)
        return f"no plugin of a distribution {target!r} is installed. {guess} There is: {', '.join(known)}."
    return (
        f"{installed} is installed, and declares no plugin. Add to its pyproject.toml "
        f'[project.entry-points.{GROUP}] with a line such as main = "its_module", and install it again.'
    )
