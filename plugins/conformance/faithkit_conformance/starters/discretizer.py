"""A discretizer that keeps the most important feature and its sign."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from faithkit import Explanations


class Starter:
    """Keep the feature with the largest absolute importance, and its sign.

    Examples
    --------
    >>> Starter().discretize(Explanations.vectors([[0.5, -0.9], [0.1, -0.2], [0.3, 0.1]])).tolist()
    [[1.0, -1.0], [1.0, -1.0], [0.0, 1.0]]
    """

    def discretize(self, explanations: Explanations) -> Any:
        """Return one row per explanation; equal rows count as the same explanation."""
        top = np.abs(explanations.values).argmax(axis=1)
        sign = np.sign(np.take_along_axis(explanations.values, top[:, None], axis=1)[:, 0])
        return np.column_stack([top, sign])

    def describe(self, identity: Any, names: Sequence[str] | None) -> str:
        """Return the text that people see for one row of `discretize`."""
        feature, sign = map(int, identity)
        return f"{feature if names is None else names[feature]} {'−0+'[sign + 1]}"
