"""Boosted trees as a table of their predictions, for explainers that call models thousands of times a row."""

from typing import Any

import numpy as np
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import read_ensemble
from sklearn.base import BaseEstimator, ClassifierMixin


class TabulatedModel(ClassifierMixin, BaseEstimator):
    """A model of XGBoost, looked up: between the thresholds of its trees it is constant.

    Parameters
    ----------
    booster : fitted XGBClassifier
        Its rows have no missing values.
    """

    def __init__(self, booster: Any) -> None:
        self.booster = booster

    def fit(self, X: Any = None, y: Any = None) -> "TabulatedModel":
        """Predict every cell between thresholds."""
        self.thresholds_, self.classes_ = thresholds(self.booster), self.booster.classes_
        shape = [len(column) + 1 for column in self.thresholds_]
        # a value that equals a threshold is on its left
        upper_ends = [np.append(column, np.finfo(np.float32).max) for column in self.thresholds_]
        cells = np.stack(np.meshgrid(*upper_ends, indexing="ij"), axis=-1).reshape(-1, len(shape))
        self.probabilities_ = self.booster.predict_proba(cells).reshape(*shape, -1)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted label of each row."""
        labels: np.ndarray = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class for each row."""
        probabilities: np.ndarray = self.probabilities_[self._cells(X)]
        return probabilities

    def _cells(self, X: Any) -> tuple[np.ndarray, ...]:
        columns = np.asarray(X, dtype=np.float32).T  # as XGBoost compares
        return tuple(
            np.searchsorted(sorted_values, column)
            for sorted_values, column in zip(self.thresholds_, columns, strict=True)
        )


def thresholds(booster: Any) -> list[np.ndarray]:
    """Return the thresholds of each column over all trees of a model, sorted."""
    splits = np.concatenate(
        [
            np.column_stack([tree.column, tree.threshold])[tree.left >= 0]
            for tree in read_ensemble(booster).trees
        ]
    )
    return [np.unique(splits[splits[:, 0] == column, 1]) for column in range(booster.n_features_in_)]
