"""What discretizers and relations read of feature importances, checked."""

import numpy as np
from numpy.typing import NDArray

import faithkit


def importances(
    who: str, explanations: faithkit.Explanations, *, offsets: bool = True
) -> NDArray[np.float64]:
    """Return the importances of all rows as float64, with or without the offsets behind them.

    Examples
    --------
    >>> phi = faithkit.Explanations.vectors([[1, 2, 9]], shared={"offsets": 1})
    >>> importances("rank", phi, offsets=False)
    array([[1., 2.]])
    """
    if explanations.kind != "vector":
        raise faithkit.InputError(
            f"{who} reads feature importances (kind 'vector'), and these explanations are of kind "
            f"{explanations.kind!r}: leave it out, or choose an explainer such as shap or lime."
        )
    values = np.asarray(explanations.values, dtype=np.float64)
    if not offsets:
        values = values[:, : values.shape[1] - explanations.shared.get("offsets", 0)]
    infinite = np.isinf(values).any(axis=1) & ~explanations.missing
    if infinite.any():
        raise faithkit.InputError(
            f"{who}: row {int(infinite.argmax())} has an infinite importance, which says nothing about the "
            "model: mend the explainer, or drop the row."
        )
    return values
