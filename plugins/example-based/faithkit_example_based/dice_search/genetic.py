"""DiCE's genetic search: rows of the wanted class are mixed and changed, and the fittest one stays.

It follows dice-ml's, draw by draw, with faults mended: weights are not rounded to 0, a class of few rows is
not filled up with a row of zeros, a population of one is a result, and the model is asked about a
generation once, not twice.
"""

import random

import numpy as np

from faithkit_example_based.dice_search.goals import Goal
from faithkit_example_based.dice_search.lockstep import Search
from faithkit_example_based.dice_search.neighbors import NEAREST, Find
from faithkit_example_based.dice_search.space import Space
from faithkit_example_based.dice_search.table import Floats

# dice-ml's defaults
POPULATION = NEAREST
GENERATIONS = 500
STEADY = 5  # generations in a row whose best loss has hardly changed end the search
HARDLY = 1e-2
PROXIMITY = SPARSITY = 0.2
FROM_EACH_PARENT = 0.4  # the share of cells; the others are changed at random


class Breeder:
    """Draws rows for an instance, with generators of its own.

    Parameters
    ----------
    space : Space
    row : array
        The instance.
    seed : int
    """

    def __init__(self, space: Space, row: Floats, seed: int) -> None:
        self.space, self.row = space, row
        self.whims, self.numbers = random.Random(seed), np.random.RandomState(seed % 2**32)

    def kept(self, rows: Floats) -> Floats:
        """Return rows with the instance's values in the columns that may not change."""
        kept = np.repeat(self.row[None, :], len(rows), axis=0)
        kept[:, self.space.columns] = rows[:, self.space.columns]
        return kept

    def drawn(self) -> Floats:
        """Return the instance with all values drawn that may change."""
        drawn = self.row.copy()
        for j in self.space.columns:
            drawn[j] = self._value(j)
        return drawn

    def children(self, population: Floats, n: int) -> list[Floats]:
        """Return children of parents from the first half of a population."""
        half = len(population) // 2
        return [
            self._child(population[self.whims.randrange(half)], population[self.whims.randrange(half)])
            for _ in range(n)
        ]

    def _child(self, one: Floats, other: Floats) -> Floats:
        """Return a row with cells of two parents, and some that are changed."""
        child = one.copy()
        for j in self.space.table.columns:
            whim = self.whims.random()
            if whim >= 2 * FROM_EACH_PARENT:
                child[j] = self._mutation(j)
            elif whim >= FROM_EACH_PARENT:
                child[j] = other[j]
        return child

    def _mutation(self, j: int) -> float:
        if j not in self.space.columns:
            return float(self.row[j])
        if j in self.space.table.categories:
            return self._value(j)
        low = self.space.ranges[j][0]
        return self.numbers.uniform(low, low)  # dice-ml's slip: always the least number

    def _value(self, j: int) -> float:
        values = self.space.ranges[j]
        if j in self.space.table.categories:
            return values[self.numbers.randint(0, len(values))]
        low, high = values
        return float(np.round(self.numbers.uniform(low, high), self.space.table.decimals[j]))


class GeneticSearch:
    """Breed rows of the wanted class, the nearest ones at first.

    Parameters
    ----------
    space : Space
    neighbors : callable
        Makes what knows which rows of the table are near.
    """

    def __init__(self, space: Space, neighbors: Find) -> None:
        self.space, self.neighbors = space, neighbors()
        self.numbers = list(space.table.decimals)
        self.low, self.high = np.array([space.ranges[j] for j in self.numbers]).reshape(-1, 2).T
        self.weights = np.array([1 / space.deviations[j] for j in self.numbers])

    def find(self, row: Floats, goal: Goal, seed: int) -> Search[Floats | None]:
        """Return the fittest row: of the wanted class, near, and with few changes."""
        breeder = Breeder(self.space, row, seed)
        population = yield from self._first(breeder, goal)
        best, steady = np.inf, 0
        for _ in range(GENERATIONS):
            population = self._distinct(population)
            answers = yield population
            losses = self._losses(population, row, answers, goal)
            fittest, last, best = population[losses.argmin()], best, losses.min()
            is_found = goal.reached(answers)[losses.argmin()]
            steady = steady + 1 if is_found and abs(last - best) <= HARDLY else 0
            if steady == STEADY or len(population) == 1:
                break
            population = np.stack([fittest, *breeder.children(population, POPULATION - 1)])
        return fittest if is_found else None

    def _first(self, breeder: Breeder, goal: Goal) -> Search[Floats]:
        """Return the nearest rows of the class, and where they are few also others, drawn at random."""
        rows, _ = self.neighbors.nearest(breeder.row, goal)
        population = list(self._distinct(breeder.kept(rows)))
        while len(population) < POPULATION:
            drawn = breeder.drawn()
            if goal.reached((yield drawn[None, :]))[0]:
                population.append(drawn)
        return np.stack(population)

    def _distinct(self, rows: Floats) -> Floats:
        """Return rows that differ, sorted by the columns in DiCE's order."""
        order = self.space.table.columns
        return np.unique(rows[:, order], axis=0)[:, np.argsort(order)]

    def _losses(self, rows: Floats, row: Floats, answers: Floats, goal: Goal) -> Floats:
        """Weigh the distance to the class, to the instance's numbers, and the changed columns."""
        losses = goal.missed_by(answers)
        if len(self.numbers):
            away = np.abs(self._scaled(rows) - self._scaled(row[None, :])) * self.weights
            losses = losses + PROXIMITY * (away.sum(axis=1) / self.weights.sum())
        return losses + SPARSITY * (np.count_nonzero(rows - row, axis=1) / len(row))

    def _scaled(self, rows: Floats) -> Floats:
        """Move numbers from the background's range to [0, 1], those of a constant column to 0."""
        reach = self.high - self.low
        return (rows[:, self.numbers] - self.low) * (reach > 0) / np.where(reach > 0, reach, 1)
