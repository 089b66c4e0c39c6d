"""What to tell somebody who asked for a component that is not there.

Nearly always it is one of four: a slip of the finger, a plugin not installed, a plugin installed but broken,
or a name that two plugins share.
"""

from collections.abc import Sequence

from faithkit.extension.entries import Broken, Entry
from faithkit.extension.hookspecs import KINDS
from faithkit.extension.known_plugins import install, providers
from faithkit.extension.plugin_sources import KERNEL
from faithkit.wording import closest, did_you_mean, listing


def no_such_kind(kind: str) -> str:
    """Word the error for a kind that does not exist.

    >>> no_such_kind("explainr")
    "there is no kind of component 'explainr'. Did you mean 'explainer'? The kinds are explainer, ..."
    """
    return _prose(
        f"there is no kind of component {kind!r}.",
        did_you_mean(kind, KINDS),
        f"The kinds are {listing(KINDS)}.",
    )


def ambiguous(kind: str, name: str, sharers: Sequence[Entry]) -> str:
    """Word the error for a short name that several distributions share.

    Parameters
    ----------
    kind, name : str
        What was asked for.
    sharers : sequence of Entry
        Who provides it.

    Returns
    -------
    str
    """
    remedy = f"Write {listing((repr(entry.qualified) for entry in sharers), 'or')}."
    distributions = listing(entry.distribution for entry in sharers)
    return f"the {kind} {name!r} is provided by {distributions}, so the name alone is ambiguous. {remedy}"


def unknown(
    kind: str, name: str, names: Sequence[str], entries: Sequence[Entry], broken: Sequence[Broken]
) -> str:
    """Word the error for a name that nobody provides.

    Parameters
    ----------
    kind, name : str
        What was asked for.
    names : sequence of str
        What could have been asked for.
    entries : sequence of Entry
        Every entry, of all kinds.
    broken : sequence of Broken

    Returns
    -------
    str
        The most useful command comes last, and bare, so that it can be copied.
    """
    known, short = providers(kind), name.rpartition("/")[2]
    meant = short if short in known else closest(name, [*names, *known])
    return _prose(
        f"no {kind} {name!r} is installed.",
        f"Did you mean {meant!r}?" if meant and (meant in names or meant != short) else "",
        _other_kind(kind, name, entries),
        f"Available: {', '.join(names) or 'none'}.",
        "Some plugins have problems: see `faithkit plugins`." if broken else "",
        _remedy(meant, known[meant], broken) if meant in known and meant not in names else "",
    )


def _prose(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _other_kind(kind: str, name: str, entries: Sequence[Entry]) -> str:
    kinds = [other for other in KINDS if other != kind and name in providers(other)]
    kinds += [entry.kind for entry in entries if entry.component.name == name and entry.kind != kind]
    return f"{name!r} is of another kind: {listing(dict.fromkeys(kinds))}." if kinds else ""


def _remedy(name: str, distribution: str, broken: Sequence[Broken]) -> str:
    if distribution == KERNEL:
        return (
            f"{name} is faithkit's own, but faithkit is not installed. In its source tree: {install(KERNEL)}"
        )
    provided = f"{name} is provided by {distribution}"
    problem = next((line for line in broken if line.distribution == distribution), None)
    if problem:
        return f"{provided}, which is installed but has a problem: {problem.problem}. {problem.hint}"
    return f"{provided}. In faithkit's source tree: {install(distribution)}"
