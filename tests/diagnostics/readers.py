"""Readers that are simple enough to know what they will do."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Hedging(ClassifierMixin, BaseEstimator):
    """Gives the commonest label it has seen a fixed probability, and the rest to the others."""

    def __init__(self, share=0.75):
        self.share = share

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.usual_ = counts.argmax()
        return self

    def predict_proba(self, X):
        result = np.full((len(X), len(self.classes_)), (1 - self.share) / (len(self.classes_) - 1))
        result[:, self.usual_] = self.share
        return result


class Table(ClassifierMixin, BaseEstimator):
    """Looks up how often each label went with the number in the first column; (count + 1) / (sum + labels)."""

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.counts_ = np.ones((int(X[:, 0].max()) + 100, len(self.classes_)))
        np.add.at(self.counts_, (X[:, 0].astype(int), codes), 1)
        return self

    def predict_proba(self, X):
        counts = self.counts_[X[:, 0].astype(int)]
        return counts / counts.sum(axis=1, keepdims=True)
