"""LightGBM's estimators around a Booster that none of them has fitted: they answer by asking it."""

from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

lightgbm: Any = import_module("lightgbm")  # whose annotations are of what it fits itself


class _AroundBooster:
    """What both have: the Booster where explainers look for it, and what it says of its columns."""

    _given: Any

    @classmethod
    def of(cls, booster: Any) -> Self:
        made = cls()
        made._given = booster
        return made

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def booster_(self) -> Any:
        return self._given

    @property
    def n_features_in_(self) -> int:
        return int(self._given.num_feature())

    @property
    def feature_name_(self) -> list[str]:
        return list(self._given.feature_name())

    @property
    def feature_names_in_(self) -> NDArray[np.str_]:
        """The columns that it was trained with, by which those of a table are found, whatever their order."""
        names = self.feature_name_
        if names == [f"Column_{place}" for place in range(len(names))]:
            raise AttributeError("feature_names_in_: the Booster was trained on columns without names")
        return np.array(names)


class BoosterRegressor(_AroundBooster, lightgbm.LGBMRegressor):
    """What predicts the numbers that a Booster predicts."""

    def predict(self, X: Any, **how: Any) -> NDArray[Any]:
        """Return what the Booster gives."""
        return np.asarray(self._given.predict(X, **how))


class BoosterClassifier(_AroundBooster, lightgbm.LGBMClassifier):
    """What predicts the class of a Booster's highest probability: 0, 1 and so on, as it was trained."""

    _width: int

    @classmethod
    def of(cls, booster: Any, n_classes: int = 2) -> Self:
        """Return one that asks a Booster of so many classes."""
        made = super().of(booster)
        made._width = n_classes
        return made

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The labels that the Booster was trained on."""
        return np.arange(self._width)

    @property
    def n_classes_(self) -> int:
        """How many these are."""
        return self._width

    def predict(self, X: Any, raw_score: bool = False, **how: Any) -> NDArray[Any]:
        """Return the class of the highest probability, or the raw scores."""
        if raw_score:
            return np.asarray(self._given.predict(X, raw_score=True, **how))
        return self.predict_proba(X, **how).argmax(axis=1)

    def predict_proba(self, X: Any, **how: Any) -> NDArray[Any]:
        """Return the probability of each class; the Booster gives one for two."""
        found = np.asarray(self._given.predict(X, **how))
        return np.column_stack([1 - found, found]) if found.ndim == 1 else found
