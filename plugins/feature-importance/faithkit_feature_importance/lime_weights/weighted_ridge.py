"""LIME's linear model for many rows at once: ridge regression on weighted perturbations."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDING = 2.0**-45  # the share of a score by which arithmetic may change it


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
    share = (weights / weights.sum(axis=1, keepdims=True))[:, :, None]
    rise = scores - scores[:, :, :1]
    rise[np.abs(rise) <= ROUNDING * np.abs(scores)] = 0.0  # where all scores are alike, so no feature counts
    center, level = features @ share, rise @ share
    root = np.sqrt(weights)[:, None, :]
    y = (rise - level) * root
    z = np.subtract(features, center, out=features if overwrite else None)
    z *= root
    gram = z @ z.transpose(0, 2, 1) + np.eye(z.shape[1])  # the intercept is not penalised: z is centred
    coefficients = np.linalg.solve(gram, z @ y.transpose(0, 2, 1))
    intercepts = scores[:, :, 0] + level[:, :, 0] - (coefficients.transpose(0, 2, 1) @ center)[:, :, 0]
    return coefficients, intercepts


def kernel(squared_distances: Floats, width: float) -> Floats:
    """Return the weight of a perturbation by its distance: √exp(−d² / width²), as lime has it.

    Examples
    --------
    >>> kernel(np.array([0.0, 2.0]), width=1.0).round(3).tolist()
    [1.0, 0.368]
    """
    return np.exp(squared_distances * (-0.5 / width**2))
