"""Linear models and multi-layer perceptrons as layers: their raw scores and exact gradients, in NumPy.

Sums are taken in a fixed order, input by input: the last bits of a matrix product depend on how many rows
it has, and equal rows must get equal gradients in whatever batch they are.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Layers:
    """Weights (inputs, outputs) and biases of each layer, with one activation between them.

    Examples
    --------
    >>> relu = Layers([np.array([[1.0, -1.0]]), np.array([[2.0], [3.0]])], [np.zeros(2), np.zeros(1)], "relu")
    >>> raw, gradient = relu(np.array([[1.0], [-1.0]]))
    >>> raw.ravel(), gradient.ravel()
    (array([2., 3.]), array([ 2., -3.]))
    """

    weights: list[Floats]
    biases: list[Floats]
    activation: str = "identity"

    def __call__(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Return the raw scores (n, outputs) and their gradients (n, inputs, outputs)."""
        slopes = []
        outputs = _product(numbers, self.weights[0]) + self.biases[0]
        for weights, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            hidden, slope = _activated(outputs, self.activation)
            slopes.append(slope)
            outputs = _product(hidden, weights) + bias
        return outputs, self._backwards(slopes, len(numbers))

    def _backwards(self, slopes: list[Floats], n: int) -> Floats:
        last = self.weights[-1]
        gradient: Floats = np.broadcast_to(last, (n, *last.shape))
        for weights, slope in zip(self.weights[-2::-1], reversed(slopes), strict=True):
            inner = gradient * slope[:, :, None]
            gradient = np.zeros((n, len(weights), inner.shape[2]))
            for unit in range(weights.shape[1]):
                gradient += weights[:, unit, None] * inner[:, None, unit, :]
        return gradient


def read_layers(estimator: Any) -> Layers | None:
    """Read the layers of a linear model (`coef_`) or a multi-layer perceptron (`coefs_`), or return None.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> ridge = RidgeClassifier().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    >>> read_layers(ridge).weights[0].shape
    (2, 1)
    """
    if hasattr(estimator, "coefs_") and estimator.activation in _ACTIVATIONS:
        weights, biases = estimator.coefs_, estimator.intercepts_
        return Layers(list(map(_floats, weights)), list(map(_floats, biases)), estimator.activation)
    if hasattr(estimator, "coef_") and hasattr(estimator, "intercept_"):
        return Layers([np.atleast_2d(_floats(estimator.coef_)).T], [_floats(estimator.intercept_)])
    return None


def _floats(given: Any) -> Floats:
    """Return coefficients as an array; SGDClassifier can keep them sparse."""
    return np.asarray(given.toarray() if hasattr(given, "toarray") else given, dtype=np.float64)


def _product(numbers: Floats, weights: Floats) -> Floats:
    total = np.zeros((len(numbers), weights.shape[1]))
    for column, row in zip(numbers.T, weights, strict=True):
        total += column[:, None] * row
    return total


def _activated(inputs: Floats, activation: str) -> tuple[Floats, Floats]:
    """Return the activation and its derivative."""
    from scipy.special import expit

    if activation == "relu":
        return np.maximum(inputs, 0.0), (inputs > 0).astype(np.float64)
    if activation == "tanh":
        outputs = np.tanh(inputs)
        return outputs, 1.0 - outputs**2
    if activation == "logistic":
        return expit(inputs), expit(inputs) * expit(-inputs)
    return inputs, np.ones_like(inputs)


_ACTIVATIONS = ("identity", "logistic", "tanh", "relu")
