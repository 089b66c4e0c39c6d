"""Rescale SHAP values from log-odds to probabilities, as shap does, by a short sum of products.

SHAP values of log-odds F against one reference row r become values of the probability p by the factor (p(x) −
p(r)) / (F(x) − F(r)), which differs for each pair of rows. The factor is a smooth and symmetric function of
F(x) and F(r). So on an interval it is a sum of few products g(F(x)) · ±g(F(r)), and reference rows are
counted once for each product instead of once for each row. For rows of equal log-odds, the factor is its
limit, the slope p (1 − p), where shap divides one rounding error by another.
"""

import attrs
import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.errors import UnreadableError

Floats = NDArray[np.float64]
MAX_ERROR = 1e-10  # of the factor, which lies between 0 and 1/4
MAX_WIDTH = 150.0  # of the interval of log-odds: in wider ones, finding the products takes long
POLE = np.pi  # distance of the poles of the sigmoid from the real line


@attrs.frozen
class Rescaling:
    """The factor between log-odds and probability for pairs of log-odds in an interval.

    Parameters
    ----------
    low, high : float
        The ends of the interval.
    series : (degree, terms)
        The functions g as Chebyshev series.
    signs : (terms,)
        The sign of each product.

    Examples
    --------
    >>> rescaling = Rescaling.on_interval(-10.0, 10.0)
    >>> x, r = np.array([3.0]), np.array([-1.0])
    >>> factor = (rescaling.signs * rescaling.terms(x) * rescaling.terms(r)).sum(axis=1)
    >>> bool(np.allclose(factor, (probability(x) - probability(r)) / (x - r), rtol=0, atol=1e-10))
    True
    """

    low: float
    high: float
    series: Floats = attrs.field(repr=False)
    signs: Floats = attrs.field(repr=False)

    @classmethod
    def on_interval(cls, low: float, high: float) -> "Rescaling":
        """Find the fewest products that approximate the factor on an interval up to MAX_ERROR."""
        if not high - low <= MAX_WIDTH:
            raise UnreadableError(f"its log-odds may lie {high - low:.0f} apart, more than {MAX_WIDTH:.0f}")
        center, half_width = (low + high) / 2, max((high - low) / 2, 1.0)
        # the convergence rate of the series, per term
        rate = POLE / half_width + np.hypot(1.0, POLE / half_width)
        n_points = int(np.log(1e12) / np.log(rate)) + 8
        angles = np.pi * (np.arange(n_points) + 0.5) / n_points
        points = center + half_width * np.cos(angles)
        factors = _pairwise_factors(points)
        eigenvalues, eigenvectors = np.linalg.eigh(factors)
        order = np.argsort(-np.abs(eigenvalues))
        eigenvectors, eigenvalues = eigenvectors[:, order], eigenvalues[order]
        n_terms = _count_terms(factors, eigenvectors, eigenvalues)
        scaled = eigenvectors[:, :n_terms] * np.sqrt(np.abs(eigenvalues[:n_terms]))
        series = 2 / n_points * np.cos(np.outer(np.arange(n_points), angles)) @ scaled
        series[0] /= 2
        return cls(center - half_width, center + half_width, series, np.sign(eigenvalues[:n_terms]))

    def terms(self, log_odds: Floats) -> Floats:
        """Return the functions g at each of the log-odds, (n, terms)."""
        center, half_width = (self.low + self.high) / 2, (self.high - self.low) / 2
        values = chebyshev.chebval((log_odds - center) / half_width, self.series)
        return np.ascontiguousarray(values.T, dtype=np.float64)


def probability(log_odds: Floats) -> Floats:
    """Convert log-odds to probabilities.

    >>> probability(np.array([0.0, 800.0, -800.0]))
    array([0.5, 1. , 0. ])
    """
    from scipy.special import expit

    probabilities: Floats = expit(log_odds)
    return probabilities


def _pairwise_factors(points: Floats) -> Floats:
    """Return the factors of all pairs, by a formula that loses no digits for nearby points."""
    half_differences = np.subtract.outer(points, points) / 2
    ratios = np.where(
        half_differences == 0,
        1.0,
        np.sinh(half_differences) / np.where(half_differences == 0, 1.0, half_differences),
    )
    return ratios / (4 * np.outer(np.cosh(points / 2), np.cosh(points / 2)))


def _count_terms(factors: Floats, eigenvectors: Floats, eigenvalues: Floats) -> int:
    """Return the number of products after which no pair is off by more than MAX_ERROR."""
    remainder = factors.copy()
    for n_terms, (eigenvector, eigenvalue) in enumerate(
        zip(eigenvectors.T, eigenvalues, strict=True), start=1
    ):
        remainder -= eigenvalue * np.outer(eigenvector, eigenvector)
        if np.abs(remainder).max() <= MAX_ERROR:
            return n_terms
    return len(eigenvalues)
