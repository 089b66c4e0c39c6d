"""What else may be asked about a result: each takes rows, is told as JSON, and comes back from a file."""

from collections.abc import Callable, Mapping
from typing import Any

from faithkit.measure import MEASURES
from faithkit.measure.encoding_gap import (
    FEWEST,
    EncodingGap,
    Kinds,
    both_kinds,
    encoding_gap,
)
from faithkit.measure.exceedance import Exceedance, checked_level
from faithkit.measure.relations import Relation
from faithkit.run.population import Population
from faithkit.run.reading import ReaderResult
from faithkit.run.reading import asked as asked_reader

Exceedances = dict[str, Exceedance]


def _exceedances(told: Mapping[str, Any]) -> Exceedances:
    return {name: Exceedance.from_dict(one) for name, one in told.items() if one is not None}


FROM_DICT: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "reader": ReaderResult.from_dict,
    "exceedance": _exceedances,
    "encoding_gap": EncodingGap.from_dict,
}


def kept(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what else a file tells of a result."""
    return {name: make(told[name]) for name, make in FROM_DICT.items() if told.get(name) is not None}


def as_told(further: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON values of what else was asked; exceedance has a place for every measure."""
    return {name: _told(found) for name, found in further.items()}


def _told(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: found[name].to_dict() if name in found else None for name in MEASURES}
    return None if found is None else found.to_dict()


def asked(reader: str | None, exceedance: float | None, encoding_gap: bool) -> dict[str, Any]:
    """Understand what the command line was asked for; what cannot be answered is refused at once.

    Examples
    --------
    >>> asked("none", 1.5, encoding_gap=False)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the level of exceedance must be a number above 0 and at most 1, got 1.5: ...
    """
    level = None if exceedance is None else checked_level(exceedance)
    return {"reader": asked_reader(reader), "exceedance": level, "encoding_gap": encoding_gap}


def gap_of(population: Population, relation: Relation, name: str, confidence: float) -> EncodingGap:
    """Count who has the same explanation and who another, and compare how they agree."""
    same, other = (population.count(one) for one in both_kinds(relation))
    kinds = Kinds.of(same, other)
    spreads = population.gap_spreads(kinds, same, other) if kinds.compared >= FEWEST else None
    return encoding_gap(kinds, spreads, name, confidence)
