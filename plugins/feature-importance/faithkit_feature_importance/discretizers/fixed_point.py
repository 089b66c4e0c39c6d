"""Importances with few decimals: the paper's 1-FP and 2-FP."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import importances

BLOCK = 2**15  # cells: a block of them then stays in the cache
WHOLE = 2.0**53  # from here on neighbouring floats are further apart than the decimals that are kept
SURE = 2.0**49  # below, what is added to a product is less than a quarter


class FixedPoint:
    """Keep `digits` decimals of every importance: ⌊10^digits · φ⌋ / 10^digits.

    A number with so few decimals keeps them, as it is written: 0.29 stays 0.29. NaN stays NaN, which equals
    NaN; −0.0 becomes 0.0. An offset behind the importances is treated like them.

    Parameters
    ----------
    digits : int
        How many decimals to keep.
    how : str
        "floor", as the paper prints it, or "round" to the nearest.

    Examples
    --------
    >>> phi = faithkit.Explanations.vectors([[0.19, -0.01, 0.0]])
    >>> FixedPoint(digits=1).discretize(phi)
    array([[ 0.1, -0.1,  0. ]])
    >>> FixedPoint(digits=1, how="round").discretize(phi)
    array([[0.2, 0. , 0. ]])
    """

    tries: ClassVar = {"digits": range(5)}

    def __init__(self, digits: int = 1, how: str = "floor") -> None:
        error = faithkit.errors.ParameterError
        self.digits = faithkit.plugin.whole_number(digits, "fp: digits", least=0, most=15, error=error)
        if how not in ("floor", "round"):
            raise faithkit.errors.ParameterError(f"fp: how must be 'floor' or 'round', got {how!r}.")
        self.how = how

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the importances with few decimals."""
        values, scale = importances("fp", explanations), 10.0**self.digits
        cut = _floored if self.how == "floor" else _rounded
        kept = np.empty_like(values)
        size = max(1, BLOCK // max(1, values.shape[1]))
        for start in range(0, len(values), size):
            part = slice(start, start + size)
            kept[part] = cut(values[part], scale)
        kept += 0.0  # no −0.0 among the identities
        return kept


def _floored(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the largest n / scale that is not above each value, as floats compare.

    The product value · scale is rounded, so its floor is one too small for 0.29 · 100 = 28.999…96. A little
    above the product the floor is right or one too large; the quotient tells, for division rounds exactly.
    """
    cut, top = _scaled(values, scale)
    if not top < SURE:
        return _searched(values, scale)
    cut += 2.0**-51 * top
    np.floor(cut, out=cut)
    cut /= scale
    beyond = cut > values
    if beyond.any():
        cut[beyond] = _searched(values[beyond], scale)
    return cut


def _searched(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Try the whole numbers around each product; what has no room for decimals, and NaN, stays."""
    scaled, _ = _scaled(values, scale)
    near, small = np.rint(scaled), np.abs(scaled) < WHOLE
    found = np.where(small, (near - 1) / scale, values)
    for step in (0.0, 1.0):
        cut = (near + step) / scale
        found = np.where(small & (cut <= values), cut, found)
    return found


def _rounded(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the n / scale nearest to each value."""
    scaled, top = _scaled(values, scale)
    cut = np.rint(scaled)
    cut /= scale
    return cut if top < WHOLE else np.where(np.abs(scaled) < WHOLE, cut, values)


def _scaled(values: NDArray[np.float64], scale: float) -> tuple[NDArray[np.float64], float]:
    """Return the products, and the largest of their absolute values."""
    with np.errstate(over="ignore"):  # what is beyond all floats has no decimals, and stays as it is
        scaled = values * scale
    top = max(scaled.max(initial=0.0), -scaled.min(initial=0.0))
    return scaled, float(np.nanmax(np.abs(scaled), initial=0.0) if np.isnan(top) else top)
