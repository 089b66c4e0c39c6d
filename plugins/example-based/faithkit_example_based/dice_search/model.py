"""Models that predict encoded rows, with classes numbered from 0."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_search.dice_table import Floats


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
