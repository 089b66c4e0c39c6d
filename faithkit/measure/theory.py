"""The sample sizes that the paper's bounds ask for: exact where they can be, corrected where they must be."""

import math
from contextlib import AbstractContextManager
from decimal import Context, Decimal, localcontext


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
