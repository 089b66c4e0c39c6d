"""What a search asks of the model: predictions of encoded rows, and whether they reach the goal."""

from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_search.dice_table import Floats
from faithkit_example_based.target import CounterfactualTarget


@attrs.frozen(eq=False)
class DiceModel:
    """A classifier that predicts encoded rows.

    Parameters
    ----------
    predictor : Predictor
    encoder : Encoder
    labels : array
        The labels of the background. Class k is the label labels[k]; the last class is any other label.
    by_scores : bool
        Whether to return the model's own probabilities, which cover no other labels. Otherwise the predicted
        label has probability 1. Then DiCE's class is the model's label, whatever the model's threshold and
        the scale of its scores.
    """

    predictor: faithkit.Predictor
    encoder: faithkit.plugin.Encoder
    labels: NDArray[Any]
    by_scores: bool

    def predict_codes(self, codes: Floats) -> Floats:
        """Return a probability per row and class."""
        rows = self.encoder.decode(codes)
        if self.by_scores:
            return self.predictor.scores(rows)[:, score_columns(self.predictor, self.labels)]
        is_label = np.equal.outer(self.predictor.predict(rows), self.labels)
        return np.column_stack([is_label, ~is_label.any(axis=1)]).astype(np.float64)


@attrs.frozen(eq=False)
class NumberModel:
    """A regressor that predicts encoded rows."""

    predictor: faithkit.Predictor
    encoder: faithkit.plugin.Encoder

    def predict_codes(self, codes: Floats) -> Floats:
        """Return a number per row, in a column."""
        return self.predictor.scores(self.encoder.decode(codes))


def score_columns(predictor: faithkit.Predictor, labels: NDArray[Any]) -> list[int] | None:
    """Return the columns of the labels in the model's scores, or None if a label has no column."""
    if not predictor.has_scores or predictor.classes is None:
        return None
    column_of_label = {label: column for column, label in enumerate(predictor.classes.tolist())}
    columns = [column_of_label[label] for label in labels.tolist() if label in column_of_label]
    return columns if len(columns) == len(labels) else None


def scores_are_probabilities(predictor: faithkit.Predictor, rows: Any, labels: NDArray[Any]) -> bool:
    """Return whether scores are probabilities of these labels, and each row's label is the most probable."""
    columns = score_columns(predictor, labels)
    if columns is None or predictor.classes is None or len(columns) != len(predictor.classes):
        return False
    scores = predictor.scores(rows)[:, columns]
    is_label = np.equal.outer(predictor.predict(rows), labels)
    is_most_probable = scores[is_label] > np.where(is_label, -np.inf, scores).max(axis=1)
    return bool(is_most_probable.all() and (scores >= 0).all() and np.allclose(scores.sum(axis=1), 1))


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
