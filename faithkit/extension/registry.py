"""The registry of all components of the installed plugins.

`registry` returns the default registry, which is built at its first use. Listing components imports no
factory; `Registry.create` does.
"""

import contextlib
import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import Any

from faithkit.errors import PluginError, UnknownComponentError, warn
from faithkit.extension.creation import build
from faithkit.extension.entries import (
    Entry,
    PluginProblem,
    find_owner,
    name_conflicts,
    separate_duplicates,
    unambiguous_names,
)
from faithkit.extension.entry_points import DISABLED, normalise_name
from faithkit.extension.hookspecs import GROUP, KINDS
from faithkit.extension.known_plugins import (
    ambiguous_name_message,
    unknown_kind_message,
    unknown_name_message,
)
from faithkit.extension.plugin_loading import discover, discover_installed

__all__ = ["GROUP", "KINDS", "Entry", "PluginProblem", "Registry", "registry"]


class Registry:
    """The components of a set of plugins, and the problems of these plugins.

    Parameters
    ----------
    entry_points : iterable of EntryPoint, optional
        By default all installed entry points of the groups ``faithkit`` and ``faithkit.commands``, with the
        kernel's own commands.

    Attributes
    ----------
    broken : list of PluginProblem
        One for each problem; the other components can still be used.

    Raises
    ------
    PluginError
        At the first problem, if the environment variable ``FAITHKIT_STRICT`` is 1: for plugin authors.

    Examples
    --------
    >>> from importlib.metadata import EntryPoint
    >>> kernel = Registry(entry_points=[EntryPoint("kernel", "faithkit.extension.builtins", "faithkit")])
    >>> "same-explanation" in kernel.names("relation")
    True
    >>> kernel.find("estimator", "majority").qualified
    'faithkit/majority'
    >>> kernel.broken
    []
    """

    def __init__(self, entry_points: Iterable[EntryPoint] | None = None) -> None:
        entries, failures = discover_installed() if entry_points is None else discover(entry_points)
        entries, duplicates = separate_duplicates(entries)
        self._entries = tuple(sorted(entries, key=_position))
        problems = [*failures, *duplicates, *name_conflicts(self._entries)]
        self.broken = sorted(
            problems, key=lambda problem: (problem.distribution, problem.entry_point, problem.problem)
        )
        first = next((problem for problem in self.broken if problem.problem != DISABLED), None)
        if first and os.environ.get("FAITHKIT_STRICT") == "1":
            raise PluginError(str(first)) from first.cause

    @contextlib.contextmanager
    def with_plugin(self, module: str) -> Iterator[None]:
        """Add the components of one module inside a `with` block, as if it were installed: for tests.

        Parameters
        ----------
        module : str
            The name under which it can be imported. Worker processes do not get the components.

        Raises
        ------
        PluginError
            If the module has a problem.

        Examples
        --------
        >>> empty = Registry(entry_points=[])
        >>> with empty.with_plugin("faithkit.extension.builtins"):
        ...     "majority" in empty.names("estimator")
        True
        >>> empty.names("estimator")
        ()
        """
        entries, problems = discover([EntryPoint(module, module, GROUP)])
        if problems:
            raise PluginError(str(problems[0])) from problems[0].cause
        entries_before = self._entries
        new_entries = [entry for entry in entries if entry not in entries_before]
        self._entries = tuple(sorted([*entries_before, *new_entries], key=_position))
        try:
            yield
        finally:
            self._entries = entries_before

    def entries(self, kind: str | None = None) -> tuple[Entry, ...]:
        """Return all components, including those whose short name is ambiguous.

        Parameters
        ----------
        kind : str, optional
            One of `KINDS`; by default all kinds, in the order of the pipeline.

        Returns
        -------
        tuple of Entry
            Sorted by kind, name and distribution.
        """
        if kind is None:
            return self._entries
        if kind not in KINDS:
            raise UnknownComponentError(unknown_kind_message(kind))
        return tuple(entry for entry in self._entries if entry.kind == kind)

    def names(self, kind: str) -> tuple[str, ...]:
        """Return the names of components: short names if unambiguous, else ``distribution/name``.

        Parameters
        ----------
        kind : str
            One of `KINDS`.

        Returns
        -------
        tuple of str
        """
        return tuple(unambiguous_names(self.entries(kind)))

    def find(self, kind: str, name: str) -> Entry:
        """Find a component.

        Parameters
        ----------
        kind : str
            One of `KINDS`.
        name : str
            Its short name, or ``distribution/name``.

        Returns
        -------
        Entry

        Raises
        ------
        UnknownComponentError
            If no distribution provides it, or more than one does.
        """
        distribution, slash, short = name.rpartition("/")
        sharers = [entry for entry in self.entries(kind) if entry.component.name == short]
        if slash:
            sharers = [entry for entry in sharers if entry.distribution == normalise_name(distribution)]
        entry = find_owner(sharers)
        if entry:
            return entry
        if sharers:
            raise UnknownComponentError(ambiguous_name_message(kind, name, sharers))
        raise UnknownComponentError(
            unknown_name_message(kind, name, self.names(kind), self._entries, self.broken)
        )

    def create(self, kind: str, name: str, params: Mapping[str, Any] | None = None) -> Any:
        """Create an instance of a component.

        Parameters
        ----------
        kind : str
            One of `KINDS`.
        name : str
            Its short name, or ``distribution/name``.
        params : mapping, optional
            Parameters of its factory; they override the component's presets.

        Returns
        -------
        object
            What the factory returns. A command is returned as it is: click calls it.

        Raises
        ------
        UnknownComponentError
            If there is no such component.
        ParameterError
            If it does not take these parameters.
        PluginError
            If it cannot be imported or created, or a module that it requires is not installed.
        """
        return build(self.find(kind, name), params or {})


@functools.cache
def registry() -> Registry:
    """Return the registry of all installed plugins, which is built at the first call.

    Returns
    -------
    Registry

    Warns
    -----
    FaithkitWarning
        For each plugin that raises an error while it is loaded; it is left out.

    Examples
    --------
    >>> import faithkit
    >>> faithkit.plugin.registry() is faithkit.plugin.registry()
    True
    """
    installed = Registry()
    for problem in installed.broken:
        if problem.cause is not None:
            warn(f"a plugin is left out: {problem}")
    return installed


def _position(entry: Entry) -> tuple[int, str, str]:
    return KINDS.index(entry.kind), entry.component.name, entry.distribution
