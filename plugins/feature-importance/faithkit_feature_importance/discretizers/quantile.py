"""The discretizer `quantile`: the quantile bin of each importance, learnt on the background."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.equal_bins import find_bins, learn_cuts
from faithkit_feature_importance.importances import ROWS_PER_BATCH, read_importances


class Quantile:
    """Keep the quantile bin of every importance. It suits explanations of unknown scale.

    The bins of a column are learnt from the explanations of the background, so that they do not depend on the
    sample. Logs have no background: their bins are learnt from the logged explanations, with a warning. In a
    column with few distinct values, each value has its own bin. NaN stays NaN. Not in the paper.

    Parameters
    ----------
    bins : int
        The number of quantile bins of a column.

    Examples
    --------
    >>> background = faithkit.Explanations.vectors([[1.0], [20.0], [300.0], [4000.0]])
    >>> halves = Quantile(bins=2).fit(background)
    >>> halves.discretize(faithkit.Explanations.vectors([[-5.0], [20.0], [21.0]])).ravel()
    array([0., 0., 1.])
    """

    tries: ClassVar = {"bins": range(2, 9)}

    def __init__(self, bins: int = 4) -> None:
        self.bins = faithkit.plugin.check_integer(
            bins, "quantile: bins", minimum=2, error=faithkit.errors.ParameterError
        )

    def fit(self, explanations: faithkit.Explanations) -> "Quantile":
        """Learn the bins of every column from explanations of the background."""
        rows = read_importances("quantile", explanations)[~explanations.missing]
        self.cuts_ = [learn_cuts(column, self.bins) for column in rows.T]
        return self

    @property
    def phrase(self) -> str:
        """What happens to explanations, in words."""
        return f"by {self.bins} bins of each importance"

    def discretize(self, explanations: faithkit.Explanations) -> NDArray[np.float64]:
        """Return the bin of every importance, counted from 0."""
        values = read_importances("quantile", explanations)
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
        bin_numbers = np.empty_like(values)
        for start in range(0, len(values), ROWS_PER_BATCH):
            batch = slice(start, start + ROWS_PER_BATCH)
            for j, column_cuts in enumerate(cuts):
                bin_numbers[batch, j] = find_bins(values[batch, j], column_cuts)
        return bin_numbers

    def describe(self, identity: NDArray[np.float64], names: list[str] | None) -> str:
        """Describe one row of bins, counted from 1."""
        column_names = names or [str(j) for j in range(len(identity))]
        bins = ["missing" if np.isnan(number) else f"{int(number) + 1}" for number in identity.tolist()]
        return ", ".join(f"{name} in bin {bin_}" for name, bin_ in zip(column_names, bins, strict=False))
