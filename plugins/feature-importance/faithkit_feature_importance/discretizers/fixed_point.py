"""Importances with few decimals: the paper's 1-FP and 2-FP."""

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import importances


class FixedPoint:
    """Keep `digits` decimals of every importance: ⌊10^digits · φ⌋ / 10^digits.

    NaN stays NaN, which equals NaN; −0.0 becomes 0.0. An offset behind the importances is treated like them.

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

    def __init__(self, digits: int = 1, how: str = "floor") -> None:
        if not isinstance(digits, int) or isinstance(digits, bool) or not 0 <= digits <= 15:
            raise faithkit.ParameterError(f"fp: digits must be a whole number from 0 to 15, got {digits!r}.")
        if how not in ("floor", "round"):
            raise faithkit.ParameterError(f"fp: how must be 'floor' or 'round', got {how!r}.")
        self.digits = digits
        self.how = how

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the importances with few decimals."""
        scale = 10.0**self.digits
        cut = np.floor if self.how == "floor" else np.round
        kept = importances("fp", explanations) * scale
        cut(kept, out=kept)
        kept /= scale
        kept += 0.0  # no −0.0 among the identities
        return kept
