"""DiCE's genetic search: mix and change rows that reach the goal, and return the fittest one.

It follows dice-ml draw by draw, with some faults fixed. Weights are not rounded to 0. A class of few rows is
not filled up with a row of zeros. A population of one row is a result. The model predicts each generation
once, not twice.
"""

import random

import numpy as np

from faithkit_example_based.dice_search.dice_table import Floats, Space
from faithkit_example_based.dice_search.goals import Goal
from faithkit_example_based.dice_search.lockstep import Search
from faithkit_example_based.dice_search.neighbors import NEAREST, NeighborsFactory

# dice-ml's defaults
POPULATION = NEAREST
GENERATIONS = 500
STEADY_GENERATIONS = 5  # the search ends after so many generations with a steady loss
STEADY_LOSS = 1e-2  # the largest change of a steady loss
PROXIMITY_WEIGHT = SPARSITY_WEIGHT = 0.2
SHARE_PER_PARENT = 0.4  # of the values of a child; the other values change at random


class Breeder:
    """Random rows for an instance, drawn with its own random generators.

    Parameters
    ----------
    space : Space
    row : array
        The instance.
    seed : int
    """

    def __init__(self, space: Space, row: Floats, seed: int) -> None:
        self.space, self.row = space, row
        self.parent_rng, self.value_rng = random.Random(seed), np.random.RandomState(seed % 2**32)

    def keep_fixed_columns(self, rows: Floats) -> Floats:
        """Return rows with the instance's values in the fixed columns."""
        fixed = np.repeat(self.row[None, :], len(rows), axis=0)
        fixed[:, self.space.columns] = rows[:, self.space.columns]
        return fixed

    def draw_row(self) -> Floats:
        """Return the instance with random values in all columns that may change."""
        row = self.row.copy()
        for j in self.space.columns:
            row[j] = self._draw_value(j)
        return row

    def breed(self, population: Floats, n: int) -> list[Floats]:
        """Return n children of random parents from the first half of a population."""
        half = len(population) // 2
        return [
            self._breed_child(
                population[self.parent_rng.randrange(half)], population[self.parent_rng.randrange(half)]
            )
            for _ in range(n)
        ]

    def _breed_child(self, mother: Floats, father: Floats) -> Floats:
        """Return a row with values of both parents, and some changed values."""
        child = mother.copy()
        for j in self.space.table.columns:
            chance = self.parent_rng.random()
            if chance >= 2 * SHARE_PER_PARENT:
                child[j] = self._mutate(j)
            elif chance >= SHARE_PER_PARENT:
                child[j] = father[j]
        return child

    def _mutate(self, j: int) -> float:
        if j not in self.space.columns:
            return float(self.row[j])
        if j in self.space.table.categories:
            return self._draw_value(j)
        low = self.space.ranges[j][0]
        return self.value_rng.uniform(low, low)  # a fault of dice-ml: always the smallest number

    def _draw_value(self, j: int) -> float:
        values = self.space.ranges[j]
        if j in self.space.table.categories:
            return values[self.value_rng.randint(0, len(values))]
        low, high = values
        return float(np.round(self.value_rng.uniform(low, high), self.space.table.decimals[j]))


class GeneticSearch:
    """Breed rows that reach the goal, starting with the nearest ones.

    Parameters
    ----------
    space : Space
    neighbors : callable
        Returns the `Neighbors` or `NumberNeighbors` of the table.
    """

    def __init__(self, space: Space, neighbors: NeighborsFactory) -> None:
        self.space, self.neighbors = space, neighbors()
        self.numbers = list(space.table.decimals)
        self.low, self.high = np.array([space.ranges[j] for j in self.numbers]).reshape(-1, 2).T
        self.weights = np.array([1 / space.deviations[j] for j in self.numbers])

    def find(self, row: Floats, goal: Goal, seed: int) -> Search[Floats | None]:
        """Return the fittest row: one that reaches the goal, is near, and has few changes; else None."""
        breeder = Breeder(self.space, row, seed)
        population = yield from self._first_population(breeder, goal)
        best_loss, n_steady = np.inf, 0
        for _ in range(GENERATIONS):
            population = self._sort_distinct(population)
            predictions = yield population
            losses = self._compute_losses(population, row, predictions, goal)
            fittest, last_loss, best_loss = population[losses.argmin()], best_loss, losses.min()
            is_reached = goal.is_reached(predictions)[losses.argmin()]
            n_steady = n_steady + 1 if is_reached and abs(last_loss - best_loss) <= STEADY_LOSS else 0
            if n_steady == STEADY_GENERATIONS or len(population) == 1:
                break
            population = np.stack([fittest, *breeder.breed(population, POPULATION - 1)])
        return fittest if is_reached else None

    def _first_population(self, breeder: Breeder, goal: Goal) -> Search[Floats]:
        """Return the nearest rows that reach the goal, filled up with random rows where they are few."""
        rows, _ = self.neighbors.nearest(breeder.row, goal)
        population = list(self._sort_distinct(breeder.keep_fixed_columns(rows)))
        while len(population) < POPULATION:
            row = breeder.draw_row()
            if goal.is_reached((yield row[None, :]))[0]:
                population.append(row)
        return np.stack(population)

    def _sort_distinct(self, rows: Floats) -> Floats:
        """Return the distinct rows, sorted by the columns in DiCE's order."""
        order = self.space.table.columns
        return np.unique(rows[:, order], axis=0)[:, np.argsort(order)]

    def _compute_losses(self, rows: Floats, row: Floats, predictions: Floats, goal: Goal) -> Floats:
        """Weigh the distance to the goal, the distance to the instance's numbers, and the changed columns."""
        losses = goal.distance(predictions)
        if len(self.numbers):
            differences = np.abs(self._scale_numbers(rows) - self._scale_numbers(row[None, :])) * self.weights
            losses = losses + PROXIMITY_WEIGHT * (differences.sum(axis=1) / self.weights.sum())
        return losses + SPARSITY_WEIGHT * (np.count_nonzero(rows - row, axis=1) / len(row))

    def _scale_numbers(self, rows: Floats) -> Floats:
        """Scale numbers from the background's range to [0, 1]; a constant column becomes 0."""
        width = self.high - self.low
        return (rows[:, self.numbers] - self.low) * (width > 0) / np.where(width > 0, width, 1)
