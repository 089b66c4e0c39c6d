"""The linear model of LIME for many rows at once: ridge regression on weighted perturbations."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDING = 2.0**-45  # relative rounding error of a score


def weighted_ridge(
    features: Floats, scores: Floats, weights: Floats, *, overwrite: bool = False
) -> tuple[Floats, Floats]:
    """Fit one ridge regression per row and class: scikit-learn's `Ridge(alpha=1)` with `sample_weight`.

    Parameters
    ----------
    features : (rows, columns, samples)
    scores : (rows, classes, samples)
    weights : (rows, samples)
    overwrite : bool
        Whether the memory of the features may be reused.

    Returns
    -------
    coefficients : (rows, columns, classes)
    intercepts : (rows, classes)

    Examples
    --------
    >>> x = np.array([[[0.0, 1.0, 2.0]]])
    >>> coefficients, intercepts = weighted_ridge(x, 6 * x, np.ones((1, 3)))
    >>> coefficients.tolist(), intercepts.tolist()  # 12 / (2 + alpha); the mean minus the slope
    ([[[4.0]]], [[2.0]])
    """
    shares = (weights / weights.sum(axis=1, keepdims=True))[:, :, None]
    rises = scores - scores[:, :, :1]
    rises[np.abs(rises) <= ROUNDING * np.abs(scores)] = 0.0  # if all scores are equal, all coefficients are 0
    means, mean_rises = features @ shares, rises @ shares
    roots = np.sqrt(weights)[:, None, :]
    y = (rises - mean_rises) * roots
    z = np.subtract(features, means, out=features if overwrite else None)
    z *= roots
    gram = z @ z.transpose(0, 2, 1) + np.eye(z.shape[1])  # z is centred, so the intercept is not penalised
    coefficients = np.linalg.solve(gram, z @ y.transpose(0, 2, 1))
    intercepts = scores[:, :, 0] + mean_rises[:, :, 0] - (coefficients.transpose(0, 2, 1) @ means)[:, :, 0]
    return coefficients, intercepts


def kernel_weights(squared_distances: Floats, width: float) -> Floats:
    """Return the weight of perturbations by their squared distance: √exp(−d² / width²), as in lime.

    Examples
    --------
    >>> kernel_weights(np.array([0.0, 2.0]), width=1.0).round(3).tolist()
    [1.0, 0.368]
    """
    return np.exp(squared_distances * (-0.5 / width**2))
