"""The sample sizes that the paper's bounds ask for: exact where they can be, corrected where they must be.

All hold for consistency, whatever the frequencies of K explanations; the theory page derives each one.
"""

import math
from decimal import Decimal, localcontext


def bias_sample_size(n_explanations: int, epsilon: float) -> int:
    """Return the n that makes the bias at most ε: about K/(e·ε) + 1/2.

    An explanation of mass p adds at most p(1 − p)^(n−1) to the bias, which is largest at p = 1/n, so the bias
    is at most K/n · (1 − 1/n)^(n−1): more than K/(e·n), and less than K/(e·(n−1)).

    Examples
    --------
    >>> bias_sample_size(2048, 0.1)
    7535
    """
    with localcontext(prec=_digits(n_explanations, epsilon)):
        K, limit = Decimal(n_explanations), _exactly(epsilon)
        n = math.ceil(K / (Decimal(1).exp() * limit))  # one or two below the answer
        while _most_bias(K, n) > limit:
            n += 1
    return n


def _most_bias(K: Decimal, n: int) -> Decimal:
    return K if n == 1 else K / n * (1 - 1 / Decimal(n)) ** (n - 1)


def interval_sample_size(n_explanations: int, epsilon: float, confidence: float = 0.95) -> int:
    """Return the n at which half of the interval's width is expected to be at most ε.

    The interval is as wide as the share that could not be checked, K/(e·(n−1)) at most, and its two arms,
    whose standard errors are at most 3/2 and 1 over √(n−1).

    Examples
    --------
    >>> interval_sample_size(2048, 0.1), interval_sample_size(2, 0.05)
    (5617, 2465)
    """
    from scipy.special import ndtri

    with localcontext(prec=_digits(n_explanations, epsilon)):
        z, limit = Decimal(float(ndtri(0.5 + confidence / 2))), _exactly(epsilon)
        scale = n_explanations / Decimal(1).exp()

        def is_narrow(n: int) -> bool:
            arms = z * Decimal("2.5") / Decimal(n - 1).sqrt() + (z * z + 1) / (2 * n)
            return (scale / (n - 1) + arms) / 2 <= limit

        least, most = 1, 2
        while not is_narrow(most):
            least, most = most, 2 * most
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (least, middle) if is_narrow(middle) else (middle, most)
    return most


def corollary_sample_size(n_explanations: int, epsilon: float) -> int:
    """Return the paper's n for a mean-squared error of at most ε: K·(12/ε)·log(3/ε).

    Examples
    --------
    >>> corollary_sample_size(2048, 0.1)
    835879
    """
    with localcontext(prec=_digits(n_explanations, epsilon)):
        limit = _exactly(epsilon)
        return math.ceil(n_explanations * 12 / limit * (3 / limit).ln())


def _exactly(epsilon: float) -> Decimal:
    return Decimal(str(float(epsilon)))


def _digits(n_explanations: int, epsilon: float) -> int:
    """Return the decimals that tell n from n + 1: floats do not where n has more than 15 digits.

    Beside K and 1/ε the next term counts, of the order of 1/n or 1/√n, which takes as many digits again.
    """
    digits = n_explanations.bit_length() * math.log10(2) - math.log10(epsilon)
    return 20 + 2 * math.ceil(digits)
