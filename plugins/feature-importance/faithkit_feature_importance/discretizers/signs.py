"""The discretizers `sign` and `sign-of-top`: signs of all importances, or of the largest."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import mark_largest, read_importances

_SYMBOLS = {1: "+", -1: "−"}


class Sign:
    """Keep the sign of every importance: −1, 0 or 1.

    Zeros occur, for example for a feature that a tree never uses, so there are three values. NaN stays NaN.
    An offset after the importances is treated like an importance.

    Examples
    --------
    >>> Sign().discretize(faithkit.Explanations.vectors([[0.3, -0.2, -0.0]]))
    array([[ 1., -1.,  0.]])
    """

    keeps_signs = True
    phrase = "by the signs of importances"

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the signs."""
        signs: NDArray[np.float64] = np.sign(read_importances("sign", explanations))
        return signs

    def describe(self, identity: NDArray[np.float64], names: list[str] | None) -> str:
        """Describe one row of signs; columns with sign 0 are left out."""
        return describe_signs(identity, names)


class SignOfTop:
    """Keep the sign of the k largest absolute importances, and 0 for all others.

    Importances are ranked by absolute value, and equal ones by column, so that of equal importances the later
    columns are kept. NaN ranks lowest. With target=all, the importances of all classes are ranked together.
    An offset after the importances is dropped.

    Parameters
    ----------
    k : int
        How many importances to keep.

    Examples
    --------
    >>> SignOfTop(k=2).discretize(faithkit.Explanations.vectors([[0.1, -0.3, 0.2]]))
    array([[ 0, -1,  1]], dtype=int8)
    """

    keeps_signs = True
    tries: ClassVar = {"k": range(1, 6)}

    def __init__(self, k: int = 5) -> None:
        self.k = faithkit.plugin.check_integer(
            k, "sign-of-top: k", minimum=1, error=faithkit.errors.ParameterError
        )

    @property
    def phrase(self) -> str:
        """What happens to explanations, in words."""
        return (
            f"by the sign of the {'largest importance' if self.k == 1 else f'{self.k} largest importances'}"
        )

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.int8]:
        """Return the signs of the largest importances, 0 elsewhere."""
        values = read_importances("sign-of-top", explanations, offsets=False)
        if self.k > values.shape[1]:
            raise faithkit.errors.InputError(
                f"sign-of-top: k is {self.k}, and the explanations have {values.shape[1]} importances: "
                "choose a smaller k, or the discretizer 'sign'."
            )
        signs = (values > 0).view(np.int8) - (values < 0).view(np.int8)
        signs *= mark_largest(values, self.k).view(np.int8)
        return signs

    def describe(self, identity: NDArray[np.int8], names: list[str] | None) -> str:
        """Describe the signs of the largest importances."""
        return describe_signs(identity, names)


def describe_signs(signs: NDArray[Any], names: list[str] | None) -> str:
    """Return the names and signs of the columns whose sign is not 0.

    Examples
    --------
    >>> describe_signs(np.array([0, -1, 1]), ["age", "sex", "job"])
    'sex −, job +'
    """
    column_names = names or [str(j) for j in range(len(signs))]
    signed_columns = zip(column_names, signs.tolist(), strict=False)
    descriptions = (f"{name} {_SYMBOLS.get(sign, 'missing')}" for name, sign in signed_columns if sign)
    return ", ".join(descriptions) or "0 everywhere"
