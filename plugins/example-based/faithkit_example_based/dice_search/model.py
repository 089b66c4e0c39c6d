"""The model as DiCE's searches ask it: about rows of codes, and with classes that are numbered."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_search.table import Floats


@attrs.frozen(eq=False)
class DiceModel:
    """A predictor that is asked about codes.

    Parameters
    ----------
    predictor : Predictor
    encoder : Encoder
    labels : array
        The labels that the background has: class k is the label labels[k], the last class any other label.
    by_scores : bool
        Whether probabilities are the model's own, which knows no other labels. Otherwise the row's label has
        all of it: what DiCE takes for a class is then what the model predicts, whatever its threshold and the
        scale of its scores.
    """

    predictor: faithkit.Predictor
    encoder: faithkit.plugin.Encoder
    labels: NDArray[Any]
    by_scores: bool

    def answers(self, codes: Floats) -> Floats:
        """Return a probability per row and class."""
        rows = self.encoder.decode(codes)
        if self.by_scores:
            return self.predictor.scores(rows)[:, score_columns(self.predictor, self.labels)]
        own = np.equal.outer(self.predictor.predict(rows), self.labels)
        return np.column_stack([own, ~own.any(axis=1)]).astype(np.float64)


@attrs.frozen(eq=False)
class NumberModel:
    """A regressor that is asked about codes."""

    predictor: faithkit.Predictor
    encoder: faithkit.plugin.Encoder

    def answers(self, codes: Floats) -> Floats:
        """Return a number per row, in a column."""
        return self.predictor.scores(self.encoder.decode(codes))


def score_columns(predictor: faithkit.Predictor, labels: NDArray[Any]) -> list[int] | None:
    """Return the columns of the model's scores that belong to the labels; None where it has none for them."""
    if not predictor.has_scores or predictor.classes is None:
        return None
    place = {label: column for column, label in enumerate(predictor.classes.tolist())}
    columns = [place[label] for label in labels.tolist() if label in place]
    return columns if len(columns) == len(labels) else None


def tells_probabilities(predictor: faithkit.Predictor, rows: Any, labels: NDArray[Any]) -> bool:
    """Tell whether scores are probabilities of these labels, and a row's label the most probable one."""
    columns = score_columns(predictor, labels)
    if columns is None or predictor.classes is None or len(columns) != len(predictor.classes):
        return False
    scores = predictor.scores(rows)[:, columns]
    own = np.equal.outer(predictor.predict(rows), labels)
    ahead = scores[own] > np.where(own, -np.inf, scores).max(axis=1)
    return bool(ahead.all() and (scores >= 0).all() and np.allclose(scores.sum(axis=1), 1))
