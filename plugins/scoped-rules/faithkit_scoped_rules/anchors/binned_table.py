"""A table cut into anchor-exp's bins, with an additional bin for missing values.

A condition of an anchor is a range of bins of a column: a category, a side of a cut point, or a missing
value, which anchor-exp does not accept.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]
Bins = NDArray[np.signedinteger[Any]]
Bools = NDArray[np.bool_]

BINS = {"quartile": 4, "decile": 10}
RowNumbers = NDArray[np.int32]
MAX_CACHED_ROWS = 2**25  # 128 MB of row numbers


class Condition(NamedTuple):
    """A range of bins of a column: greater than `low`, at most `high`. Each predicate is a condition."""

    column: int
    low: int
    high: int

    def intersect(self, other: "Condition") -> "Condition":
        """Return the condition that holds where both hold."""
        return Condition(self.column, max(self.low, other.low), min(self.high, other.high))

    def holds(self, bins: Bins) -> Bools:
        """Return for which bins of the column the condition holds."""
        return (bins > self.low) & (bins <= self.high)


@attrs.frozen(eq=False)
class Column:
    """The bins of one column: one per category, or between cut points; the last one is for missing values."""

    categories: list[Any] | None
    cuts: Floats
    has_missing: bool
    integer_range: tuple[float, float] | None  # smallest and largest, if all numbers are integers

    @classmethod
    def learn(cls, codes: Floats, categories: list[Any] | None, n_bins: int) -> "Column":
        """Cut numbers at the quantiles of the background."""
        if categories is not None:
            return cls(categories, np.empty(0), bool((codes == len(categories)).any()), None)
        finite = codes[np.isfinite(codes)]
        percentiles = 100 * np.arange(1, n_bins) / n_bins
        cuts = np.unique(np.percentile(finite, percentiles)) if len(finite) else np.empty(0)
        are_integers = (
            len(finite) > 0 and not np.isinf(codes).any() and bool((finite == np.floor(finite)).all())
        )
        integer_range = (float(finite.min()), float(finite.max())) if are_integers else None
        return cls(None, cuts, bool(np.isnan(codes).any()), integer_range)

    @property
    def missing(self) -> int:
        """The bin of missing values, which is the last."""
        return len(self.cuts) + 1 if self.categories is None else len(self.categories)

    def bins(self, codes: Floats) -> Bins:
        """Return the bin of each value; the bin of a category is its code."""
        if self.categories is not None:
            return codes.astype(np.int64)
        return np.where(np.isnan(codes), self.missing, np.searchsorted(self.cuts, codes))

    def is_unusual(self, codes: Floats) -> Bools:
        """Return a mask of values that the background's dtype may not hold, such as NaN among integers."""
        if self.categories is not None:
            return (codes == self.missing) & (not self.has_missing)
        missing = np.isnan(codes)
        is_unusual = missing & (not self.has_missing)
        if self.integer_range is not None:
            low, high = self.integer_range
            is_unusual |= ~missing & ((codes < low) | (codes > high) | (codes != np.floor(codes)))
        return is_unusual

    def conditions(self, j: int, bin_number: int) -> list[Condition]:
        """Return the conditions that a value in this bin satisfies: its category, or its side of each cut."""
        if self.categories is not None or bin_number == self.missing:
            return [Condition(j, bin_number - 1, bin_number)]
        top = len(self.cuts)
        sides = [Condition(j, -1, cut) if bin_number <= cut else Condition(j, cut, top) for cut in range(top)]
        return [*sides, Condition(j, -1, top)] if self.has_missing else sides

    def predicate(
        self, name: str | int, condition: Condition
    ) -> faithkit.plugin.Interval | faithkit.plugin.OneOf:
        """Return a condition as a predicate on the values of the column, with exact cut points."""
        if condition.high == self.missing:
            return faithkit.plugin.OneOf(name, [], missing=True)
        if self.categories is not None:
            return faithkit.plugin.OneOf(name, [self.categories[condition.high]])
        edges = np.concatenate([[-np.inf], self.cuts, [np.inf]])
        return faithkit.plugin.Interval(name, edges[condition.low + 1], edges[condition.high + 1])


@attrs.frozen(eq=False)
class BinnedTable:
    """The rows of a background, as codes and as bins.

    Examples
    --------
    >>> table = BinnedTable.learn(np.array([[1.0], [2.0], [3.0], [np.nan]]), {}, "quartile")
    >>> table.bins.ravel().tolist()
    [0, 1, 3, 4]
    >>> conditions = table.conditions(np.array([2.5]))
    >>> [str(table.columns[0].predicate("age", condition)) for condition in conditions]
    ['age > 1.5', 'age > 2', 'age ≤ 2.5', 'any value of age']
    """

    codes: Floats
    columns: list[Column]
    bins: Bins = attrs.field(
        init=False, default=attrs.Factory(lambda self: self.to_bins(self.codes), takes_self=True)
    )
    _bins_of_column: Bins = attrs.field(
        init=False, default=attrs.Factory(lambda self: np.ascontiguousarray(self.bins.T), takes_self=True)
    )
    _cache: dict[Condition, RowNumbers] = attrs.field(init=False, factory=dict)

    @classmethod
    def learn(cls, codes: Floats, categories: dict[int, list[Any]], bins: str) -> "BinnedTable":
        """Learn the bins; rows are sorted, so that their order does not change the drawn samples."""
        codes = codes[np.lexsort(codes.T)]
        columns = [Column.learn(codes[:, j], categories.get(j), BINS[bins]) for j in range(codes.shape[1])]
        return cls(codes, columns)

    def conditions(self, instance: Floats) -> list[Condition]:
        """Return all conditions that an instance satisfies: categories first, numbered as in anchor-exp."""
        bins = self.to_bins(instance[None, :])[0]
        order = sorted(range(len(bins)), key=lambda j: self.columns[j].categories is None)
        return [condition for j in order for condition in self.columns[j].conditions(j, int(bins[j]))]

    def is_unusual(self, codes: Floats, columns: Sequence[int]) -> Bools:
        """Return a mask of the values of `columns` that the background's dtypes may not hold."""
        is_unusual = np.empty((len(codes), len(columns)), dtype=bool)
        for i, j in enumerate(columns):
            is_unusual[:, i] = self.columns[j].is_unusual(codes[:, j])
        return is_unusual

    def rows_with_values(self, condition: Condition) -> RowNumbers:
        """Return the background rows whose values satisfy a condition, from the cache if possible.

        There are none if a single value satisfies the condition: a category, or a missing value.
        """
        if condition not in self._cache:
            rows = self._find_rows(condition)
            while self._cache and len(rows) + sum(map(len, self._cache.values())) > MAX_CACHED_ROWS:
                del self._cache[next(iter(self._cache))]
            self._cache[condition] = rows
        return self._cache[condition]

    def _find_rows(self, condition: Condition) -> RowNumbers:
        column = self.columns[condition.column]
        if column.categories is not None or condition.high == column.missing:
            return np.empty(0, dtype=np.int32)
        return np.flatnonzero(condition.holds(self._bins_of_column[condition.column])).astype(np.int32)

    def to_bins(self, codes: Floats) -> Bins:
        """Return the bins of all values, in the smallest integer dtype."""
        dtype = np.min_scalar_type(-1 - max(column.missing for column in self.columns))
        bins = np.empty(codes.shape, dtype=dtype)
        for j, column in enumerate(self.columns):
            bins[:, j] = column.bins(codes[:, j])
        return bins
