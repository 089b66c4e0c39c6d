"""Rows of several axes, such as images, as rows of columns: a gradient has a number for each cell."""

from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.gradients.torch_modules import import_torch, module_of


@attrs.frozen(eq=False)
class Layout:
    """The shape of a row; None of tables, whose rows and models stay what they are.

    Examples
    --------
    >>> images = np.arange(12.0).reshape(2, 3, 2)
    >>> layout = Layout.of(images)
    >>> layout.rows(images).shape, layout.names(None)[:2]
    ((2, 6), ['[0, 0]', '[0, 1]'])
    """

    shape: tuple[int, ...] | None

    @classmethod
    def of(cls, background: Any) -> "Layout":
        """Look at rows to learn from."""
        return cls(
            background.shape[1:] if isinstance(background, np.ndarray) and background.ndim > 2 else None
        )

    def rows(self, X: Any) -> Any:
        """Return rows as rows of columns; those of another shape are refused."""
        if self.shape is None:
            return X
        if not isinstance(X, np.ndarray) or X.shape[1:] != self.shape:
            given = getattr(X, "shape", (None,))[1:]
            raise faithkit.errors.InputError(
                f"gradient: X has rows of shape {given}; expected {self.shape}, as in the background."
            )
        return X.reshape(len(X), -1)

    def names(self, names: Any) -> Any:
        """Return what the columns are called: by their places in the row."""
        return names if self.shape is None else [str(list(place)) for place in np.ndindex(self.shape)]

    def predictor(self, predictor: faithkit.Predictor) -> faithkit.Predictor:
        """Return a predictor of such rows."""
        if self.shape is None:
            return predictor
        outcome = "numbers" if predictor.is_regressor else "labels"
        return faithkit.Predictor(
            _OfCells(predictor.model, self.shape), classes=predictor.classes, outcome=outcome
        )


class _OfCells:
    """A model of images as one of their cells: it has what the model has."""

    def __init__(self, model: Any, shape: tuple[int, ...]) -> None:
        self.__name__ = getattr(model, "__name__", None) or type(model).__name__  # what messages call it
        self.predict = partial(_asked, getattr(model, "predict", model), shape)
        for name in ("predict_proba", "decision_function"):
            if hasattr(model, name):
                setattr(self, name, partial(_asked, getattr(model, name), shape))
        module = module_of(model)
        if module is not None:
            nn = import_torch().nn
            self.module = nn.Sequential(nn.Unflatten(1, shape), module)


def _asked(method: Any, shape: tuple[int, ...], X: NDArray[Any]) -> Any:
    return method(X.reshape(len(X), *shape))
