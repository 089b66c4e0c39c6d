"""Rows that contradict each other: the worst explanations, and who shows it."""

from collections.abc import Iterator

import numpy as np

from faithkit.measure import asking
from faithkit.measure.blocks import spans
from faithkit.measure.slots import Counts
from faithkit.measure.tally import Count
from faithkit.measure.witnesses import Violation
from faithkit.run.components import Given
from faithkit.run.population import Population
from faithkit.run.readable import readable


def violations(population: Population, discretizer: Given, counted: Count, most: int) -> list[Violation]:
    """Return the explanations whose owners meet the most instances that contradict them, the worst first."""
    slots = counted.slots
    # every owner of label y meets N − T[y] instances that contradict it
    clashes = slots.by_explanation(slots.owners * (slots.totals[slots.row] - slots.counts))
    worst = np.argsort(-clashes, kind="stable")[:most]
    worst = worst[clashes[worst] > 0]
    parts = spans(len(worst), max(1, asking.DENSE // counted.n_labels))
    return [
        found
        for start, stop in parts
        for found in _violations(population, discretizer, counted, worst[start:stop])
    ]


def _violations(
    population: Population, discretizer: Given, counted: Count, worst: Counts
) -> Iterator[Violation]:
    for u, held in zip(worst.tolist(), counted.label_counts(worst), strict=True):
        seen = population.witnesses(counted, u, held)
        predictions = {population.labels[y]: int(held[y]) for y in np.flatnonzero(held)}
        yield Violation.of(readable(counted.explanations, u, discretizer.instance), predictions, seen)
