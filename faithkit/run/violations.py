"""Rows that contradict each other: the worst explanations, and who shows it."""

import numpy as np

from faithkit.measure import asking
from faithkit.measure.blocks import spans
from faithkit.measure.estimators import ratio
from faithkit.measure.tally import Count
from faithkit.measure.witnesses import Violation
from faithkit.run.components import Given
from faithkit.run.population import Population
from faithkit.run.readable import readable


def violations(population: Population, discretizer: Given, counted: Count, most: int) -> list[Violation]:
    """Return the explanations that cost the measure most, the worst first: Σ owners (1 − h), the loss.

    Pairs that clash would be counted by the square of a group: a large one in which few dissent has more of
    them than one that is split in halves.
    """
    slots = counted.slots
    others = slots.others
    loss = slots.by_explanation(slots.owners * ratio(others - slots.agreeing, others))
    worst = np.argsort(-loss, kind="stable")[:most]
    worst = worst[loss[worst] > 0]
    found = []
    for start, stop in spans(len(worst), max(1, asking.DENSE // counted.n_labels)):
        some = worst[start:stop]
        for u, held in zip(some.tolist(), counted.label_counts(some), strict=True):
            seen = population.witnesses(counted, u, held)
            predictions = {population.labels[y]: int(held[y]) for y in np.flatnonzero(held)}
            told = readable(counted.explanations, u, discretizer.instance)
            found.append(Violation.of(told, predictions, seen))
    return found
