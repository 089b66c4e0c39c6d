"""The verbs of the command line: the kernel's, and those that plugins declare as entry points.

An entry point of the group ``faithkit.commands`` has the verb as its name and a `click.Command` as its value.
So `faithkit --help` imports no plugin. This module imports nothing heavy.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from faithkit.extension.plugin_sources import Source

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
    "plan": "Say how many instances an evaluation needs.",
    "plugins": "List the installed plugins and their problems.",
    "show": "Show a component's parameters.",
    "check": "Check that an installed plugin keeps the contract.",
    "new": "Write a package with a first component of your own.",
}
"""The kernel's verbs in the order of the help; each is a file of `faithkit.cli`."""


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
