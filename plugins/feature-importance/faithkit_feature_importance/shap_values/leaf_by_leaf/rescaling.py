"""From log-odds to probabilities: the factor by which shap rescales, as a short sum of products.

SHAP values of log-odds F against one reference row r become values of the probability p by the factor
(p(x) − p(r)) / (F(x) − F(r)), another one for each pair of rows. As a function of F(x) and F(r) it is smooth
and symmetric, so on an interval it is a sum of few products g(F(x)) · ±g(F(r)): then reference rows can be
counted once for each product, instead of once for each row. Between rows of equal log-odds it is the slope
p (1 − p), its limit, where shap divides one rounding error by another.
"""

import attrs
import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import UnreadableError

Floats = NDArray[np.float64]
ERROR = 1e-10  # of the factor, which lies between 0 and 1/4
WIDEST = 150.0  # interval of log-odds: beyond, finding the products takes long
POLE = np.pi  # how far from the line of real log-odds a probability stops to be smooth


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
    >>> rescaling = Rescaling.on(-10.0, 10.0)
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
    def on(cls, low: float, high: float) -> "Rescaling":
        """Find the fewest products that are good enough on an interval."""
        if not high - low <= WIDEST:
            raise UnreadableError(f"its log-odds may lie {high - low:.0f} apart, more than {WIDEST:.0f}")
        middle, half = (low + high) / 2, max((high - low) / 2, 1.0)
        ellipse = POLE / half + np.hypot(1.0, POLE / half)  # what the series converges by, a term
        n = int(np.log(1e12) / np.log(ellipse)) + 8
        angles = np.pi * (np.arange(n) + 0.5) / n
        points = middle + half * np.cos(angles)
        factors = _factors(points)
        sizes, functions = np.linalg.eigh(factors)
        order = np.argsort(-np.abs(sizes))
        functions, sizes = functions[:, order], sizes[order]
        terms = _fewest(factors, functions, sizes)
        kept = functions[:, :terms] * np.sqrt(np.abs(sizes[:terms]))
        series = 2 / n * np.cos(np.outer(np.arange(n), angles)) @ kept
        series[0] /= 2
        return cls(middle - half, middle + half, series, np.sign(sizes[:terms]))

    def terms(self, log_odds: Floats) -> Floats:
        """Return the functions g at each of the log-odds, (n, terms)."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        found = chebyshev.chebval((log_odds - middle) / half, self.series)
        return np.ascontiguousarray(found.T, dtype=np.float64)


def probability(log_odds: Floats) -> Floats:
    """Return the probability of log-odds.

    >>> probability(np.array([0.0, 800.0, -800.0]))
    array([0.5, 1. , 0. ])
    """
    from scipy.special import expit

    found: Floats = expit(log_odds)
    return found


def _factors(points: Floats) -> Floats:
    """Return the factor of all pairs, by a formula that loses no digits where two are near to each other."""
    half = np.subtract.outer(points, points) / 2
    near = np.where(half == 0, 1.0, np.sinh(half) / np.where(half == 0, 1.0, half))
    return near / (4 * np.outer(np.cosh(points / 2), np.cosh(points / 2)))


def _fewest(factors: Floats, functions: Floats, sizes: Floats) -> int:
    """Return after how many products no pair is off by more than ERROR."""
    rest = factors.copy()
    for term, (function, size) in enumerate(zip(functions.T, sizes, strict=True), start=1):
        rest -= size * np.outer(function, function)
        if np.abs(rest).max() <= ERROR:
            return term
    return len(sizes)
