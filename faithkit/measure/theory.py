"""What the paper proves, as functions: exact where it can be, corrected where it must be.

A law is given by, for every explanation π: p(π), how often it is provided; q(π), how often it holds;
and agreement(π), the chance that an instance for which it holds has the label of an instance it explains.
"""

import math
from contextlib import AbstractContextManager
from decimal import Context, Decimal, localcontext

import numpy as np
from numpy.typing import ArrayLike

from faithkit.errors import InputError


def expected_estimate(p: ArrayLike, q: ArrayLike, agreement: ArrayLike, n: int) -> float:
    """Return E[M̂] exactly: Σ p (1 − (1 − q)^(n−1)) · agreement.

    Examples
    --------
    Two equally likely explanations, each with one label, seen in two instances:

    >>> expected_estimate([0.5, 0.5], [0.5, 0.5], [1.0, 1.0], n=2)
    0.5
    """
    p, q, agreement = (np.asarray(part, dtype=float) for part in (p, q, agreement))
    return float(np.sum(p * (1 - (1 - q) ** (n - 1)) * agreement))


def measure_value(p: ArrayLike, agreement: ArrayLike) -> float:
    """Return the measure itself, E_X[q(f(X) | e(X))]: an average over instances, not over pairs.

    Examples
    --------
    >>> round(measure_value([0.9, 0.1], [1.0, 0.5]), 4)
    0.95
    """
    return float(np.dot(np.asarray(p, dtype=float), np.asarray(agreement, dtype=float)))


def bias_bound(p: ArrayLike, q: ArrayLike, n: int) -> float:
    """Bound how far below the measure the estimate is on average: Σ p e^(−(n−1) q).

    Examples
    --------
    >>> bias_bound([1.0], [1.0], n=1)
    1.0
    """
    return float(np.sum(np.asarray(p, dtype=float) * np.exp(-(n - 1) * np.asarray(q, dtype=float))))


def mse_bound_consistency(p: ArrayLike, n: int) -> float:
    """Return Theorem 1 as it holds for consistency: 9/(4n) plus the squared bias bound.

    The paper's 4/n in place of 9/(4n) is true for consistency too, and false for general relations.

    Examples
    --------
    >>> round(mse_bound_consistency([1.0], n=9), 4)
    0.25
    """
    return 9 / (4 * n) + bias_bound(p, p, n) ** 2


def bias_sample_size(n_explanations: int, epsilon: float) -> int:
    """Return the n that makes the bias at most ε for any law on K explanations: about K/(e·ε).

    The worst law gives each explanation the mass 1/n, and then the bias is K/n · (1 − 1/n)^(n−1).

    Examples
    --------
    >>> bias_sample_size(2048, 0.1)
    7535
    """
    with _enough_digits(n_explanations, epsilon):
        K, limit = Decimal(n_explanations), Decimal(str(float(epsilon)))
        n = math.ceil(K / (Decimal(1).exp() * limit))  # one or two below the answer
        while _worst_bias(K, n) > limit:
            n += 1
    return n


def _worst_bias(K: Decimal, n: int) -> Decimal:
    return K if n == 1 else K / n * (1 - 1 / Decimal(n)) ** (n - 1)


def _enough_digits(n_explanations: int, epsilon: float) -> AbstractContextManager[Context]:
    """Reckon with decimals that tell n from n + 1: floats do not where n has more than 15 digits.

    Beside K and 1/ε the next term counts, of the order of 1/n, which takes as many digits again.
    """
    digits = n_explanations.bit_length() * math.log10(2) - math.log10(epsilon)
    return localcontext(prec=20 + 2 * math.ceil(digits))


def corollary_sample_size(n_explanations: int, epsilon: float) -> int:
    """Return the paper's n for a mean-squared error of at most ε: K·(12/ε)·log(3/ε).

    Examples
    --------
    >>> corollary_sample_size(2048, 0.1)
    835879
    """
    with _enough_digits(n_explanations, epsilon):
        limit = Decimal(str(float(epsilon)))
        return math.ceil(n_explanations * 12 / limit * (3 / limit).ln())


def local_sample_size(epsilon: float, failure: float = 0.1) -> int:
    """Return Hoeffding's number of instances sharing the explanation, for a local error of at most ε.

    Examples
    --------
    >>> local_sample_size(0.1)
    150
    """
    if not 0 < epsilon < 1 or not 0 < failure < 1:
        raise InputError(f"epsilon and failure must lie between 0 and 1, got {epsilon!r} and {failure!r}.")
    return math.ceil(math.log(2 / failure) / (2 * epsilon**2))


def gibbs_error(joint: ArrayLike) -> float:
    """Return E_G, the error of decoding a label at random with Pr(y | π); `joint[π, y]` is a law.

    Examples
    --------
    >>> gibbs_error([[0.25, 0.25], [0.5, 0.0]])
    0.25
    """
    joint = np.asarray(joint, dtype=float)
    mass = joint.sum(axis=1)
    kept = joint[mass > 0] ** 2 / mass[mass > 0][:, None]
    return float(1 - kept.sum())


def optimal_error(joint: ArrayLike) -> float:
    """Return E_O, the error of decoding the most likely label.

    Examples
    --------
    >>> optimal_error([[0.25, 0.25], [0.5, 0.0]])
    0.25
    """
    return float(1 - np.asarray(joint, dtype=float).max(axis=1).sum())
