"""Who owns a short name.

Two distributions may use the same word. Then neither gets it: a measurement must not depend on which one was
installed first. Both keep ``distribution/name``. The kernel's own names are reserved.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from faithkit.extension.entries import Broken, Entry
from faithkit.extension.plugin_sources import KERNEL
from faithkit.wording import listing


def owner(sharers: Sequence[Entry]) -> Entry | None:
    """Return which of the entries that share a kind and a name may be called by it, if any."""
    entitled = [entry for entry in sharers if entry.distribution == KERNEL] or sharers
    return entitled[0] if len(entitled) == 1 else None


def spoken(entries: Sequence[Entry]) -> list[str]:
    """Name each entry as it can be asked for: by its short name where it owns it, else ``distribution/name``.

    Parameters
    ----------
    entries : sequence of Entry
        All that there are, of one kind or of several.

    Returns
    -------
    list of str
    """
    groups = _by_name(entries)
    return [
        entry.component.name if owner(groups[_name(entry)]) is entry else entry.qualified for entry in entries
    ]


def without_duplicates(entries: Iterable[Entry]) -> tuple[list[Entry], list[Broken]]:
    """Leave out names that one distribution gives twice: not even ``distribution/name`` says which is meant.

    Parameters
    ----------
    entries : iterable of Entry

    Returns
    -------
    kept : list of Entry
    broken : list of Broken
    """
    groups = defaultdict(list)
    for entry in entries:
        groups[entry.kind, entry.qualified].append(entry)
    kept = [group[0] for group in groups.values() if len(group) == 1]
    return kept, [_duplicate(group) for group in groups.values() if len(group) > 1]


def conflicts(entries: Iterable[Entry]) -> list[Broken]:
    """Say, once for each entry concerned, which entries lose their short name.

    Parameters
    ----------
    entries : iterable of Entry

    Returns
    -------
    list of Broken
    """
    return [
        _conflict(entry, group)
        for group in _by_name(entries).values()
        for entry in group
        if entry is not owner(group)
    ]


def _by_name(entries: Iterable[Entry]) -> dict[tuple[str, str], list[Entry]]:
    groups = defaultdict(list)
    for entry in entries:
        groups[_name(entry)].append(entry)
    return groups


def _name(entry: Entry) -> tuple[str, str]:
    return entry.kind, entry.component.name


def _duplicate(group: Sequence[Entry]) -> Broken:
    first, factories = group[0], listing(repr(entry.component.factory) for entry in group)
    problem = (
        f"registers the {first.kind} {first.component.name!r} {len(group)} times ({factories}); none is used"
    )
    return Broken(first.distribution, first.entry_point, problem, "Each needs a name of its own")


def _conflict(entry: Entry, group: Sequence[Entry]) -> Broken:
    name = entry.component.name
    if owner(group):
        problem = f"the {entry.kind} {name!r} has a name that is reserved: {name!r} stays faithkit's own"
    else:
        others = listing(other.distribution for other in group if other is not entry)
        problem = f"the {entry.kind} {name!r} is also registered by {others}, so {name!r} alone is ambiguous"
    return Broken(entry.distribution, entry.entry_point, problem, f"Write {entry.qualified!r} for this one")
