"""The origin of a result: data, model and versions, without anything that differs between equal runs."""

import contextlib
import functools
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import attrs
import numpy as np

from faithkit.arrays.containers import n_rows
from faithkit.errors import InputError
from faithkit.extension.registry import registry
from faithkit.inputs.predictions.outcome import LABELS, NUMBERS
from faithkit.inputs.seeds import fingerprint
from faithkit.run.components.resolution import ResolvedComponent

MAX_VERSION_LENGTH = 30  # characters of another version that an error shows
PACKAGES = ("faithkit", "numpy", "pandas", "scikit-learn")


def _to_names(names: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


@attrs.frozen(kw_only=True)
class Origin:
    """The origin of a result: its data and model, and what its user wrote about it.

    Attributes
    ----------
    title, note, author, date : str or None
        Texts of the user. faithkit reads no clock.
    command : str or None
        The command line, without folders, workers and outputs.
    data, model_file, model_fingerprint : str or None
        The name of the dataset or of the file of rows; the name of the model's file, and 32 hex digits that
        name its content.
    is_held_out : bool
        Whether the model was trained here, on other rows.
    accuracy, r2 : float or None
        Of the model on these rows, if their target is known: the share of right labels, or R² of numbers.
    columns : tuple of str or None
        The columns of a log that have the explanations, or of a table that the model reads. None in Python.
    """

    title: str | None = None
    note: str | None = None
    author: str | None = None
    date: str | None = None
    command: str | None = None
    data: str | None = None
    model_file: str | None = None
    model_fingerprint: str | None = None
    is_held_out: bool = False
    accuracy: float | None = None
    r2: float | None = None
    columns: tuple[str, ...] | None = attrs.field(default=None, converter=_to_names)


def measure_quality(predictions: Sequence[Any], target: Sequence[Any], outcome: str) -> dict[str, float]:
    """Return accuracy or R² of predictions; nothing for scores, or a target that is constant or no number.

    Examples
    --------
    >>> measure_quality(["yes", "no", "no"], ["yes", "no", "yes"], "labels")
    {'accuracy': 0.6666666666666666}
    >>> measure_quality([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], "numbers")
    {'r2': 0.7857142857142857}
    >>> measure_quality([0, 1], ["no", "yes"], "labels"), measure_quality([0.5, 1], ["no", "yes"], "numbers")
    ({}, {})
    """
    if outcome == LABELS and not set(predictions).isdisjoint(target):
        return {"accuracy": sum(map(operator.eq, predictions, target)) / len(target)}
    if outcome == NUMBERS:
        try:
            numbers = np.asarray(target, dtype=float)
        except (TypeError, ValueError):  # texts or dates
            return {}
        if numbers.shape != np.shape(predictions):  # one column for a model of several
            return {}
        total = ((numbers - numbers.mean()) ** 2).sum()
        residual = ((numbers - np.asarray(predictions, dtype=float)) ** 2).sum()
        return {"r2": float(1 - residual / total)} if total > 0 else {}
    return {}


def describe_data(X: Any) -> dict[str, Any]:
    """Return the size and the fingerprint of rows; values without a JSON form have no fingerprint."""
    try:
        digest: str | None = fingerprint(X)
    except (TypeError, ValueError):
        digest = None
    return {"rows": n_rows(X), "columns": count_columns(X), "fingerprint": digest}


def count_columns(X: Any) -> int | None:
    """Return the number of columns of a table; None for texts and images."""
    return X.shape[1] if getattr(X, "ndim", 1) == 2 else None


def describe_model(model: Any) -> str:
    """Return the type of a model, or the types of a Pipeline's steps."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list):
        return " → ".join(type(step).__name__ for _, step in steps)
    return str(getattr(model, "__name__", None) or type(model).__name__)


def versions(components: Iterable[ResolvedComponent]) -> dict[str, str]:
    """Return the versions of everything that a number depends on, by the names of distributions.

    Parameters
    ----------
    components : iterable of ResolvedComponent
        Those with a name add their distribution.

    Examples
    --------
    >>> from faithkit.plugin import resolve_component
    >>> list(versions([resolve_component("estimator", "majority")]))
    ['faithkit', 'numpy', 'pandas', 'scikit-learn']
    """
    by_name = dict(_imported_versions())
    for component in components:
        if component.recipe is not None:
            entry = registry().find(component.kind, component.recipe[0])
            by_name[entry.distribution] = str(entry.version)
            for module in entry.component.requires:
                by_name |= {name: _version(name) for name in distributions_of(module)}
    return dict(sorted(by_name.items()))


def check_writer(file: str, writer: str, advice: str) -> None:
    """Refuse a file of another version of faithkit, whose numbers may mean something else.

    Parameters
    ----------
    file : str
    writer : str
        The version that wrote it.
    advice : str
        How to get a file of this version.

    Examples
    --------
    >>> check_writer("may.json", "0.1.0", "make it again.")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: may.json was written by faithkit 0.1.0, and this is ...: make it again.
    """
    if writer != own_version():
        writer = writer if len(writer) <= MAX_VERSION_LENGTH else f"{writer[:MAX_VERSION_LENGTH]}…"
        raise InputError(f"{file} was written by faithkit {writer}, and this is {own_version()}: {advice}")


def own_version() -> str:
    """Return the version of faithkit, as in the `versions` of a result."""
    return _imported_versions()["faithkit"]


def library_versions(component: ResolvedComponent) -> dict[str, str]:
    """Return the versions of the libraries that a component's distribution requires.

    Explanations may change with them. Requirements for some environments count if they are installed; extras
    do not count.

    Examples
    --------
    >>> from faithkit.run.components.resolution import resolve_component
    >>> sorted(library_versions(resolve_component("estimator", "majority")))[:2]
    ['attrs', 'click']
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
