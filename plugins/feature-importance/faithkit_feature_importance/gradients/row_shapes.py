"""Flatten rows of several axes, such as images, so that each value is a column."""

import math
from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.gradients.torch_modules import find_module, import_torch


@attrs.frozen(eq=False)
class RowShape:
    """The shape of a row; None for tables, whose rows and models need no change.

    Examples
    --------
    >>> images = np.arange(12.0).reshape(2, 3, 2)
    >>> row_shape = RowShape.of(images)
    >>> row_shape.flatten(images).shape, row_shape.column_names(None)[:2]
    ((2, 6), ['[0, 0]', '[0, 1]'])
    """

    shape: tuple[int, ...] | None

    @classmethod
    def of(cls, background: Any) -> "RowShape":
        """Return the row shape of the background."""
        return cls(
            background.shape[1:] if isinstance(background, np.ndarray) and background.ndim > 2 else None
        )

    def flatten(self, X: Any) -> Any:
        """Return X with flat rows; reject rows of another shape."""
        if self.shape is None:
            return X
        if not isinstance(X, np.ndarray) or X.shape[1:] != self.shape:
            row_shape = getattr(X, "shape", (None,))[1:]
            raise faithkit.errors.InputError(
                f"gradient: X has rows of shape {row_shape}; expected {self.shape}, as in the background."
            )
        return X.reshape(len(X), math.prod(self.shape))

    def column_names(self, names: Any) -> Any:
        """Return the names of the columns; values of an image are named by their position."""
        return names if self.shape is None else [str(list(position)) for position in np.ndindex(self.shape)]

    def flat_predictor(self, predictor: faithkit.Predictor) -> faithkit.Predictor:
        """Return a predictor of flat rows."""
        if self.shape is None:
            return predictor
        outcome = "numbers" if predictor.is_regressor else "labels"
        return faithkit.Predictor(
            _FlatModel(predictor.model, self.shape), classes=predictor.classes, outcome=outcome
        )


class _FlatModel:
    """A model of flat rows, with the same methods as the model of images or series."""

    def __init__(self, model: Any, shape: tuple[int, ...]) -> None:
        # messages name the model by it
        self.__name__ = getattr(model, "__name__", None) or type(model).__name__
        self.predict = partial(_call_with_shape, getattr(model, "predict", model), shape)
        for name in ("predict_proba", "decision_function"):
            if hasattr(model, name):
                setattr(self, name, partial(_call_with_shape, getattr(model, name), shape))
        module = find_module(model)
        if module is not None:
            nn = import_torch().nn
            self.module = nn.Sequential(nn.Unflatten(1, shape), module)


def _call_with_shape(method: Any, shape: tuple[int, ...], X: NDArray[Any]) -> Any:
    return method(X.reshape(len(X), *shape))
