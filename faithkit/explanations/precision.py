"""Rounding of computed explanations, so that floating-point noise does not make them differ.

The rounding of sums depends on the machine, the threads and the batch. A linear model may score a row alone
1e-16 differently from the same row in a batch of six. Without rounding, a row that is explained again later
would share its explanation with no other row. Computed vectors are therefore rounded to a number of decimals:
far coarser than the noise, far finer than any difference that matters. The explanations of the sample fix the
number of decimals once, and `shared` stores it. Later explanations of the same system are rounded alike.
Logged values are never rounded.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.containers import EXACT_LIMIT
from faithkit.explanations.explanations import Explanations

DECIMALS = "decimals"
"""The key in `Explanations.shared` of the number of decimals of each column."""

# digits after the leading digit of a column's scale, and of the largest column's scale, by single precision:
# the error of a sum is that of its largest term
_COLUMN_DIGITS = {False: 8, True: 4}
_LARGEST_COLUMN_DIGITS = {False: 12, True: 5}
_TYPICAL_QUANTILE = 0.9  # a few rows of huge numbers must not set the scale of all
_EXPONENT_SHIFT = 0.1234  # exponents change between round numbers, where noise cannot decide
_MAX_DECIMALS = 300  # no float has more decimals

Decimals = NDArray[np.int64]


def choose_decimals(explanations: Explanations, single: bool = False) -> Decimals | None:
    """Return the number of decimals to round each column to; None if there is nothing to round.

    The scale of a column is the 0.9 quantile of its absolute values. A column of integers, such as counts,
    is not changed.

    Parameters
    ----------
    explanations : Explanations
        The explanations of the sample.
    single : bool
        Whether the model scores, and so the explanations, have single precision.

    Examples
    --------
    >>> choose_decimals(Explanations.vectors([[0.5, -20.5], [0.25, 0.0]]))
    array([9, 7])
    >>> choose_decimals(Explanations.of(["age", "sex"])) is None
    True
    """
    values = explanations.values
    if explanations.kind != "vector" or values.dtype not in (np.float64, np.float32):
        return None
    present = values[~explanations.missing].astype(np.float64)
    magnitudes = np.abs(np.where(np.isfinite(present), present, 0.0))
    if not magnitudes.any():
        return None
    single = single or values.dtype == np.float32
    largest = _typical_magnitude(magnitudes.max(axis=1)) or magnitudes.max()
    limit = _LARGEST_COLUMN_DIGITS[single] - _leading_exponent(largest)
    column_limit = _COLUMN_DIGITS[single] - _leading_exponent(_typical_magnitude(magnitudes))
    is_integer_column = ((magnitudes == np.rint(magnitudes)) & (magnitudes < EXACT_LIMIT)).all(axis=0)
    decimals = np.where(is_integer_column, max(limit, 0), np.minimum(column_limit, limit))
    return np.asarray(np.minimum(decimals, _MAX_DECIMALS))


def _typical_magnitude(magnitudes: NDArray[np.float64]) -> Any:
    return np.quantile(magnitudes, _TYPICAL_QUANTILE, axis=0, method="higher")


def _leading_exponent(magnitudes: Any) -> Any:
    """Return the decimal exponent of the leading digit; 0 gets an exponent below all others."""
    with np.errstate(divide="ignore"):
        exponents = np.floor(np.log10(magnitudes) + _EXPONENT_SHIFT)
    return np.maximum(exponents, -2.0 * _MAX_DECIMALS).astype(np.int64)


def round_columns(explanations: Explanations, decimals: Decimals | None) -> Explanations:
    """Round every column to its number of decimals, and store that number in `shared`.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.1 + 0.2], [0.3]])
    >>> round_columns(phi, choose_decimals(phi)).values.tolist()
    [[0.3], [0.3]]
    """
    if decimals is None:
        return explanations
    values = explanations.values
    scale_up, scale_down = 10.0 ** np.maximum(decimals, 0), 10.0 ** np.maximum(-decimals, 0)
    with np.errstate(over="ignore", invalid="ignore"):  # infinities, and numbers too large for decimals
        steps = values * scale_up / scale_down
        nearest = np.rint(steps) * scale_down / scale_up + 0.0
        nearest = np.where(np.abs(steps) < EXACT_LIMIT, nearest, values)
    return attrs.evolve(
        explanations,
        values=nearest.astype(values.dtype, copy=False),
        shared={**explanations.shared, DECIMALS: decimals.tolist()},
    )


class Original:
    """Compare explanations as they are.

    Computed vectors arrive rounded, so that the last bits of a sum do not make two vectors differ. They keep
    eight digits after the leading digit of a typical value of their column, and at most twelve after the
    leading digit of the largest column (four and five if the model scores in single precision).
    `shared["decimals"]` has the number of decimals. Logged vectors are compared exactly.

    Examples
    --------
    >>> Original().discretize(Explanations.vectors([[0.25]]))
    array([[0.25]])
    """

    def discretize(self, explanations: Explanations) -> Any:
        """Return the values unchanged."""
        return explanations.values
