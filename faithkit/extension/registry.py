"""Where every component is found: the one place that knows which plugins are installed.

`registry` returns the default one, built on first use. Listing imports no factory;
`Registry.create` does.
"""

import contextlib
import functools
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import Any

from faithkit.errors import FaithkitWarning, PluginError, UnknownComponentError
from faithkit.extension.component_names import conflicts, owner, spoken, without_duplicates
from faithkit.extension.entries import Broken, Entry
from faithkit.extension.hookspecs import GROUP, KINDS
from faithkit.extension.plugin_loading import discover, discover_installed
from faithkit.extension.plugin_sources import DISABLED, normalised

__all__ = ["GROUP", "KINDS", "Broken", "Entry", "Registry", "registry"]


class Registry:
    """The components of a set of plugins, and what is wrong with those plugins.

    Parameters
    ----------
    entry_points : iterable of EntryPoint, optional
        By default all that are installed in the groups ``faithkit`` and ``faithkit.commands``, with the
        kernel's own commands.

    Attributes
    ----------
    broken : list of Broken
        One for each problem; the rest of the registry works regardless.

    Raises
    ------
    PluginError
        At the first problem, if the environment variable ``FAITHKIT_STRICT`` is 1: for plugin authors.

    Examples
    --------
    >>> from importlib.metadata import EntryPoint
    >>> kernel = Registry(entry_points=[EntryPoint("kernel", "faithkit.extension.builtins", "faithkit")])
    >>> kernel.names("relation")
    ('in-scope', 'near-explanation', 'same-explanation')
    >>> kernel.find("estimator", "majority").qualified
    'faithkit/majority'
    >>> kernel.broken
    []
    """

    def __init__(self, entry_points: Iterable[EntryPoint] | None = None) -> None:
        found, failures = discover_installed() if entry_points is None else discover(entry_points)
        entries, duplicates = without_duplicates(found)
        self._entries = tuple(sorted(entries, key=_position))
        broken = [*failures, *duplicates, *conflicts(self._entries)]
        self.broken = sorted(broken, key=lambda line: (line.distribution, line.entry_point, line.problem))
        problem = next((line for line in self.broken if line.problem != DISABLED), None)
        if problem and os.environ.get("FAITHKIT_STRICT") == "1":
            raise PluginError(str(problem)) from problem.cause

    @contextlib.contextmanager
    def with_plugin(self, module: str) -> Iterator[None]:
        """Know the components of one more module for a while, as if it were installed: for tests.

        Parameters
        ----------
        module : str
            The name under which it can be imported. Worker processes do not know it.

        Raises
        ------
        PluginError
            If there is anything wrong with it.

        Examples
        --------
        >>> known = Registry(entry_points=[])
        >>> with known.with_plugin("faithkit.extension.builtins"):
        ...     "majority" in known.names("estimator")
        True
        >>> known.names("estimator")
        ()
        """
        found, failures = discover([EntryPoint(module, module, GROUP)])
        if failures:
            raise PluginError(str(failures[0])) from failures[0].cause
        before = self._entries
        more = [entry for entry in found if entry not in before]
        self._entries = tuple(sorted([*before, *more], key=_position))
        try:
            yield
        finally:
            self._entries = before

    def entries(self, kind: str | None = None) -> tuple[Entry, ...]:
        """List components, those too that have lost their short name.

        Parameters
        ----------
        kind : str, optional
            One of `KINDS`; by default all of them, in the order of the pipeline.

        Returns
        -------
        tuple of Entry
            Sorted by kind, name and distribution.
        """
        if kind is None:
            return self._entries
        if kind not in KINDS:
            from faithkit.extension import suggestions as advice

            raise UnknownComponentError(advice.no_such_kind(kind))
        return tuple(entry for entry in self._entries if entry.kind == kind)

    def names(self, kind: str) -> tuple[str, ...]:
        """List what can be asked for: a short name where it is unambiguous, else ``distribution/name``.

        Parameters
        ----------
        kind : str
            One of `KINDS`.

        Returns
        -------
        tuple of str
        """
        return tuple(spoken(self.entries(kind)))

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
            If nobody provides it, or more than one does.
        """
        distribution, slash, short = name.rpartition("/")
        sharers = [entry for entry in self.entries(kind) if entry.component.name == short]
        if slash:
            sharers = [entry for entry in sharers if entry.distribution == normalised(distribution)]
        found = owner(sharers)
        if found:
            return found
        from faithkit.extension import suggestions as advice

        if sharers:
            raise UnknownComponentError(advice.ambiguous(kind, name, sharers))
        raise UnknownComponentError(advice.unknown(kind, name, self.names(kind), self._entries, self.broken))

    def create(self, kind: str, name: str, params: Mapping[str, Any] | None = None) -> Any:
        """Make an instance of a component.

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
            If it cannot be imported or made, or something that it requires is not installed.
        """
        from faithkit.extension.creation import build  # listing needs none of it

        return build(self.find(kind, name), params or {})


@functools.cache
def registry() -> Registry:
    """Return the registry of all installed plugins, built when first asked for.

    Returns
    -------
    Registry

    Warns
    -----
    FaithkitWarning
        For each plugin that raises an error when it is loaded: it is left out.

    Examples
    --------
    >>> import faithkit
    >>> faithkit.plugin.registry() is faithkit.plugin.registry()
    True
    """
    built = Registry()
    for line in built.broken:
        if line.cause is not None:
            warnings.warn(f"a plugin is left out: {line}", FaithkitWarning, stacklevel=2)
    return built


def _position(entry: Entry) -> tuple[int, str, str]:
    return KINDS.index(entry.kind), entry.component.name, entry.distribution
