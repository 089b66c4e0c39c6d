"""Models that are formulas, and exact explanations of them: Shapley values by all coalitions."""

import itertools
import math

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class FormulaClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose scores, one column per class, are a function of the rows; it needs no fitting."""

    def __init__(self, scores, labels):
        self.scores = scores
        self.labels = labels

    @property
    def classes_(self):
        return np.array(self.labels, dtype=object)

    def __sklearn_is_fitted__(self):
        return True

    def predict_proba(self, X):
        scores = np.clip(self.scores(X), -30, 30)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.scores(X).argmax(axis=1)]


class FormulaRegressor(RegressorMixin, BaseEstimator):
    """A regressor that is a function of the rows; it needs no fitting."""

    def __init__(self, formula):
        self.formula = formula

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return self.formula(X)


def two_classes(score):
    """Return the scores of two classes that differ by `score`."""
    return lambda X: np.column_stack([-score(X) / 2, score(X) / 2])


def explained_score(model, X):
    """Return a function of rows for each row of X: how much the scores favour what an explanation speaks for.

    That is the second of two classes, the predicted one of several (against the mean of all), or the number.
    """
    if isinstance(model, FormulaRegressor):
        return model.formula, None
    if len(model.labels) == 2:
        return lambda rows: np.diff(model.scores(rows), axis=1)[:, 0], None

    def centred(rows):
        return model.scores(rows) - model.scores(rows).mean(axis=1, keepdims=True)

    return centred, model.scores(X).argmax(axis=1)


def shapley_values(model, X, reference, columns):
    """Return the exact Shapley values (rows, columns of X) of a formula that reads a few columns of a frame.

    Columns that are not in a coalition have the values of the reference rows.
    """
    score, own_class = explained_score(model, X)
    n, m, d = len(X), len(reference), len(columns)
    worth = {}
    rows = X.iloc[np.repeat(np.arange(n), m)].reset_index(drop=True)
    others = reference.iloc[np.tile(np.arange(m), n)].reset_index(drop=True)
    for size in range(d + 1):
        for coalition in itertools.combinations(columns, size):
            mixed = rows.copy()
            for name in set(columns) - set(coalition):
                mixed[name] = others[name]
            values = score(mixed)
            values = values.reshape(n, m, -1).mean(axis=1)
            worth[frozenset(coalition)] = values[np.arange(n), 0 if own_class is None else own_class]
    phi = np.zeros((n, X.shape[1]))
    for coalition, without in worth.items():
        for name in set(columns) - coalition:
            orders = math.factorial(len(coalition)) * math.factorial(d - len(coalition) - 1)
            share = orders / math.factorial(d)
            phi[:, X.columns.get_loc(name)] += share * (worth[coalition | {name}] - without)
    return phi
