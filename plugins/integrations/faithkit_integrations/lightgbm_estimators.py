"""LightGBM's estimators, wrapped around a Booster that was trained without an estimator."""

from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

lightgbm: Any = import_module("lightgbm")  # untyped: its annotations assume a fitted estimator


class _BoosterWrapper:
    """The common base: the Booster, where explainers look for it, and its columns."""

    _booster: Any

    @classmethod
    def of(cls, booster: Any) -> Self:
        estimator = cls()
        estimator._booster = booster
        return estimator

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def booster_(self) -> Any:
        return self._booster

    @property
    def n_features_in_(self) -> int:
        return int(self._booster.num_feature())

    @property
    def feature_name_(self) -> list[str]:
        return list(self._booster.feature_name())

    @property
    def feature_names_in_(self) -> NDArray[np.str_]:
        """The columns that the Booster was trained with; a table may have them in another order."""
        names = self.feature_name_
        if names == [f"Column_{index}" for index in range(len(names))]:
            raise AttributeError("feature_names_in_: the Booster was trained on columns without names")
        return np.array(names)


class BoosterRegressor(_BoosterWrapper, lightgbm.LGBMRegressor):
    """A regressor that returns the predictions of a Booster."""

    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """Return the predictions of the Booster."""
        return np.asarray(self._booster.predict(X, **params))


class BoosterClassifier(_BoosterWrapper, lightgbm.LGBMClassifier):
    """A classifier that predicts the class with a Booster's highest probability: 0, 1 and so on."""

    _class_count: int

    @classmethod
    def of(cls, booster: Any, n_classes: int = 2) -> Self:
        """Return a classifier for a Booster with n_classes classes."""
        estimator = super().of(booster)
        estimator._class_count = n_classes
        return estimator

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The labels that the Booster was trained on."""
        return np.arange(self._class_count)

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        return self._class_count

    def predict(self, X: Any, raw_score: bool = False, **params: Any) -> NDArray[Any]:
        """Return the class of the highest probability, or the raw scores."""
        if raw_score:
            return np.asarray(self._booster.predict(X, raw_score=True, **params))
        return self.predict_proba(X, **params).argmax(axis=1)

    def predict_proba(self, X: Any, **params: Any) -> NDArray[Any]:
        """Return the probability of each class; for two classes the Booster returns only the second."""
        probabilities = np.asarray(self._booster.predict(X, **params))
        return (
            np.column_stack([1 - probabilities, probabilities]) if probabilities.ndim == 1 else probabilities
        )
