"""DiCE's k-d tree search: rows of the background that reach the goal and are near the instance."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.dice_search.dice_table import DiceTable, Floats, Space
from faithkit_example_based.dice_search.goals import ClassGoal, NumberGoal
from faithkit_example_based.dice_search.lockstep import Search

NEAREST = 10  # dice-ml's default


class Neighbors:
    """One k-d tree per class; each category becomes a column of zeros and ones.

    Parameters
    ----------
    table : DiceTable
    classes : array
        The class of each row of the table.
    """

    def __init__(self, table: DiceTable, classes: NDArray[np.int64]) -> None:
        from sklearn.neighbors import KDTree

        self.table = table
        self.rows = {int(k): table.codes[classes == k] for k in np.unique(classes)}
        self.trees: dict[int, Any] = {k: KDTree(_coordinates(table, rows)) for k, rows in self.rows.items()}

    def nearest(self, row: Floats, goal: ClassGoal) -> tuple[Floats, Floats]:
        """Return the nearest rows of the class and their distances, in ascending order."""
        rows, tree = self.rows[goal.class_index], self.trees[goal.class_index]
        distances, index = tree.query(_coordinates(self.table, row[None, :]), min(NEAREST, len(rows)))
        return rows[index[0]], distances[0]


class NumberNeighbors:
    """The rows of a table and their predicted numbers; each instance searches those in its target.

    Parameters
    ----------
    table : DiceTable
    predictions : array
        The predicted number of each row of the table.
    """

    def __init__(self, table: DiceTable, predictions: Floats) -> None:
        self.table, self.predictions = table, predictions[:, None]
        self.coordinates = _coordinates(table, table.codes)

    def nearest(self, row: Floats, goal: NumberGoal) -> tuple[Floats, Floats]:
        """Return the nearest rows in the target, possibly none, and their distances."""
        in_target = np.flatnonzero(goal.is_reached(self.predictions))
        differences = self.coordinates[in_target] - _coordinates(self.table, row[None, :])
        distances = np.sqrt((differences**2).sum(axis=1))
        order = np.argsort(distances, kind="stable")[:NEAREST]
        return self.table.codes[in_target[order]], distances[order]


NeighborsFactory = Callable[[], Any]  # returns a Neighbors or NumberNeighbors


def _coordinates(table: DiceTable, codes: Floats) -> Floats:
    numbers = codes[:, list(table.decimals)]
    dummies = [
        np.equal.outer(codes[:, j], codes_of_column) for j, codes_of_column in table.categories.items()
    ]
    return np.column_stack([numbers, *dummies])


class TreeSearch:
    """Search for a near row of the background that reaches the goal and changes few columns.

    Parameters
    ----------
    space : Space
    neighbors : callable
        Returns the `Neighbors` or `NumberNeighbors` of the table.
    """

    def __init__(self, space: Space, neighbors: NeighborsFactory) -> None:
        self.neighbors, self.decimals = neighbors(), list(space.table.decimals)
        self.fixed = [j for j in space.table.columns if j not in space.columns]

    def find(self, row: Floats, goal: Any, seed: int) -> Search[Floats | None]:
        """Return one of the ten nearest rows that has the instance's values in the fixed columns."""
        yield from ()  # a generator that yields nothing: the predictions of the background are known
        rows, distances = self.neighbors.nearest(row, goal)
        if not len(rows):
            return None
        changed = rows != row
        changed[:, self.decimals] = ~np.isclose(rows[:, self.decimals], row[self.decimals])
        order = np.argsort(_scale_to_unit(distances) + _scale_to_unit(changed.sum(axis=1)), kind="stable")
        return next((rows[i] for i in order if (rows[i] == row)[self.fixed].all()), None)


def _scale_to_unit(numbers: Any) -> Floats:
    """Scale numbers to [0, 1]; if all are equal they become NaN, as in dice-ml, and keep their order."""
    with np.errstate(invalid="ignore"):
        scaled: Floats = (numbers - numbers.min()) / (numbers.max() - numbers.min())
    return scaled
