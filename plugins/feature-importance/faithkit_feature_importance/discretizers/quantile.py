"""Importances on a scale of their own: bins of equal mass, learnt on the background."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.bins import learn_cuts, place
from faithkit_feature_importance.importances import BLOCK, importances


class Quantile:
    """Keep the quantile bin of every importance, for explanations whose scale nobody knows.

    The bins of a column are learnt from the explanations of the background, so that they do not depend on the
    sample; logs have no background, and are binned by themselves, with a warning. A column of few distinct
    values has one bin each. NaN stays NaN. Not in the paper.

    Parameters
    ----------
    bins : int
        How many parts of equal mass each column is cut into.

    Examples
    --------
    >>> background = faithkit.Explanations.vectors([[1.0], [20.0], [300.0], [4000.0]])
    >>> halves = Quantile(bins=2).fit(background)
    >>> halves.discretize(faithkit.Explanations.vectors([[-5.0], [20.0], [21.0]])).ravel()
    array([0., 0., 1.])
    """

    tries: ClassVar = {"bins": range(2, 9)}

    def __init__(self, bins: int = 4) -> None:
        self.bins = faithkit.plugin.whole_number(
            bins, "quantile: bins", least=2, error=faithkit.errors.ParameterError
        )

    def fit(self, explanations: faithkit.Explanations) -> "Quantile":
        """Learn the bins of every column from explanations of the background."""
        known = importances("quantile", explanations)[~explanations.missing]
        self.cuts_ = [learn_cuts(column, self.bins) for column in known.T]
        return self

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the number of every importance's bin, from 0."""
        values = importances("quantile", explanations)
        cuts = getattr(self, "cuts_", None)
        if cuts is None:
            raise faithkit.errors.InputError(
                "quantile has not learnt its bins: call fit with explanations of the background first."
            )
        if len(cuts) != values.shape[1]:
            raise faithkit.errors.InputError(
                f"quantile learnt the bins of {len(cuts)} importances, and these explanations have "
                f"{values.shape[1]}: give both the same columns."
            )
        places = np.empty_like(values)
        for start in range(0, len(values), BLOCK):
            part = slice(start, start + BLOCK)
            for j, ends in enumerate(cuts):
                places[part, j] = place(values[part, j], ends)
        return places

    def tell(self, identity: NDArray[np.float64], names: list[str] | None) -> str:
        """Word one row of bins, the lowest being 1."""
        told = names or [str(j) for j in range(len(identity))]
        bins = ("missing" if place != place else f"{int(place) + 1}" for place in identity.tolist())
        return ", ".join(f"{name} in bin {place}" for name, place in zip(told, bins, strict=False))
