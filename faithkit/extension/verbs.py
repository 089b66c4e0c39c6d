"""The verbs of the command line, by name: the kernel's, and those that plugins declare as entry points.

An entry point of the group ``faithkit.commands`` has the verb as its name and a `click.Command` as its value.
So `faithkit --help` imports no plugin, and this module nothing that is heavy.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from faithkit.extension.plugin_sources import Source

if TYPE_CHECKING:
    from faithkit.extension.entries import Broken, Entry

COMMANDS = "faithkit.commands"
"""The group of entry points in which plugins declare verbs."""

VERBS = {
    "evaluate": "Measure the faithfulness of a model's explanations.",
    "compare": "Compare explainers and discretizers on the same rows.",
    "local": "Measure the explanation of one row.",
    "score": "Measure logged explanations, without a model.",
    "datasets": "List the datasets that --data knows by name.",
    "plan": "Say how many instances an evaluation needs.",
    "plugins": "List the installed plugins, and what is wrong with any.",
    "show": "Show a component's parameters.",
    "check": "Check that an installed plugin keeps the contract.",
    "new": "Write a package with a component of your own to begin with.",
}
"""The kernel's verbs, in the order in which the help lists them: each a file of `faithkit.cli`."""


def plugin_verbs(sources: Iterable[Source]) -> dict[str, list[Source]]:
    """Map each verb of plugins to the entry points that declare it; the first one is used.

    Parameters
    ----------
    sources : iterable of Source
        Of the group `COMMANDS`, sorted by distribution.

    Returns
    -------
    dict
        Sorted by verb, without the verbs of the kernel.

    Examples
    --------
    >>> from importlib.metadata import EntryPoint
    >>> audit = EntryPoint("audit", "acme.cli:audit", COMMANDS)
    >>> [source.distribution for source in plugin_verbs([Source("acme", "1.0", audit)])["audit"]]
    ['acme']
    """
    providers: dict[str, list[Source]] = {}
    for source in sorted(sources, key=lambda source: source.entry_point.name):
        if source.entry_point.name not in VERBS:
            providers.setdefault(source.entry_point.name, []).append(source)
    return providers


def command_entry(source: Source) -> "Entry":
    """Describe a plugin's verb as a component, without importing it.

    Raises
    ------
    PluginError
        If the entry point's name or value is none that a component may have.
    """
    from faithkit.extension.component import Component
    from faithkit.extension.entries import Entry

    verb, value = source.entry_point.name, source.entry_point.value
    component = Component(name=verb, factory=value, summary=f"Described by `faithkit {verb} --help`.")
    return Entry("command", component, source.distribution, source.version, verb)


def clashes(sources: Sequence[Source]) -> Iterator["Broken"]:
    """Name each entry point that is not used because its verb is the kernel's or another distribution's."""
    providers = plugin_verbs(sources)
    for source in sources:
        verb = source.entry_point.name
        first = providers.get(verb, [source])[0]
        if verb in VERBS:
            yield source.broken(
                f"the command {verb!r} has a name that is reserved: {verb!r} stays faithkit's own",
                "Rename its entry point",
            )
        elif source is not first:
            yield source.broken(
                f"the command {verb!r} is also provided by {first.distribution}, whose command is used",
                f"FAITHKIT_DISABLE={first.distribution} leaves that one out",
            )
