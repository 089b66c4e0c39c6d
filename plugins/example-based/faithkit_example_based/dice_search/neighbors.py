"""DiCE's search by trees: rows of the background that have the wanted class and are near the instance."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.dice_search.goals import ClassGoal, NumberGoal
from faithkit_example_based.dice_search.lockstep import Search
from faithkit_example_based.dice_search.space import Space
from faithkit_example_based.dice_search.table import DiceTable, Floats

NEAREST = 10  # dice-ml's default


class Neighbors:
    """The rows of each class, in a tree: a category is a column of its own there, 1 where a row has it.

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
        """Return the nearest rows of a class, and how far they are, the nearest first."""
        rows, tree = self.rows[goal.number], self.trees[goal.number]
        far, place = tree.query(_coordinates(self.table, row[None, :]), min(NEAREST, len(rows)))
        return rows[place[0]], far[0]


class NumberNeighbors:
    """The rows of a table with what a regressor predicts: each instance wants others of them.

    Parameters
    ----------
    table : DiceTable
    predictions : array
        The number of each row of the table.
    """

    def __init__(self, table: DiceTable, predictions: Floats) -> None:
        self.table, self.answers = table, predictions[:, None]
        self.coordinates = _coordinates(table, table.codes)

    def nearest(self, row: Floats, goal: NumberGoal) -> tuple[Floats, Floats]:
        """Return the nearest rows of those that are wanted, perhaps none, and how far they are."""
        there = np.flatnonzero(goal.reached(self.answers))
        apart = self.coordinates[there] - _coordinates(self.table, row[None, :])
        far = np.sqrt((apart**2).sum(axis=1))
        first = np.argsort(far, kind="stable")[:NEAREST]
        return self.table.codes[there[first]], far[first]


Find = Callable[[], Any]  # makes one of them


def _coordinates(table: DiceTable, codes: Floats) -> Floats:
    numbers = codes[:, list(table.decimals)]
    dummies = [np.equal.outer(codes[:, j], known) for j, known in table.categories.items()]
    return np.column_stack([numbers, *dummies])


class TreeSearch:
    """Take the row of the wanted class that is nearest, and changes few columns.

    Parameters
    ----------
    space : Space
    neighbors : callable
        Makes what knows which rows of the table are near.
    """

    def __init__(self, space: Space, neighbors: Find) -> None:
        self.neighbors, self.decimals = neighbors(), list(space.table.decimals)
        self.fixed = [j for j in space.table.columns if j not in space.columns]

    def find(self, row: Floats, goal: Any, seed: int) -> Search[Floats | None]:
        """Return one of the ten nearest rows that have the instance's values in the other columns."""
        yield from ()  # it asks nothing: the classes of the background are known
        rows, far = self.neighbors.nearest(row, goal)
        if not len(rows):
            return None
        changed = rows != row
        changed[:, self.decimals] = ~np.isclose(rows[:, self.decimals], row[self.decimals])
        order = np.argsort(_spread(far) + _spread(changed.sum(axis=1)), kind="stable")
        return next((rows[i] for i in order if (rows[i] == row)[self.fixed].all()), None)


def _spread(numbers: Any) -> Floats:
    """Move numbers into [0, 1]; equal ones become NaN, as in dice-ml, and leave the order as it is."""
    with np.errstate(invalid="ignore"):
        spread: Floats = (numbers - numbers.min()) / (numbers.max() - numbers.min())
    return spread
