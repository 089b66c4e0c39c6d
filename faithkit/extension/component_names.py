"""Short names of components, and which distribution owns each of them.

Two distributions may use the same name. Then neither owns it, because a measurement must not depend on the
order of installation. Both can be used as ``distribution/name``. The kernel's own names are reserved.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from faithkit.extension.entries import Entry, PluginProblem
from faithkit.extension.plugin_sources import KERNEL
from faithkit.wording import join_words


def find_owner(sharers: Sequence[Entry]) -> Entry | None:
    """Return the entry that owns the short name, among entries that share a kind and a name, if any."""
    candidates = [entry for entry in sharers if entry.distribution == KERNEL] or sharers
    return candidates[0] if len(candidates) == 1 else None


def unambiguous_names(entries: Sequence[Entry]) -> list[str]:
    """Return the short name of each entry if the entry owns it, else ``distribution/name``.

    Parameters
    ----------
    entries : sequence of Entry
        All entries of one kind or of several kinds.

    Returns
    -------
    list of str
    """
    groups = _group_by_name(entries)
    return [
        entry.component.name if find_owner(groups[_short_name(entry)]) is entry else entry.qualified
        for entry in entries
    ]


def separate_duplicates(entries: Iterable[Entry]) -> tuple[list[Entry], list[PluginProblem]]:
    """Separate names that one distribution registers twice: ``distribution/name`` is then ambiguous.

    Parameters
    ----------
    entries : iterable of Entry

    Returns
    -------
    unique : list of Entry
    problems : list of PluginProblem
    """
    groups = defaultdict(list)
    for entry in entries:
        groups[entry.kind, entry.qualified].append(entry)
    unique = [group[0] for group in groups.values() if len(group) == 1]
    return unique, [_duplicate_problem(group) for group in groups.values() if len(group) > 1]


def name_conflicts(entries: Iterable[Entry]) -> list[PluginProblem]:
    """Return one problem for each entry that does not own its short name.

    Parameters
    ----------
    entries : iterable of Entry

    Returns
    -------
    list of PluginProblem
    """
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
