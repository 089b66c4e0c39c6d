"""The model as DiCE asks it: about rows in DiCE's own form, and not without end.

Every loop of DiCE asks the model, so a limit on questions ends any search, and at the same point everywhere.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_table import DiceTable, Floats


class OutOfCalls(Exception):  # noqa: N818 (it ends a search; nothing is wrong)
    """The model was asked as often as it may be."""


class DiceModel:
    """A predictor with the face of a scikit-learn classifier, whose classes are numbered.

    Parameters
    ----------
    predictor : Predictor
    encoder : Encoder
    table : DiceTable
    labels : array
        The labels that the background has: class k is the label labels[k], the last class any other label.
    by_scores : bool
        Whether probabilities are the model's own, which knows no other labels. Otherwise the row's label has
        all of it: what DiCE takes for a class is then what the model predicts, whatever its threshold and the
        scale of its scores.

    Attributes
    ----------
    calls_left : float
        How often it may still be asked before `OutOfCalls`: without limit while DiCE learns, and for each row
        as often as the search says.
    """

    def __init__(
        self,
        predictor: faithkit.Predictor,
        encoder: faithkit.Encoder,
        table: DiceTable,
        labels: NDArray[Any],
        by_scores: bool,
    ) -> None:
        self.predictor, self.encoder, self.table, self.labels = predictor, encoder, table, labels
        self.by_scores = by_scores
        self.calls_left = math.inf

    def predict_proba(self, frame: pd.DataFrame) -> Floats:
        """Return a probability per row and class."""
        if self.calls_left <= 0:
            raise OutOfCalls
        self.calls_left -= 1
        rows = self.encoder.decode(self.table.read(frame))
        if self.by_scores:
            return self.predictor.scores(rows)[:, score_columns(self.predictor, self.labels)]
        own = np.equal.outer(self.predictor.predict(rows), self.labels)
        return np.column_stack([own, ~own.any(axis=1)]).astype(np.float64)

    def predict(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """Return the number of each row's class."""
        return self.predict_proba(frame).argmax(axis=1)


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
