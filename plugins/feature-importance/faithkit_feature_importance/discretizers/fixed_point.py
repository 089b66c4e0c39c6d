"""The discretizers `fp`, `1fp` and `2fp`: importances with few decimals, the paper's 1-FP and 2-FP."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import read_importances

VALUES_PER_BATCH = 2**15  # so that a batch stays in the processor's cache
NO_DECIMALS = 2.0**53  # from here on, floats are integers: there are no decimals to drop
SAFE_PRODUCT = 2.0**49  # below it, the correction that `_floor_values` adds is less than a quarter


class FixedPoint:
    """Keep `digits` decimals of every importance: ⌊10^digits · φ⌋ / 10^digits.

    A number with no more decimals stays as it is written: 0.29 stays 0.29. NaN stays NaN, which equals NaN.
    −0.0 becomes 0.0. An offset after the importances is treated like an importance.

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

    keeps_signs = True
    tries: ClassVar = {"digits": range(5)}

    def __init__(self, digits: int = 1, how: str = "floor") -> None:
        error = faithkit.errors.ParameterError
        self.digits = faithkit.plugin.check_integer(digits, "fp: digits", minimum=0, maximum=15, error=error)
        if how not in ("floor", "round"):
            raise faithkit.errors.ParameterError(f"fp: how must be 'floor' or 'round', got {how!r}.")
        self.how = how

    @property
    def phrase(self) -> str:
        """What happens to explanations, in words."""
        how = "down" if self.how == "floor" else "to the nearest"
        return f"rounded {how} to {self.digits} decimal{'' if self.digits == 1 else 's'}"

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the importances with few decimals."""
        values, scale = read_importances("fp", explanations), 10.0**self.digits
        drop_decimals = _floor_values if self.how == "floor" else _round_values
        discretized = np.empty_like(values)
        rows_per_batch = max(1, VALUES_PER_BATCH // max(1, values.shape[1]))
        for start in range(0, len(values), rows_per_batch):
            batch = slice(start, start + rows_per_batch)
            discretized[batch] = drop_decimals(values[batch], scale)
        discretized += 0.0  # turns −0.0 into 0.0
        return discretized


def _floor_values(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the largest n / scale, for integers n, that is not above each value in float comparison.

    The product value · scale is rounded, so its floor is one too small for 0.29 · 100 = 28.999…96. A slightly
    larger product has the right floor or one that is too large by one. Comparing n / scale with the value
    shows which, since division rounds exactly.
    """
    floored, largest = _scale_values(values, scale)
    if not largest < SAFE_PRODUCT:
        return _search_floor(values, scale)
    floored += 2.0**-51 * largest
    np.floor(floored, out=floored)
    floored /= scale
    is_above = floored > values
    if is_above.any():
        floored[is_above] = _search_floor(values[is_above], scale)
    return floored


def _search_floor(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Try the integers around each product. NaN and numbers without decimals stay as they are."""
    scaled, _ = _scale_values(values, scale)
    nearest, has_decimals = np.rint(scaled), np.abs(scaled) < NO_DECIMALS
    floored = np.where(has_decimals, (nearest - 1) / scale, values)
    for step in (0.0, 1.0):
        candidate = (nearest + step) / scale
        floored = np.where(has_decimals & (candidate <= values), candidate, floored)
    return floored


def _round_values(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the n / scale nearest to each value."""
    scaled, largest = _scale_values(values, scale)
    rounded = np.rint(scaled)
    rounded /= scale
    return rounded if largest < NO_DECIMALS else np.where(np.abs(scaled) < NO_DECIMALS, rounded, values)


def _scale_values(values: NDArray[np.float64], scale: float) -> tuple[NDArray[np.float64], float]:
    """Return value · scale, and the largest absolute product."""
    with np.errstate(over="ignore"):  # such numbers have no decimals and stay as they are
        scaled = values * scale
    largest = max(scaled.max(initial=0.0), -scaled.min(initial=0.0))
    return scaled, float(np.nanmax(np.abs(scaled), initial=0.0) if np.isnan(largest) else largest)
