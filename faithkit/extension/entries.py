"""`Entry`, a component with its origin; the names of entries; and `PluginProblem`, a problem with a plugin.

Two distributions may use the same name. Then neither owns it, because a measurement must not depend on the
order of installation. Both can be used as ``distribution/name``. The kernel's own names are reserved. A
problem is a value and not an exception, so that one bad plugin does not stop the others.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from attrs import field, frozen

from faithkit.extension import KERNEL
from faithkit.extension.component import Component
from faithkit.wording import join_words, one_line


@frozen
class Entry:
    """A component and the distribution that it comes from.

    Parameters
    ----------
    kind : str
        One of `faithkit.extension.hookspecs.KINDS`.
    component : Component
    distribution : str
        The installed distribution that registered it, normalised: ``faithkit-scoped-rules``.
    version : str
        The version of that distribution.
    entry_point : str, default=""
        The name of the entry point that led to it.

    Examples
    --------
    >>> from faithkit.plugin import Component
    >>> component = Component(name="shap", factory="m:Shap", summary="Shapley values.")
    >>> Entry("explainer", component, "faithkit-feature-importance", "0.1.0").qualified
    'faithkit-feature-importance/shap'
    """

    kind: str
    component: Component
    distribution: str
    version: str
    entry_point: str = field(default="", eq=False)

    @property
    def qualified(self) -> str:
        """The name that no other distribution can use: ``distribution/name``."""
        return f"{self.distribution}/{self.component.name}"

    def __str__(self) -> str:
        return f"the {self.kind} {self.component.name!r} of {self.distribution}"


@frozen
class PluginProblem:
    """A problem with a plugin, which prints as one line.

    Parameters
    ----------
    distribution : str
    entry_point : str
    problem : str
        What is wrong.
    hint : str
        What to do about it.
    cause : BaseException or None, default=None
        The exception behind it, if there is one.

    Examples
    --------
    >>> print(PluginProblem("my-plugin", "rules", "cannot be imported: ImportError: x", "Reinstall it"))
    my-plugin (rules): cannot be imported: ImportError: x. Reinstall it
    """

    distribution: str
    entry_point: str
    problem: str
    hint: str
    cause: BaseException | None = field(default=None, eq=False, repr=False)

    def __str__(self) -> str:
        return one_line(f"{self.distribution} ({self.entry_point}): {self.problem.rstrip('.')}. {self.hint}")


def find_owner(sharers: Sequence[Entry]) -> Entry | None:
    """Return the entry that may use the short name, or None if it is ambiguous."""
    candidates = [entry for entry in sharers if entry.distribution == KERNEL] or sharers
    return candidates[0] if len(candidates) == 1 else None


def unambiguous_names(entries: Sequence[Entry]) -> list[str]:
    """Return the short name of each entry if the entry owns it, else ``distribution/name``."""
    groups = _group_by_name(entries)
    return [
        entry.component.name if find_owner(groups[_short_name(entry)]) is entry else entry.qualified
        for entry in entries
    ]


def separate_duplicates(entries: Iterable[Entry]) -> tuple[list[Entry], list[PluginProblem]]:
    """Separate names that one distribution registers twice: ``distribution/name`` is then ambiguous."""
    groups = defaultdict(list)
    for entry in entries:
        groups[entry.kind, entry.qualified].append(entry)
    unique = [group[0] for group in groups.values() if len(group) == 1]
    return unique, [_duplicate_problem(group) for group in groups.values() if len(group) > 1]


def name_conflicts(entries: Iterable[Entry]) -> list[PluginProblem]:
    """Return one problem for each entry that does not own its short name."""
    return [
        _conflict_problem(entry, group)
        for group in _group_by_name(entries).values()
        for entry in group
        if entry is not find_owner(group)
    ]


def _group_by_name(entries: Iterable[Entry]) -> dict[tuple[str, str], list[Entry]]:
    groups = defaultdict(list)
    for entry in entries:
        groups[_short_name(entry)].append(entry)
    return groups


def _short_name(entry: Entry) -> tuple[str, str]:
    return entry.kind, entry.component.name


def _duplicate_problem(group: Sequence[Entry]) -> PluginProblem:
    first, factories = group[0], join_words(repr(entry.component.factory) for entry in group)
    problem = (
        f"registers the {first.kind} {first.component.name!r} {len(group)} times ({factories}); none is used"
    )
    return PluginProblem(first.distribution, first.entry_point, problem, "Each needs a name of its own")


def _conflict_problem(entry: Entry, group: Sequence[Entry]) -> PluginProblem:
    name = entry.component.name
    if find_owner(group):
        problem = f"the {entry.kind} {name!r} has a reserved name: {name!r} belongs to faithkit"
    else:
        rivals = join_words(rival.distribution for rival in group if rival is not entry)
        problem = f"the {entry.kind} {name!r} is also registered by {rivals}, so {name!r} alone is ambiguous"
    return PluginProblem(
        entry.distribution, entry.entry_point, problem, f"Write {entry.qualified!r} for this one"
    )
