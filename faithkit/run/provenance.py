"""Where a result comes from: enough to repeat it, and nothing that differs when it is repeated."""

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
    """Return the size and the fingerprint of rows; values that are no JSON have no fingerprint."""
    columns = X.shape[1] if getattr(X, "ndim", 1) == 2 else None
    try:
        digest: str | None = fingerprint(X)
    except (TypeError, ValueError):
        digest = None
    return {"rows": n_rows(X), "columns": columns, "fingerprint": digest}


def describe_model(model: Any) -> str:
    """Return the model's type, and of a Pipeline the types of its steps."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list):
        return " → ".join(type(step).__name__ for _, step in steps)
    return str(getattr(model, "__name__", None) or type(model).__name__)


def versions(components: Iterable[ResolvedComponent]) -> dict[str, str]:
    """Return the versions of everything that a number depends on."""
    found = dict(_imported())
    for given in components:
        if given.recipe is not None:
            entry = registry().find(given.kind, given.recipe[0])
            found[entry.distribution] = str(entry.version)
            for module in entry.component.requires:
                found |= {name: _version(name) for name in distributions_of(module)}
    return dict(sorted(found.items()))


def libraries(given: ResolvedComponent) -> dict[str, str]:
    """Return the versions of what a component's distribution asks for: explanations change with these, too.

    What is asked for only in some environments counts where it is installed; extras do not count.

    Examples
    --------
    >>> from faithkit.run.components.resolution import component
    >>> sorted(libraries(component("estimator", "majority")))[:3]
    ['attrs', 'click', 'cloudpickle']
    """
    found = {}
    for home in _home(given):
        with contextlib.suppress(PackageNotFoundError):
            found[home] = version(home)
            for line in metadata.requires(home) or ():
                name = re.match(r"[\w.-]+", line)
                if name and not re.search(r"\bextra\s*==", line):
                    with contextlib.suppress(PackageNotFoundError):
                        found[name[0]] = version(name[0])
    return dict(sorted(found.items()))


def _home(given: ResolvedComponent) -> tuple[str, ...]:
    """Return the distributions that a component comes from; none for what was typed in."""
    if given.recipe is not None:
        return (registry().find(given.kind, given.recipe[0]).distribution,)
    thing = getattr(given.instance, "function", given.instance)
    module = getattr(thing, "__module__", None) or "__main__"
    factories = {_top(entry.component.factory): entry.distribution for entry in registry().entries()}
    if _top(module) in factories:  # known even where it is installed from its sources
        return (factories[_top(module)],)
    return () if _top(module) == "__main__" else distributions_of(module)


def _top(module: str) -> str:
    return re.split(r"[.:]", module)[0]


def distributions_of(module: str) -> tuple[str, ...]:
    """Return the distributions that provide a module, or its own name where none is known to.

    Examples
    --------
    >>> distributions_of("sklearn.tree"), distributions_of("no_such_module")
    (('scikit-learn',), ('no_such_module',))
    """
    top = _top(module)
    try:
        namesake = metadata.distribution(top)
        if any(file.parts[0] == top for file in namesake.files or ()):
            return (namesake.name,)
    except PackageNotFoundError:
        pass
    return tuple(sorted(set(_providers().get(top, (top,)))))


@functools.cache
def _providers() -> Mapping[str, list[str]]:
    """Return who provides which module: slow, since all that is installed is looked through."""
    return metadata.packages_distributions()


@functools.cache
def _imported() -> Mapping[str, str]:
    """Return the versions of what every run imports: asked for once, whatever is installed meanwhile."""
    return {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
