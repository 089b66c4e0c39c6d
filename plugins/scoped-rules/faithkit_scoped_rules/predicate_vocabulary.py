"""The predicates of empirical anchors: thresholds at quantiles, categories, and "is missing"."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

NONE = -1


@attrs.frozen(eq=False)
class _Column:
    """The predicates of one column; the first of them has the number `first` in the vocabulary."""

    name: str | int
    first: int
    cuts: NDArray[np.float64] | None  # None unless the column is numeric
    categories: list[Any]  # empty if the column is numeric

    @property
    def slots(self) -> int:
        """How many predicates of this column a row satisfies."""
        return len(self.cuts) or 1 if self.cuts is not None else 1

    def predicates(self) -> list[Any]:
        """Return all predicates of the column; the last one is for missing values."""
        if self.cuts is None:
            predicates: list[Any] = [faithkit.plugin.OneOf(self.name, [value]) for value in self.categories]
        else:
            predicates = []
            for cut in self.cuts:
                predicates += [
                    faithkit.plugin.Interval(self.name, high=cut),
                    faithkit.plugin.Interval(self.name, low=cut),
                ]
        return [*predicates, faithkit.plugin.OneOf(self.name, [], missing=True)]

    def satisfied(self, codes: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the numbers of the predicates that each row satisfies, one column per slot."""
        if self.cuts is None:
            return self._category_predicates(codes)[:, None]
        is_above = codes[:, None] > self.cuts[None, :]
        numbers = self.first + 2 * np.arange(len(self.cuts)) + is_above
        numbers = numbers if len(self.cuts) else np.full((len(codes), 1), NONE)
        is_missing = np.isnan(codes)
        numbers[is_missing] = NONE
        numbers[is_missing, 0] = self.first + 2 * len(self.cuts)
        return numbers

    def _category_predicates(self, codes: NDArray[np.float64]) -> NDArray[np.int64]:
        numbers = self.first + codes.astype(np.int64)
        return np.where(codes > len(self.categories), NONE, numbers)  # an unseen value satisfies none


class Vocabulary:
    """All predicates of a background, and which of them a row satisfies.

    Parameters
    ----------
    background : array or DataFrame
    bins : int
        The number of parts of equal size into which quantiles divide a numeric column.

    Examples
    --------
    >>> vocabulary = Vocabulary(np.array([[1.0], [2.0], [3.0], [4.0]]), bins=2)
    >>> [str(predicate) for predicate in vocabulary.predicates]
    ['0 ≤ 2', '0 > 2', '0 is missing']
    >>> vocabulary.satisfied(np.array([[1.5], [9.0], [np.nan]])).tolist()
    [[0], [1], [2]]
    """

    def __init__(self, background: Any, bins: int) -> None:
        self.encoder = faithkit.plugin.Encoder(background)
        codes = self.encoder.encode(background)
        names = background.columns.tolist() if hasattr(background, "columns") else range(codes.shape[1])
        self.columns: list[_Column] = []
        self.predicates: list[Any] = []
        for j, name in enumerate(names):
            column = self._build_column(j, name, codes[:, j], bins)
            self.columns.append(column)
            self.predicates += column.predicates()

    def _build_column(self, j: int, name: Any, codes: NDArray[np.float64], bins: int) -> _Column:
        first = len(self.predicates)
        if j in self.encoder.categories:
            return _Column(name, first, None, self.encoder.categories[j])
        values = codes[~np.isnan(codes)]
        shares = np.arange(1, bins) / bins
        cuts = np.unique(np.quantile(values, shares, method="lower")) if len(values) else np.empty(0)
        return _Column(name, first, cuts[cuts < values.max(initial=-np.inf)], [])

    def satisfied(self, X: Any) -> NDArray[np.int64]:
        """Return the numbers of the predicates that each row satisfies, padded with −1."""
        codes = self.encoder.encode(X, unseen="keep")
        return np.column_stack([column.satisfied(codes[:, j]) for j, column in enumerate(self.columns)])

    def rule(self, numbers: tuple[int, ...]) -> faithkit.Rule:
        """Return the conjunction of predicates, given by their numbers."""
        return self.encoder.rule(self.predicates[number] for number in numbers)
