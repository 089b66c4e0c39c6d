"""Which discretizations to try on explanations, what one of them finds, and which of them to recommend.

A coarser explanation says less: its consistency m is at most that of the finer one it was made from, since
m = E Σ_y P(y | π)² and squares are convex. So a discretization can only lower the measure and raise what can
be checked of it; a lower end for the coarser one is a lower end for the finer one, too.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import attrs

from faithkit.errors import FaithkitError
from faithkit.explanations.relations import SameExplanation
from faithkit.extension.creation import EMPTY, parameters
from faithkit.extension.entries import Entry
from faithkit.extension.registry import registry
from faithkit.extension.spec import format_spec
from faithkit.foreign import foreign
from faithkit.measure.estimate import UNVERIFIABLE, Estimate
from faithkit.measure.finding import ONE_LABEL, UNKNOWN
from faithkit.measure.protocols import said
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.components.setup import Setup
from faithkit.run.populations.population import Population

MOST_VALUES = 10  # of one parameter that a discretizer proposes

Recipe = tuple[str, str]
"""What a component makes: its factory, and all values that it is given."""


def suitable(kind: str) -> list[str]:
    """Name the installed discretizers that take a kind of explanation, of equal ones the one with presets.

    Examples
    --------
    >>> suitable("words")
    ['original']
    """
    return sorted(_named(kind).values())


def variants(kind: str) -> list[str]:
    """Name the same discretizers with the values that they propose to try, where no name stands for these.

    A discretizer proposes them in its attribute `tries`, by parameter; each parameter is varied alone.

    Examples
    --------
    >>> [text for text in variants("vector") if text.startswith("quantile")][:2]
    ['quantile:bins=2', 'quantile:bins=3']
    """
    found: dict[Recipe, str] = {}
    named = _named(kind)
    for entry, name in sorted(_fitting(kind), key=lambda pair: bool(pair[0].component.params)):
        for recipe, text in _varied(entry, name):
            if recipe not in named:
                found.setdefault(recipe, text)
    return list(found.values())


def _fitting(kind: str) -> list[tuple[Entry, str]]:
    known = registry()
    pairs = zip(known.entries("discretizer"), known.names("discretizer"), strict=True)
    return [pair for pair in pairs if kind in (pair[0].component.kinds or (kind,))]


def _named(kind: str) -> dict[Recipe, str]:
    distinct: dict[Recipe, str] = {}
    for entry, name in sorted(_fitting(kind), key=lambda pair: not pair[0].component.params):
        distinct.setdefault(_recipe(entry), name)
    return distinct


def _recipe(entry: Entry, **params: Any) -> Recipe:
    try:
        values = {p.name: p.default if p.preset is EMPTY else p.preset for p in parameters(entry)}
    except FaithkitError:  # it cannot be imported, which its row will say
        values = {"name": entry.qualified}
    return entry.component.factory, repr(sorted({**values, **params}.items()))


def _varied(entry: Entry, name: str) -> Iterator[tuple[Recipe, str]]:
    try:
        proposed = tried_values(entry)
    except FaithkitError:  # who cannot be asked proposes nothing
        return
    for parameter, values in proposed.items():
        for value in values:
            yield _recipe(entry, **{parameter: value}), format_spec(name, {parameter: value})


def tried_values(entry: Entry) -> dict[str, list[Any]]:
    """Return the values that a discretizer proposes to try, by parameter.

    Examples
    --------
    >>> tried_values(registry().find("discretizer", "sign-of-top-5"))
    {'k': [1, 2, 3, 4, 5]}
    """
    proposed = said(entry.component.load(), "tries")
    with foreign(f"what {entry} proposes to try"):
        found = {parameter: list(islice(values, MOST_VALUES)) for parameter, values in proposed.items()}
        for parameter, values in found.items():
            format_spec(entry.component.name, {parameter: values})  # only what can be written
    return found


def under(
    discretizer: ResolvedComponent, population: Population, setup: Setup, enough: float = 0.0
) -> Estimate | None:
    """Estimate consistency under another discretizer, which has learnt what it has to.

    None where so many explanations are distinct that the share that can be checked is not `enough`: of m in n
    equal rows, at most 2 (n − m) rows share theirs with another one.
    """
    others = population.under(discretizer)
    counted = others.count(SameExplanation())
    owners, m = counted.owners, len(counted.explanations)
    if owners.steps is None and 2 * (owners.n - m) < enough * owners.n:
        return None
    return others.estimate(counted, attrs.evolve(setup, permutations=0))


def recommended(found: Sequence[Estimate]) -> int | None:
    """Return the place of the discretization to choose; None where of none of them anything is known.

    One under which next to nothing could be checked is not chosen, whatever a bound says of it. The highest
    lower end is surely reached. The sample cannot tell those whose estimate reaches it from the one that has
    it, and of these the one of which most could be checked is chosen, as there the sample has spoken, and not
    a bound.

    Examples
    --------
    >>> import faithkit
    >>> labels, phi = [0, 1] * 20, [[(-1.0) ** i * (i + 1)] for i in range(40)]
    >>> fine, coarse = (faithkit.score(labels, phi, discretizer=d) for d in ("original", "sign"))
    >>> fine.consistency.verified, recommended([fine.consistency, coarse.consistency])
    (0.0, 1)
    """
    untold = (ONE_LABEL, UNKNOWN)
    known = [i for i, one in enumerate(found) if one.finding not in untold and one.verified > UNVERIFIABLE]
    if not known:
        return None
    ends = {place: _lower_end(found[place]) for place in known}
    near = [place for place in known if found[place].estimate >= max(ends.values())]
    share = {place: round(found[place].verified, 2) for place in near}  # less than a percent decides nothing
    return max(near, key=lambda place: (share[place], ends[place], -place))


def _lower_end(found: Estimate) -> float:
    return found.estimate if found.low is None else found.low  # not every estimator has an interval
