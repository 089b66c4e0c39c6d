"""Rows that contradict each other: the worst explanations, and who shows it."""

from typing import Any

import numpy as np

from faithkit.arrays.blocks import spans
from faithkit.explanations.relations import key_of
from faithkit.explanations.rules import Rule
from faithkit.inputs.predictions.outcome import LABELS
from faithkit.measure.counting import scans
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.tally import Count
from faithkit.measure.prediction_codes import PredictionCodes
from faithkit.measure.witnesses import Violation, Violations, Witness
from faithkit.run.components.setup import Setup
from faithkit.run.importance_notes import meaning_of_signs
from faithkit.run.instances.readable_rows import SHORT, readable
from faithkit.run.populations.population import Population


def violations(population: Population, setup: Setup, counted: Count, most: int) -> Violations:
    """Return the explanations that cost the measure most, the worst first: Σ owners (1 − h), the loss.

    Pairs that clash would be counted by the square of a group: a large one in which few dissent has more of
    them than one that is split in halves.
    """
    counted = counted.settled
    owners = counted.owners
    has_others = (owners.others > 0) & (owners.weight > 0)
    loss = owners.by_explanation(owners.weight * np.where(has_others, 1.0 - owners.scores, 0.0))
    worst = np.argsort(-loss, kind="stable")[:most]
    worst = worst[loss[worst] > 0]
    found = Violations(note=meaning_of_signs(population.kind, setup.explained_by))
    found.is_tested = bool(has_others.any())
    for start, stop in spans(len(worst), max(1, scans.DENSE // counted.n_labels)):
        some = worst[start:stop]
        for u, held in zip(some.tolist(), counted.label_counts(some), strict=True):
            seen = population.witnesses(counted, u, held)
            told = readable(counted.explanations, u, setup.discretizer.instance) + _scope(counted, u)
            make = _of_labels if setup.outcome.kind == LABELS else _of_numbers
            found.append(make(told, population.labels, held, seen))
    return found


def _scope(counted: Count, explanation: int) -> str:
    """Say where a relation lets an explanation apply that is no rule itself."""
    explanations = counted.explanations.take([explanation])
    if counted.relation.groups or explanations.kind == "rule":
        return ""
    key = key_of(counted.relation, explanations)
    rule = key[0] if isinstance(key, list | np.ndarray) else None  # a frame or a tuple has columns
    return f", which applies where {rule:{SHORT}}" if isinstance(rule, Rule) else ""


def _of_labels(told: str, labels: list[Any], held: Counts, seen: tuple[Witness, Witness]) -> Violation:
    return Violation.of(told, {labels[y]: int(held[y]) for y in np.flatnonzero(held)}, seen)


def _of_numbers(told: str, labels: list[Any], held: Counts, seen: tuple[Witness, Witness]) -> Violation:
    numbers = PredictionCodes.of(np.array(labels), held) if isinstance(labels[0], float) else None
    return Violation(told, {}, seen, int(held.sum()), numbers)
