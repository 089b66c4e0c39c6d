"""Models for the conformance kit: made of terms as a boosting machine is, and fitted by nobody."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.testing import Kit, situation_of

_ROWS = np.random.default_rng(0).normal(size=(65, 3)).round(2)
_NAMES = ["age", "hours", "gain"]


class Additive:
    """A sum of terms, one for each column: of two classes in logits, of more a sum for each, or a number."""

    def __init__(self, weights: Any, classes: Any = None) -> None:
        self.weights = np.asarray(weights, dtype=float)  # a row for each column
        self.term_names_ = _NAMES
        self.intercept_ = np.zeros(self.weights.shape[1:])
        if classes is not None:
            self.classes_ = np.asarray(classes)

    def eval_terms(self, X: Any) -> NDArray[np.float64]:
        """Return what each term adds for each row."""
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.weights):
            raise ValueError(f"X has shape {rows.shape}; expected {len(self.weights)} columns.")
        return rows * self.weights if self.weights.ndim == 1 else rows[:, :, None] * self.weights

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the classes' shares of the scores."""
        scores = self.eval_terms(X).sum(axis=1)
        scores = np.column_stack([0 * scores, scores]) if scores.ndim == 1 else scores
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the largest score."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class Sum(Additive):
    """The same for a number."""

    _estimator_type = "regressor"
    predict_proba = None  # type: ignore[assignment]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the sum of the terms."""
        return np.asarray(self.eval_terms(X).sum(axis=1))


def kit() -> Kit:
    """Return models of two classes, of three, and of a number."""
    frame = pd.DataFrame(_ROWS, columns=_NAMES)
    three = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 0.5], [-1.0, 0.5, 0.0]])
    return Kit(
        situations={
            "array": situation_of(Additive([1.0, -0.5, 2.0], ["no", "yes"]), _ROWS),
            "frame_of_three_classes": situation_of(Additive(three, [0, 1, 2]), frame),
            "frame_of_numbers": situation_of(Sum([1.0, -0.5, 2.0]), frame),
        }
    )
