"""The direction of importances: of all of them, or of the largest alone."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import importances, largest

_WORDS = {1: "+", -1: "−"}


class Sign:
    """Keep the sign of every importance: −1, 0 or 1.

    Zeros occur (a feature that a tree never asks about), so there are three values; NaN stays NaN. An offset
    behind the importances is treated like them.

    Examples
    --------
    >>> Sign().discretize(faithkit.Explanations.vectors([[0.3, -0.2, -0.0]]))
    array([[ 1., -1.,  0.]])
    """

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the signs."""
        signs: NDArray[np.float64] = np.sign(importances("sign", explanations))
        return signs

    def tell(self, identity: NDArray[np.float64], names: list[str] | None) -> str:
        """Word one row of signs; what has none is left out."""
        return told(identity, names)


class SignOfTop:
    """Keep the sign of the k largest absolute importances, and 0 for all others.

    Importances are ranked by absolute value, equal ones by column, and those of the k highest ranks are kept:
    of equal importances at the edge the later columns. NaN ranks lowest. With target=all the
    importances of all classes are ranked together; an offset behind the importances is left out.

    Parameters
    ----------
    k : int
        How many importances are kept.

    Examples
    --------
    >>> SignOfTop(k=2).discretize(faithkit.Explanations.vectors([[0.1, -0.3, 0.2]]))
    array([[ 0, -1,  1]], dtype=int8)
    """

    tries: ClassVar = {"k": range(1, 6)}

    def __init__(self, k: int = 5) -> None:
        self.k = faithkit.plugin.whole_number(
            k, "sign-of-top: k", least=1, error=faithkit.errors.ParameterError
        )

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.int8]:
        """Return the signs of the largest, in their columns."""
        values = importances("sign-of-top", explanations, offsets=False)
        if self.k > values.shape[1]:
            raise faithkit.errors.InputError(
                f"sign-of-top: k is {self.k}, and the explanations have {values.shape[1]} importances: "
                "choose a smaller k, or the discretizer 'sign'."
            )
        signs = (values > 0).view(np.int8) - (values < 0).view(np.int8)
        signs *= largest(values, self.k).view(np.int8)
        return signs

    def tell(self, identity: NDArray[np.int8], names: list[str] | None) -> str:
        """Word the signs of the largest."""
        return told(identity, names)


def told(signs: NDArray[Any], names: list[str] | None) -> str:
    """Name what has a sign: of an image's thousand cells, five.

    Examples
    --------
    >>> told(np.array([0, -1, 1]), ["age", "sex", "job"])
    'sex −, job +'
    """
    known = names or [str(j) for j in range(len(signs))]
    named = zip(known, signs.tolist(), strict=False)
    parts = (f"{name} {_WORDS.get(sign, 'missing')}" for name, sign in named if sign)
    return ", ".join(parts) or "0 everywhere"
