"""LIME's linear model for many rows at once: ridge regression on weighted perturbations."""

import contextlib
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def weighted_ridge(
    features: Floats, scores: Floats, weights: Floats, *, overwrite: bool = False
) -> tuple[Floats, Floats]:
    """Fit one ridge regression per row and class: scikit-learn's `Ridge(alpha=1)` with `sample_weight`.

    A row's numbers depend neither on the other rows nor on the number of threads, not even in the last bit:
    every product of matrices is one of a stack whose members have the same shape, and one thread makes it.

    Parameters
    ----------
    features : (rows, columns, samples)
    scores : (rows, classes, samples)
    weights : (rows, samples)
    overwrite : bool
        Whether the features' memory may be used for something else.

    Returns
    -------
    coefficients : (rows, columns, classes)
    intercepts : (rows, classes)

    Examples
    --------
    >>> x = np.array([[[0.0, 1.0, 2.0]]])
    >>> coefficients, intercepts = weighted_ridge(x, 6 * x, np.ones((1, 3)))
    >>> coefficients.tolist(), intercepts.tolist()  # 12 / (2 + alpha); the mean less the slope
    ([[[4.0]]], [[2.0]])
    """
    with _one_thread():
        return _fitted(features, scores, weights, features if overwrite else np.empty_like(features))


def _fitted(features: Floats, scores: Floats, weights: Floats, z: Floats) -> tuple[Floats, Floats]:
    share = (weights / weights.sum(axis=1, keepdims=True))[:, :, None]
    center, level = features @ share, scores @ share
    root = np.sqrt(weights)[:, None, :]
    y = (scores - level) * root
    np.subtract(features, center, out=z)
    z *= root
    gram = z @ z.transpose(0, 2, 1) + np.eye(z.shape[1])  # the intercept is not penalised: z is centred
    coefficients = np.linalg.solve(gram, z @ y.transpose(0, 2, 1))
    intercepts = level[:, :, 0] - (coefficients.transpose(0, 2, 1) @ center)[:, :, 0]
    return coefficients, intercepts


def kernel(squared_distances: Floats, width: float) -> Floats:
    """Return the weight of a perturbation by its distance: √exp(−d² / width²), as lime has it.

    Examples
    --------
    >>> kernel(np.array([0.0, 2.0]), width=1.0).round(3).tolist()
    [1.0, 0.368]
    """
    return np.exp(squared_distances * (-0.5 / width**2))


_TURN = threading.Lock()  # the number of threads belongs to the process: two that set it must not overlap


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let NumPy's linear algebra use one thread: several divide sums in their own way."""
    with _TURN, _blas().limit(limits=1):
        yield


@cache
def _blas() -> Any:
    """Find the libraries of linear algebra, once per process: that takes longer than fitting a row."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
