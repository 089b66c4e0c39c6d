"""The origin of a result: data, model and versions, without anything that differs between equal runs."""

import contextlib
import functools
import re
from collections.abc import Iterable, Mapping
from importlib import metadata
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from faithkit.arrays.containers import n_rows
from faithkit.extension.registry import registry
from faithkit.inputs.seeds import fingerprint
from faithkit.run.components.resolution import ResolvedComponent

PACKAGES = ("faithkit", "numpy", "pandas", "scikit-learn")


def describe_data(X: Any) -> dict[str, Any]:
    """Return the size and the fingerprint of rows; values without a JSON form have no fingerprint."""
    columns = X.shape[1] if getattr(X, "ndim", 1) == 2 else None
    try:
        digest: str | None = fingerprint(X)
    except (TypeError, ValueError):
        digest = None
    return {"rows": n_rows(X), "columns": columns, "fingerprint": digest}


def describe_model(model: Any) -> str:
    """Return the type of a model, or the types of a Pipeline's steps."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list):
        return " → ".join(type(step).__name__ for _, step in steps)
    return str(getattr(model, "__name__", None) or type(model).__name__)


def versions(components: Iterable[ResolvedComponent]) -> dict[str, str]:
    """Return the versions of everything that a number depends on."""
    by_name = dict(_imported_versions())
    for component in components:
        if component.recipe is not None:
            entry = registry().find(component.kind, component.recipe[0])
            by_name[entry.distribution] = str(entry.version)
            for module in entry.component.requires:
                by_name |= {name: _version(name) for name in distributions_of(module)}
    return dict(sorted(by_name.items()))


def library_versions(component: ResolvedComponent) -> dict[str, str]:
    """Return the versions of the libraries that a component's distribution requires.

    Explanations may change with them. Requirements for some environments count if they are installed; extras
    do not count.

    Examples
    --------
    >>> from faithkit.run.components.resolution import resolve_component
    >>> sorted(library_versions(resolve_component("estimator", "majority")))[:3]
    ['attrs', 'click', 'cloudpickle']
    """
    by_name = {}
    for distribution in _distributions(component):
        with contextlib.suppress(PackageNotFoundError):
            by_name[distribution] = version(distribution)
            for requirement in metadata.requires(distribution) or ():
                name = re.match(r"[\w.-]+", requirement)
                if name and not re.search(r"\bextra\s*==", requirement):
                    with contextlib.suppress(PackageNotFoundError):
                        by_name[name[0]] = version(name[0])
    return dict(sorted(by_name.items()))


def _distributions(component: ResolvedComponent) -> tuple[str, ...]:
    """Return the distributions that a component comes from; none if it is defined in __main__."""
    if component.recipe is not None:
        return (registry().find(component.kind, component.recipe[0]).distribution,)
    definition = getattr(component.instance, "function", component.instance)
    module = getattr(definition, "__module__", None) or "__main__"
    factories = {_top_level(entry.component.factory): entry.distribution for entry in registry().entries()}
    if _top_level(module) in factories:  # known even if the plugin runs from its source tree
        return (factories[_top_level(module)],)
    return () if _top_level(module) == "__main__" else distributions_of(module)


def _top_level(module: str) -> str:
    return re.split(r"[.:]", module)[0]


def distributions_of(module: str) -> tuple[str, ...]:
    """Return the distributions that provide a module, or its own name if none is known.

    Examples
    --------
    >>> distributions_of("sklearn.tree"), distributions_of("no_such_module")
    (('scikit-learn',), ('no_such_module',))
    """
    package = _top_level(module)
    try:
        namesake = metadata.distribution(package)
        if any(file.parts[0] == package for file in namesake.files or ()):
            return (namesake.name,)
    except PackageNotFoundError:
        pass
    return tuple(sorted(set(_providers().get(package, (package,)))))


@functools.cache
def _providers() -> Mapping[str, list[str]]:
    """Return the distributions that provide each module; slow, since it reads all installed metadata."""
    return metadata.packages_distributions()


@functools.cache
def _imported_versions() -> Mapping[str, str]:
    """Return the versions of what every run imports; cached, since imported modules do not change."""
    return {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
