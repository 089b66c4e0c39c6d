"""Messages for components that do not exist.

There are four usual causes: a typing error, a plugin that is not installed, a plugin that is installed but
broken, and a name that two plugins share.
"""

from collections.abc import Sequence

from faithkit.extension.entries import Entry, PluginProblem
from faithkit.extension.hookspecs import KINDS
from faithkit.extension.known_plugins import pip_command, providers
from faithkit.extension.plugin_sources import KERNEL
from faithkit.wording import closest, did_you_mean, join_words


def unknown_kind_message(kind: str) -> str:
    """Return the message for a kind that does not exist.

    >>> unknown_kind_message("explainr")
    "there is no kind of component 'explainr'. Did you mean 'explainer'? The kinds are explainer, ..."
    """
    return _join_sentences(
        f"there is no kind of component {kind!r}.",
        did_you_mean(kind, KINDS),
        f"The kinds are {join_words(KINDS)}.",
    )


def ambiguous_name_message(kind: str, name: str, sharers: Sequence[Entry]) -> str:
    """Return the message for a short name that several distributions share.

    Parameters
    ----------
    kind, name : str
        The requested component.
    sharers : sequence of Entry
        The entries with this name.

    Returns
    -------
    str
    """
    remedy = f"Write {join_words((repr(entry.qualified) for entry in sharers), 'or')}."
    distributions = join_words(entry.distribution for entry in sharers)
    return f"the {kind} {name!r} is provided by {distributions}, so the name alone is ambiguous. {remedy}"


def unknown_name_message(
    kind: str, name: str, names: Sequence[str], entries: Sequence[Entry], broken: Sequence[PluginProblem]
) -> str:
    """Return the message for a name that no distribution provides.

    Parameters
    ----------
    kind, name : str
        The requested component.
    names : sequence of str
        The available names of this kind.
    entries : sequence of Entry
        The entries of all kinds.
    broken : sequence of PluginProblem

    Returns
    -------
    str
        The most useful command comes last, without punctuation, so that it can be copied.
    """
    distributions, short_name = providers(kind), name.rpartition("/")[2]
    match = short_name if short_name in distributions else closest(name, [*names, *distributions])
    return _join_sentences(
        f"no {kind} {name!r} is installed.",
        f"Did you mean {match!r}?" if match and (match in names or match != short_name) else "",
        _other_kind(kind, name, entries),
        f"Available: {', '.join(names) or 'none'}.",
        "Some plugins have problems: see `faithkit plugins`." if broken else "",
        _remedy(match, distributions[match], broken) if match in distributions and match not in names else "",
    )


def _join_sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _other_kind(kind: str, name: str, entries: Sequence[Entry]) -> str:
    kinds = [other_kind for other_kind in KINDS if other_kind != kind and name in providers(other_kind)]
    kinds += [entry.kind for entry in entries if entry.component.name == name and entry.kind != kind]
    return f"{name!r} is of another kind: {join_words(dict.fromkeys(kinds))}." if kinds else ""


def _remedy(name: str, distribution: str, broken: Sequence[PluginProblem]) -> str:
    if distribution == KERNEL:
        return (
            f"{name} is faithkit's own, but faithkit is not installed. In its source tree: "
            f"{pip_command(KERNEL)}"
        )
    provided = f"{name} is provided by {distribution}"
    problem = next((problem for problem in broken if problem.distribution == distribution), None)
    if problem:
        return f"{provided}, which is installed but has a problem: {problem.problem}. {problem.hint}"
    return f"{provided}. In faithkit's source tree: {pip_command(distribution)}"
