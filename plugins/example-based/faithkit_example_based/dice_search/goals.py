"""Goals of a search: the most probable class, or a number in a target."""

from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.dice_search.dice_table import Floats
from faithkit_example_based.target import CounterfactualTarget


class Goal(Protocol):
    """A test of the model's predictions; each prediction is a row of numbers."""

    def is_reached(self, predictions: Floats) -> NDArray[np.bool_]:
        """Return which predictions reach the goal."""

    def distance(self, predictions: Floats) -> Floats:
        """Return the distance of each prediction to the goal, 0 where it is reached."""


@attrs.frozen
class ClassGoal:
    """A class, by its index; predictions are probabilities.

    >>> goal, probabilities = ClassGoal(1), np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    >>> goal.is_reached(probabilities).tolist(), goal.distance(probabilities).tolist()
    ([True, True, False], [0.0, 0.0, 1.0])
    """

    class_index: int

    def is_reached(self, predictions: Floats) -> NDArray[np.bool_]:
        """Return whether no other class is more probable."""
        is_most_probable: NDArray[np.bool_] = predictions[:, self.class_index] >= predictions.max(axis=1)
        return is_most_probable

    def distance(self, predictions: Floats) -> Floats:
        """Return how much more probable the best other class is."""
        best_rival = np.delete(predictions, self.class_index, axis=1).max(axis=1)
        return np.maximum(0, best_rival - predictions[:, self.class_index])


@attrs.frozen(eq=False)
class NumberGoal:
    """A number in the target of the instance; each prediction is one number.

    Distances are divided by `unit`, because DiCE adds them to distances without a unit.
    """

    target: CounterfactualTarget
    instance_prediction: float
    unit: float

    def is_reached(self, predictions: Floats) -> NDArray[np.bool_]:
        """Return whether the number is in the target."""
        return self.target.contains(predictions[:, 0], self.instance_prediction)

    def distance(self, predictions: Floats) -> Floats:
        """Return the distance to the target, in units."""
        return self.target.distance_to(predictions[:, 0], self.instance_prediction) / self.unit
