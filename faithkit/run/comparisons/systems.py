"""Several explainers, each with several discretizers, on the same rows: every explainer explains once."""

from collections.abc import Callable, Collection
from itertools import chain, count
from typing import Any

from faithkit.errors import InputError
from faithkit.report.formats import system_name
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.comparisons.discretizer_search import with_discretizer
from faithkit.run.components.discretization import accepted_kinds
from faithkit.run.components.resolution import component, several
from faithkit.run.evaluation import Evaluation
from faithkit.wording import listing


def compared(explainers: Any, discretizers: Any, evaluate: Callable[..., Evaluation]) -> Comparison:
    """Evaluate every explainer, and what it said under every discretizer that takes it.

    Without discretizers it is evaluated as it is alone.
    """
    named = _named("explainer", explainers)
    ways = None if discretizers is None else _named("discretizer", discretizers)
    if not named or ways == {}:
        raise InputError("nothing to compare: give at least one explainer and one discretizer.")
    results: dict[str, Evaluation] = {}
    misfits: dict[tuple[str, str], list[str]] = {}
    for explainer, given in named.items():
        explained = evaluate(given, discretizer=None if ways is None else "original")
        own = {explained.setup.discretizer.text: explained.setup.discretizer}
        for discretizer, way in (own if ways is None else ways).items():
            found = with_discretizer(explained, way)
            if found is None:
                misfits.setdefault((explainer, _reason(explained, way)), []).append(discretizer)
            else:
                results[_free(system_name(explainer, discretizer), results)] = found
    if not results:
        raise InputError("no discretizer takes the explanations of any explainer: add 'original'.")
    left_out = (f"{listing(names)} for {who} ({why})" for (who, why), names in misfits.items())
    return Comparison(results, tuple(left_out))


def _named(kind: str, given: Any) -> dict[str, Any]:
    """Return what was given by name, every one of it: two functions may be called the same."""
    named: dict[str, Any] = {}
    for one in several(kind, given):
        named[_free(component(kind, one).text, named)] = one
    return named


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken yet: the name itself, or "name (2)" and so on."""
    further = (f"{name} ({place})" for place in count(2))
    return next(free for free in chain([name], further) if free not in taken)


def _reason(explained: Evaluation, discretizer: Any) -> str:
    """Say why a discretizer does not go with an explainer."""
    kinds = listing(accepted_kinds(component("discretizer", discretizer)), "or")
    return f"made for explanations of kind {kinds}, not {explained.population.kind}"
