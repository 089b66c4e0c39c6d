"""Models for the conformance kit, with the attributes of the libraries' models, but without the libraries.

`rule-model` recognises a model by the names of its library and class, so the rule models here have both.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from faithkit_conformance import Kit, situation_of
from numpy.typing import NDArray

_ROWS = np.random.default_rng(0).normal(size=(65, 3)).round(2)
_NAMES = ["age", "hours", "gain"]


class GreedyRuleListClassifier:
    """A rule list: yes from an age of 0.5 on, else no if the gain is negative, else yes."""

    __module__ = "imodels"
    rules_: Sequence[dict[str, Any]] = (
        {"index_col": 0, "cutoff": 0.5, "flip": False},
        {"index_col": 2, "cutoff": 0.0, "flip": True},
        {},
    )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of the first rule that applies."""
        age, _, gain = _columns(X)
        return np.where((age < 0.5) & (gain < 0.0), "no", "yes")


class RuleFit:
    """A sum of two rules: 1 where the age is above 0, and −2 where the hours are at most 0.5."""

    __module__ = "imodels"
    _estimator_type = "regressor"
    rules_without_feature_names_ = (
        SimpleNamespace(args=(1.0, 1.0), agg_dict={("X_0", ">"): "0.0"}),
        SimpleNamespace(args=(-2.0, 1.0), agg_dict={("X_1", "<="): "0.5"}),
    )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the sum of the rules that fire."""
        age, hours, _ = _columns(X)
        return 1.0 * (age > 0.0) - 2.0 * (hours <= 0.5)


class Additive:
    """A sum of terms, one for each column: of two classes in logits, of more a sum for each, or a number."""

    def __init__(self, weights: Any, classes: Any = None) -> None:
        self.weights = np.asarray(weights, dtype=float)  # a row for each column
        self.term_names_ = _NAMES
        self.intercept_ = np.zeros(self.weights.shape[1:])
        if classes is not None:
            self.classes_ = np.asarray(classes)

    def eval_terms(self, X: Any) -> NDArray[np.float64]:
        """Return the contribution of each term for each row."""
        rows = _columns(X).T
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
    """A sum of terms that predicts a number."""

    _estimator_type = "regressor"
    predict_proba = None  # type: ignore[assignment]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the sum of the terms."""
        return np.asarray(self.eval_terms(X).sum(axis=1))


def _columns(X: Any) -> NDArray[np.float64]:
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != len(_NAMES):
        raise ValueError(f"X has shape {rows.shape}; expected {len(_NAMES)} columns.")
    return rows.T


def kit() -> Kit:
    """Return models of rules and of terms: for labels, and for numbers."""
    frame = pd.DataFrame(_ROWS, columns=_NAMES)
    three = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 0.5], [-1.0, 0.5, 0.0]])
    return Kit(
        situations={
            "rule_list": situation_of(GreedyRuleListClassifier(), _ROWS),
            "sum_of_rules_for_numbers": situation_of(RuleFit(), frame),
            "terms": situation_of(Additive([1.0, -0.5, 2.0], ["no", "yes"]), _ROWS),
            "terms_of_three_classes": situation_of(Additive(three, [0, 1, 2]), frame),
            "terms_of_numbers": situation_of(Sum([1.0, -0.5, 2.0]), frame),
        }
    )
