"""The entry points of installed distributions, which are not loaded here, and the verbs of the command line.

An entry point of the group ``faithkit.commands`` has the verb as its name and a `click.Command` as its value.
So `faithkit --help` imports no plugin. This module imports nothing heavy.
"""

import importlib.metadata
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, NamedTuple

from faithkit.extension import KERNEL

if TYPE_CHECKING:
    from faithkit.extension.entries import Entry, PluginProblem

COMMANDS = "faithkit.commands"
"""The entry point group of plugins' verbs."""

VERBS = {
    "evaluate": "Measure the faithfulness of a model's explanations.",
    "compare": "Compare explainers and discretizers on the same rows.",
    "local": "Measure the explanation of one row.",
    "score": "Measure logged explanations, without a model.",
    "datasets": "List the datasets that --data knows by name.",
    "plan": "Plan how many rows to explain.",
    "plugins": "List the installed plugins and their problems.",
    "show": "Show a component's parameters.",
}
"""The kernel's verbs in the order of the help; each is a file of `faithkit.cli`."""

PLUGIN_VERBS = {
    "faithkit-attacks/attacks": "Measure lies about models, each next to an honest twin.",
    "faithkit-conformance/check": "Run the conformance checks on an installed plugin.",
    "faithkit-conformance/new": "Create a plugin package from a template.",
    "faithkit-feature-importance/agreement": "Measure how far explainers agree on which features matter.",
    "faithkit-html/report": "Write a page about a saved result.",
    "faithkit-integrations/gate": "Fail a build if a saved result does not pass its gates.",
    "faithkit-monitor/monitor": "Compare new logs with a reference.",
    "faithkit-paper/reproduce": "Repeat the paper's experiments.",
}
"""What the verbs of the project's distributions do, since the help imports no plugin."""

DISABLED = "it is disabled by the environment variable FAITHKIT_DISABLE"


class Source(NamedTuple):
    """An entry point and the distribution that declares it."""

    distribution: str
    version: str
    entry_point: EntryPoint

    def problem(self, problem: str, hint: str, cause: BaseException | None = None) -> "PluginProblem":
        """Return a problem with this plugin."""
        from faithkit.extension.entries import PluginProblem  # not needed to list names

        return PluginProblem(self.distribution, self.entry_point.name, problem, hint, cause)

    @property
    def upgrade_command(self) -> str:
        """The command that installs a newer version."""
        return f"pip install --upgrade {self.distribution}"


def normalise_name(distribution: str) -> str:
    """Return a distribution's name in the spelling of pip (PEP 503).

    >>> normalise_name("Faithkit_Scoped.Rules")
    'faithkit-scoped-rules'
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def as_sources(entry_points: Iterable[EntryPoint]) -> list[Source]:
    """Return entry points with their distributions, in an order that does not depend on installation."""
    sources = map(_to_source, entry_points)
    return sorted(
        sources,
        key=lambda source: (source.distribution, source.entry_point.name, source.entry_point.value),
    )


def installed_sources(group: str) -> tuple[list[Source], list[Source]]:
    """Return the installed entry points of a group, and those that ``FAITHKIT_DISABLE`` disables.

    The kernel's own entry points are always enabled.
    """
    disabled_names = {
        normalise_name(name.strip()) for name in os.environ.get("FAITHKIT_DISABLE", "").split(",")
    }
    enabled: list[Source] = []
    disabled: list[Source] = []
    for source in as_sources(importlib.metadata.entry_points(group=group)):
        is_named = not disabled_names.isdisjoint(
            {source.distribution, normalise_name(source.entry_point.name)}
        )
        (disabled if is_named and _package(source.entry_point) != KERNEL else enabled).append(source)
    return enabled, disabled


def _to_source(entry_point: EntryPoint) -> Source:
    distribution: Any = entry_point.dist
    try:
        metadata = distribution.metadata  # each access parses it again
        name, version = metadata["Name"], metadata["Version"]
    except Exception:  # damaged metadata, or an entry point without a distribution
        name, version = None, None
    return Source(normalise_name(name or _package(entry_point)), version or "unknown", entry_point)


def _package(entry_point: EntryPoint) -> str:
    return re.split("[.:]", entry_point.value)[0]


def plugin_verbs(sources: Iterable[Source]) -> dict[str, list[Source]]:
    """Return the entry points that declare each verb of plugins; the first one is used.

    `sources` are the entry points of the group `COMMANDS`, sorted by distribution. The result is sorted by
    verb, without the verbs of the kernel.

    Examples
    --------
    >>> from importlib.metadata import EntryPoint
    >>> audit = EntryPoint("audit", "acme.cli:audit", COMMANDS)
    >>> [source.distribution for source in plugin_verbs([Source("acme", "1.0", audit)])["audit"]]
    ['acme']
    """
    sources_by_verb: dict[str, list[Source]] = {}
    for source in sorted(sources, key=lambda source: source.entry_point.name):
        if source.entry_point.name not in VERBS:
            sources_by_verb.setdefault(source.entry_point.name, []).append(source)
    return sources_by_verb


def command_entry(source: Source) -> "Entry":
    """Return a registry entry for a plugin's verb, without importing it.

    Raises
    ------
    PluginError
        If the entry point's name or value is not allowed for a component.
    """
    from faithkit.extension.component import Component
    from faithkit.extension.entries import Entry

    verb, value = source.entry_point.name, source.entry_point.value
    component = Component(name=verb, factory=value, summary=f"Described by `faithkit {verb} --help`.")
    return Entry("command", component, source.distribution, source.version, verb)


def verb_clashes(sources: Sequence[Source]) -> Iterator["PluginProblem"]:
    """Yield a problem for each entry point whose verb belongs to the kernel or to another distribution."""
    sources_by_verb = plugin_verbs(sources)
    for source in sources:
        verb = source.entry_point.name
        first = sources_by_verb.get(verb, [source])[0]
        if verb in VERBS:
            yield source.problem(
                f"the command {verb!r} has a reserved name: {verb!r} belongs to faithkit",
                "Rename its entry point",
            )
        elif source is not first:
            yield source.problem(
                f"the command {verb!r} is also provided by {first.distribution}, whose command is used",
                f"FAITHKIT_DISABLE={first.distribution} leaves that one out",
            )
