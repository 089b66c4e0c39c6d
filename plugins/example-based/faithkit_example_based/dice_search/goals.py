"""What a search is after: a class that no other is more probable than, or a number that is wanted."""

from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.dice_search.table import Floats
from faithkit_example_based.wanted import Wanted


class Goal(Protocol):
    """Judges the model's answers, a row of numbers for each row that was asked about."""

    def reached(self, answers: Floats) -> NDArray[np.bool_]:
        """Tell for each answer whether it is what is looked for."""

    def missed_by(self, answers: Floats) -> Floats:
        """Return how far each answer is from that, 0 where it is reached."""


@attrs.frozen
class ClassGoal:
    """A class, by its number; answers are probabilities.

    >>> goal, chances = ClassGoal(1), np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    >>> goal.reached(chances).tolist(), goal.missed_by(chances).tolist()
    ([True, True, False], [0.0, 0.0, 1.0])
    """

    number: int

    def reached(self, answers: Floats) -> NDArray[np.bool_]:
        """Tell whether no class is more probable."""
        most: NDArray[np.bool_] = answers[:, self.number] >= answers.max(axis=1)
        return most

    def missed_by(self, answers: Floats) -> Floats:
        """Return by how much another class is more probable."""
        others = np.delete(answers, self.number, axis=1).max(axis=1)
        return np.maximum(0, others - answers[:, self.number])


@attrs.frozen(eq=False)
class NumberGoal:
    """A number that is wanted instead of the instance's own; answers are predictions.

    `unit` is what numbers are told in: DiCE weighs them against distances that have none.
    """

    wanted: Wanted
    own: float
    unit: float

    def reached(self, answers: Floats) -> NDArray[np.bool_]:
        """Tell whether the number is wanted."""
        return self.wanted.is_other(answers[:, 0], self.own)

    def missed_by(self, answers: Floats) -> Floats:
        """Return how many units it is away."""
        return self.wanted.missed_by(answers[:, 0], self.own) / self.unit
