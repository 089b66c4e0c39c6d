"""What the paper proves about a law that is known, as functions.

A law is given by, for every explanation π: p(π), how often it is provided; q(π), how often it holds;
and agreement(π), the chance that an instance for which it holds has the label of an instance it explains.
"""

import numpy as np


def expected_estimate(p, q, agreement, n):
    """Return E[M̂] exactly: Σ p (1 − (1 − q)^(n−1)) · agreement.

    Examples
    --------
    Two equally likely explanations, each with one label, seen in two instances:

    >>> expected_estimate([0.5, 0.5], [0.5, 0.5], [1.0, 1.0], n=2)
    0.5
    """
    p, q, agreement = (np.asarray(part, dtype=float) for part in (p, q, agreement))
    return float(np.sum(p * (1 - (1 - q) ** (n - 1)) * agreement))


def measure_value(p, agreement):
    """Return the measure itself, E_X[q(f(X) | e(X))]: an average over instances, not over pairs.

    Examples
    --------
    >>> round(measure_value([0.9, 0.1], [1.0, 0.5]), 4)
    0.95
    """
    return float(np.dot(np.asarray(p, dtype=float), np.asarray(agreement, dtype=float)))


def bias_bound(p, q, n):
    """Bound how far below the measure the estimate is on average: Σ p e^(−(n−1) q).

    Examples
    --------
    >>> bias_bound([1.0], [1.0], n=1)
    1.0
    """
    return float(np.sum(np.asarray(p, dtype=float) * np.exp(-(n - 1) * np.asarray(q, dtype=float))))


def mse_bound_consistency(p, n):
    """Return Theorem 1 as it holds for consistency: 9/(4n) plus the squared bias bound.

    The paper's 4/n in place of 9/(4n) is true for consistency too, and false for general relations.

    Examples
    --------
    >>> round(mse_bound_consistency([1.0], n=9), 4)
    0.25
    """
    return 9 / (4 * n) + bias_bound(p, p, n) ** 2


def gibbs_error(joint):
    """Return E_G, the error of decoding a label at random with Pr(y | π); `joint[π, y]` is a law.

    Examples
    --------
    >>> gibbs_error([[0.25, 0.25], [0.5, 0.0]])
    0.25
    """
    joint = np.asarray(joint, dtype=float)
    mass = joint.sum(axis=1)
    squares = joint[mass > 0] ** 2 / mass[mass > 0][:, None]
    return float(1 - squares.sum())


def optimal_error(joint):
    """Return E_O, the error of decoding the most likely label.

    Examples
    --------
    >>> optimal_error([[0.25, 0.25], [0.5, 0.0]])
    0.25
    """
    return float(1 - np.asarray(joint, dtype=float).max(axis=1).sum())
