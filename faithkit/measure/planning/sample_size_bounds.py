"""Sample sizes from the paper's bounds, made exact or corrected where needed.

All hold for consistency, whatever the frequencies of K explanations. The theory page derives each of them.
"""

import math
from decimal import Decimal, localcontext


def bias_sample_size(n_explanations: int, epsilon: float) -> int:
    """Return the smallest n with a bias of at most ε: about K/(e·ε) + 1/2.

    An explanation of mass p adds at most p(1 − p)^(n−1) to the bias. That is largest at p = 1/n, so the bias
    is at most K/n · (1 − 1/n)^(n−1), which is more than K/(e·n) and less than K/(e·(n−1)).

    Examples
    --------
    >>> bias_sample_size(2048, 0.1)
    7535
    """
    with localcontext(prec=_precision(n_explanations, epsilon)):
        K, limit = Decimal(n_explanations), _to_decimal(epsilon)
        n = math.ceil(K / (Decimal(1).exp() * limit))  # one or two below the answer
        while _max_bias(K, n) > limit:
            n += 1
    return n


def _max_bias(K: Decimal, n: int) -> Decimal:
    return K if n == 1 else K / n * (1 - 1 / Decimal(n)) ** (n - 1)


def interval_sample_size(n_explanations: int, epsilon: float, confidence: float = 0.95) -> int:
    """Return the smallest n for which the interval's expected half-width is at most ε.

    The width of the interval is the share that could not be checked, at most K/(e·(n−1)), plus its two arms.
    Their standard errors are at most 3/2 and 1 over √(n−1).

    Examples
    --------
    >>> interval_sample_size(2048, 0.1), interval_sample_size(2, 0.05)
    (5617, 2465)
    """
    from scipy.special import ndtri

    with localcontext(prec=_precision(n_explanations, epsilon)):
        z, limit = Decimal(float(ndtri(0.5 + confidence / 2))), _to_decimal(epsilon)
        unchecked_scale = n_explanations / Decimal(1).exp()

        def is_narrow(n: int) -> bool:
            arms = z * Decimal("2.5") / Decimal(n - 1).sqrt() + (z * z + 1) / (2 * n)
            return (unchecked_scale / (n - 1) + arms) / 2 <= limit

        low, high = 1, 2
        while not is_narrow(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_narrow(middle) else (middle, high)
    return high


def corollary_sample_size(n_explanations: int, epsilon: float) -> int:
    """Return the paper's n for a mean-squared error of at most ε: K·(12/ε)·log(3/ε).

    Examples
    --------
    >>> corollary_sample_size(2048, 0.1)
    835879
    """
    with localcontext(prec=_precision(n_explanations, epsilon)):
        limit = _to_decimal(epsilon)
        return math.ceil(n_explanations * 12 / limit * (3 / limit).ln())


def _to_decimal(epsilon: float) -> Decimal:
    return Decimal(str(float(epsilon)))


def _precision(n_explanations: int, epsilon: float) -> int:
    """Return the number of digits that distinguish n from n + 1; floats cannot beyond 15 digits.

    After K and 1/ε comes a term of the order of 1/n or 1/√n, which needs as many digits again.
    """
    digits = n_explanations.bit_length() * math.log10(2) - math.log10(epsilon)
    return 20 + 2 * math.ceil(digits)
