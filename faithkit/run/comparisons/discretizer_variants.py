"""Discretizers to try on explanations, the estimate under one of them, and which one to recommend.

A coarser explanation says less: its consistency m is at most that of the finer one it was made from, since
m = E Σ_y P(y | π)² and squares are convex. So discretizing can only lower the measure, and raise the share
that can be checked. A lower end for the coarser explanation is therefore also a lower end for the finer one.
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
from faithkit.measure.estimate import UNVERIFIABLE, Estimate
from faithkit.measure.finding import ONE_LABEL, UNKNOWN
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.components.setup import Setup
from faithkit.run.populations.population import Population
from faithkit.third_party import guard

MAX_VALUES = 10  # that a discretizer may propose for one parameter

Recipe = tuple[str, str]
"""What a component is made from: its factory, and the values of all parameters."""


def suitable_discretizers(kind: str) -> list[str]:
    """Return the names of the installed discretizers that accept a kind of explanation.

    Of discretizers that are equal, only the one with presets is listed.

    Examples
    --------
    >>> suitable_discretizers("words")
    ['original']
    """
    return sorted(_names_by_recipe(kind).values())


def discretizer_variants(kind: str) -> list[str]:
    """Return the suitable discretizers with the parameter values that they propose to try.

    A discretizer proposes values in its attribute `tries`, by parameter; each parameter is varied alone.
    Variants that have a name of their own are left out.

    Examples
    --------
    >>> [text for text in discretizer_variants("vector") if text.startswith("quantile")][:2]
    ['quantile:bins=2', 'quantile:bins=3']
    """
    variants: dict[Recipe, str] = {}
    names = _names_by_recipe(kind)
    entries = suitable_entries("discretizer", kind)
    for entry, name in sorted(entries, key=lambda pair: bool(pair[0].component.params)):
        for recipe, text in _proposed_variants(entry, name):
            if recipe not in names:
                variants.setdefault(recipe, text)
    return list(variants.values())


def suitable_entries(component: str, kind: str) -> list[tuple[Entry, str]]:
    """Return the installed discretizers or relations that accept a kind of explanation, with their names."""
    plugins = registry()
    pairs = zip(plugins.entries(component), plugins.names(component), strict=True)
    return [pair for pair in pairs if kind in (pair[0].component.kinds or (kind,))]


def _names_by_recipe(kind: str) -> dict[Recipe, str]:
    names: dict[Recipe, str] = {}
    entries = suitable_entries("discretizer", kind)
    for entry, name in sorted(entries, key=lambda pair: not pair[0].component.params):
        names.setdefault(_recipe(entry), name)
    return names


def _recipe(entry: Entry, **params: Any) -> Recipe:
    try:
        values = {
            parameter.name: parameter.default if parameter.preset is EMPTY else parameter.preset
            for parameter in parameters(entry)
        }
    except FaithkitError:  # it cannot be imported; its row of the table will say so
        values = {"name": entry.qualified}
    return entry.component.factory, repr(sorted({**values, **params}.items()))


def _proposed_variants(entry: Entry, name: str) -> Iterator[tuple[Recipe, str]]:
    try:
        values_by_parameter = values_to_try(entry)
    except FaithkitError:  # a discretizer that fails to answer proposes nothing
        return
    for parameter, values in values_by_parameter.items():
        for value in values:
            yield _recipe(entry, **{parameter: value}), format_spec(name, {parameter: value})


def values_to_try(entry: Entry) -> dict[str, list[Any]]:
    """Return the values that a discretizer proposes to try, by parameter.

    Examples
    --------
    >>> values_to_try(registry().find("discretizer", "sign-of-top-5"))
    {'k': [1, 2, 3, 4, 5]}
    """
    proposed = get_optional_attribute(entry.component.load(), "tries")
    with guard(f"what {entry} proposes to try"):
        values = {parameter: list(islice(options, MAX_VALUES)) for parameter, options in proposed.items()}
        for parameter, options in values.items():
            format_spec(entry.component.name, {parameter: options})  # raises if a value has no text form
    return values


def estimate_under(
    discretizer: ResolvedComponent, population: Population, setup: Setup, enough: float = 0.0
) -> Estimate | None:
    """Estimate consistency under a fitted discretizer.

    Return None if so many explanations are distinct that less than the share `enough` can be checked. With m
    distinct explanations of n rows that count alike, at most 2 (n − m) rows share theirs with another row.
    """
    discretized = population.with_discretizer(discretizer)
    count = discretized.count(SameExplanation())
    owners, m = count.owners, len(count.explanations)
    if owners.steps is None and 2 * (owners.n - m) < enough * owners.n:
        return None
    return discretized.estimate(count, attrs.evolve(setup, permutations=0))


def recommend(estimates: Sequence[Estimate]) -> int | None:
    """Return the position of the recommended discretization; None if too little could be checked under each.

    A discretization under which next to nothing could be checked is never chosen, whatever its bounds. The
    measure surely reaches the highest lower end. The sample cannot distinguish the discretizations whose
    estimate reaches it. Among these, the one with the largest checked share is chosen: its result rests on
    the sample and not on a bound.

    Examples
    --------
    >>> import faithkit
    >>> labels, phi = [0, 1] * 20, [[(-1.0) ** i * (i + 1)] for i in range(40)]
    >>> fine, coarse = (faithkit.score(labels, phi, discretizer=d) for d in ("original", "sign"))
    >>> fine.consistency.verified, recommend([fine.consistency, coarse.consistency])
    (0.0, 1)
    """
    eligible = [
        position
        for position, estimate in enumerate(estimates)
        if estimate.finding not in (ONE_LABEL, UNKNOWN) and estimate.verified > UNVERIFIABLE
    ]
    if not eligible:
        return None
    lower_ends = {position: _lower_end(estimates[position]) for position in eligible}
    highest = max(lower_ends.values())
    close = [position for position in eligible if estimates[position].estimate >= highest]
    # rounded, since less than a percent decides nothing
    shares = {position: round(estimates[position].verified, 2) for position in close}
    return max(close, key=lambda position: (shares[position], lower_ends[position], -position))


def _lower_end(estimate: Estimate) -> float:
    return estimate.estimate if estimate.low is None else estimate.low  # not every estimator has an interval
