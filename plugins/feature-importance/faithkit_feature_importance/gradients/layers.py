"""Linear models and multi-layer perceptrons as layers, with raw scores and exact gradients in NumPy.

Sums have a fixed order, input by input. The last bits of a matrix product depend on the number of rows, and
equal rows must get equal gradients in every batch.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Layers:
    """The weights (inputs, outputs) and biases of each layer, and the activation of hidden layers.

    Examples
    --------
    >>> weights, biases = [np.array([[1.0, -1.0]]), np.array([[2.0], [3.0]])], [np.zeros(2), np.zeros(1)]
    >>> network = Layers(weights, biases, "relu")
    >>> raw, gradient = network(np.array([[1.0], [-1.0]]))
    >>> raw.ravel(), gradient.ravel()
    (array([2., 3.]), array([ 2., -3.]))
    """

    weights: list[Floats]
    biases: list[Floats]
    activation: str = "identity"

    def __call__(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Return the raw scores (n, outputs) and their gradients (n, inputs, outputs)."""
        slopes = []
        outputs = _ordered_product(numbers, self.weights[0]) + self.biases[0]
        for weights, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            hidden, slope = _activate(outputs, self.activation)
            slopes.append(slope)
            outputs = _ordered_product(hidden, weights) + bias
        return outputs, self._backpropagate(slopes, len(numbers))

    def _backpropagate(self, slopes: list[Floats], n: int) -> Floats:
        last = self.weights[-1]
        gradient: Floats = np.broadcast_to(last, (n, *last.shape))
        for weights, slope in zip(self.weights[-2::-1], reversed(slopes), strict=True):
            inner = gradient * slope[:, :, None]
            gradient = np.zeros((n, len(weights), inner.shape[2]))
            for unit in range(weights.shape[1]):
                gradient += weights[:, unit, None] * inner[:, None, unit, :]
        return gradient


def read_layers(estimator: Any) -> Layers | None:
    """Read the layers of a linear model (`coef_`) or a multi-layer perceptron (`coefs_`); None for others.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> ridge = RidgeClassifier().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    >>> read_layers(ridge).weights[0].shape
    (2, 1)
    """
    if hasattr(estimator, "coefs_") and estimator.activation in _ACTIVATIONS:
        weights, biases = estimator.coefs_, estimator.intercepts_
        return Layers(
            list(map(_to_dense_floats, weights)), list(map(_to_dense_floats, biases)), estimator.activation
        )
    if hasattr(estimator, "coef_") and hasattr(estimator, "intercept_"):
        return Layers(
            [np.atleast_2d(_to_dense_floats(estimator.coef_)).T], [_to_dense_floats(estimator.intercept_)]
        )
    return None


def _to_dense_floats(coefficients: Any) -> Floats:
    """Return coefficients as a dense array; those of SGDClassifier may be sparse."""
    return np.asarray(
        coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients, dtype=np.float64
    )


def _ordered_product(numbers: Floats, weights: Floats) -> Floats:
    total = np.zeros((len(numbers), weights.shape[1]))
    for column, row in zip(numbers.T, weights, strict=True):
        total += column[:, None] * row
    return total


def _activate(inputs: Floats, activation: str) -> tuple[Floats, Floats]:
    """Return the activations and their derivatives."""
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
