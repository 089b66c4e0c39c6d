"""The plugins that are installed here: those known to load are loaded, any other is tried out first."""

import functools
import importlib.metadata
import math
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint

from attrs import evolve

import faithkit
from faithkit.errors import PluginError
from faithkit.extension.answers import HANGS, LOADS, ON_TRIAL, Answer, Stamps, as_verb, stamps, verbs_of
from faithkit.extension.builtins import VERBS
from faithkit.extension.discovery import Source, as_sources, normalised, read, separated
from faithkit.extension.entries import Broken, Entry
from faithkit.extension.hookspecs import GROUP
from faithkit.extension.known import KERNEL
from faithkit.extension.modules import file_of
from faithkit.extension.names import spoken, without_duplicates
from faithkit.extension.remembered import recall, remember
from faithkit.wording import describe

PATIENCE = 5.0
"""Seconds in which a plugin's module should be loaded: it has nothing heavy to import."""

MOMENT = 1.0
"""Seconds that somebody who asks for help can spare for plugins of which nothing is known."""

DISABLED = "it is disabled by the environment variable FAITHKIT_DISABLE"

Answers = Mapping[Source, Answer]


def discover_installed() -> tuple[list[Entry], list[Broken]]:
    """Load the installed plugins, but for those that hang, end the process or are disabled.

    Returns
    -------
    entries : list of Entry
    broken : list of Broken
    """
    sources, broken = _sources()
    answers = _answers(sources, PATIENCE)
    findings = {source: _findings(source, answers.get(source)) for source in sources}
    if not _on_trial():
        _correct(answers, findings)
    return separated([*broken, *(finding for found in findings.values() for finding in found)])


def demand_that_it_loads(distribution: str) -> None:
    """Refuse to go on with a distribution whose plugin hangs or ends the process: it would do so here."""
    sources = [source for source in _sources()[0] if source.distribution == distribution]
    for source, answer in _answers(sources, PATIENCE).items():
        if answer.outcome != LOADS:
            raise PluginError(str(_failure(source, answer)))


@functools.cache
def verbs() -> dict[str, str]:
    """Name all verbs, each with its summary, by what is known of the plugins: none is loaded.

    Returns
    -------
    dict
        The kernel's verbs, then those that plugins add, sorted.
    """
    sources, _ = _sources()
    own = [Entry("command", as_verb(*verb), KERNEL, faithkit.__version__) for verb in VERBS.items()]
    found = [
        Entry("command", as_verb(*verb), source.distribution, source.version, source.entry_point.name)
        for source, answer in _answers(sources, MOMENT, MOMENT).items()
        for verb in answer.verbs
    ]
    entries, _ = without_duplicates([*own, *found])
    summaries = dict(zip(spoken(entries), (entry.component.summary for entry in entries), strict=True))
    return VERBS | dict(sorted(summaries.items()))


def _sources() -> tuple[list[Source], list[Broken]]:
    points, damaged = _entry_points()
    sources = as_sources(points)
    left_out = {normalised(name.strip()) for name in os.environ.get("FAITHKIT_DISABLE", "").split(",")}
    disabled = [
        source
        for source in sources
        if not _is_ours(source) and left_out & {source.distribution, normalised(source.entry_point.name)}
    ]
    told = [source.broken(DISABLED, "Take it out of there to use it") for source in disabled]
    return [source for source in sources if source not in disabled], [*damaged, *told]


def _entry_points() -> tuple[Iterable[EntryPoint], list[Broken]]:
    try:
        return importlib.metadata.entry_points(group=GROUP), []
    except Exception:  # one distribution with damaged metadata, of whatever kind, is enough
        return _entry_points_one_by_one()


def _entry_points_one_by_one() -> tuple[list[EntryPoint], list[Broken]]:
    points: dict[str, list[EntryPoint]] = {}
    damaged = []
    for distribution in importlib.metadata.distributions():
        name = "a distribution without a name"
        try:
            name = normalised(distribution.metadata["Name"] or name)
            own = [point for point in distribution.entry_points if point.group == GROUP]
            points.setdefault(name, own)  # the first on the path is the one that is imported
        except Exception as error:
            hint = f"Install it again: pip install --force-reinstall {name}"
            damaged.append(Broken(name, "metadata", f"cannot be read: {describe(error)}", hint, error))
    return [point for own in points.values() for point in own], damaged


def _answers(sources: Iterable[Source], patience: float, seconds: float = math.inf) -> Answers:
    """Return what is known of the plugins of others; those of which nothing is known are asked."""
    keys = {source: _key(source) for source in sources if not _is_ours(source)}
    remembered = recall() if keys else {}
    known = {source: remembered[key] for source, key in keys.items() if key in remembered}
    known = {source: answer for source, answer in known.items() if answer.holds(patience)}
    new = _asked([source for source in keys if source not in known], patience, seconds)
    if new:
        remember({keys[source]: answer for source, answer in new.items()})
    return known | new


def _asked(sources: Sequence[Source], patience: float, seconds: float) -> dict[Source, Answer]:
    if not sources or _on_trial():
        return {}
    from faithkit.extension.conversation import ask  # mostly, there is nobody to ask

    found, until = {}, math.inf
    for source, answer in ask(sources, patience):
        found[source] = evolve(answer, files={**answer.files, **_stamp(source)})
        if time.monotonic() > until:
            break
        until = min(until, time.monotonic() + seconds)  # how long Python takes to start is nobody's fault
    return found


def _findings(source: Source, answer: Answer | None) -> list[Entry | Broken]:
    if answer is None and _on_trial() and not _is_ours(source):
        return []  # another plugin asks while it is on trial itself: it must not be blamed for this one
    if answer is None or answer.outcome == LOADS:
        return read(source)
    return [_failure(source, answer)]


def _failure(source: Source, answer: Answer) -> Broken:
    who = source.distribution
    problem = "ended the process when it was loaded"
    if answer.outcome == HANGS:
        problem = f"did not finish loading within {answer.waited:g} s"
    hint = f"Remove it (pip uninstall {who}) or leave it out (FAITHKIT_DISABLE={who})"
    return source.broken(problem, f"{hint}; `faithkit plugins` tries it again")


def _correct(answers: Answers, findings: Mapping[Source, Sequence[Entry | Broken]]) -> None:
    """Remember what is known only now: the verbs of whoever offers others than on trial, or had no trial."""
    changed = {}
    for source, found in findings.items():
        before = answers.get(source)
        now = Answer(LOADS, verbs_of(found), before.files if before else _stamp(source))
        as_known = before and (before.outcome != LOADS or before.verbs == now.verbs)
        if not as_known and not _is_ours(source):
            changed[_key(source)] = now
    if changed:
        remember(changed)


def _stamp(source: Source) -> Stamps:
    return stamps(filter(None, [file_of(source.module)]))


def _key(source: Source) -> str:
    """Name a plugin as installed: another version, place, Python or faithkit may well behave differently."""
    point = source.entry_point
    place = (sys.implementation.cache_tag, faithkit.__version__, file_of(source.module))
    return " ".join(map(str, (source.distribution, source.version, point.name, point.value, *place)))


def _on_trial() -> bool:
    return ON_TRIAL in os.environ


def _is_ours(source: Source) -> bool:
    return source.module.partition(".")[0] == KERNEL
