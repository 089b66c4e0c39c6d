"""A table cut into bins as anchor-exp cuts it, with a bin of their own for missing values.

All that an anchor can say of an instance is then that the bin of a column lies in a range: its category, its
side of a cut point, or that the value is missing, which anchor-exp cannot take.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]
Bins = NDArray[np.signedinteger[Any]]
Bools = NDArray[np.bool_]

BINS = {"quartile": 4, "decile": 10}
CELLS_KEPT = 2**24  # about 160 MB: the cells that satisfy a condition are looked for once, if there is room


@attrs.frozen(cache_hash=True)
class Condition:
    """The bin of a column is greater than `low` and at most `high`: each predicate of an instance is one."""

    column: int
    low: int
    high: int

    def meet(self, other: "Condition") -> "Condition":
        """Return the condition that holds where both do."""
        return Condition(self.column, max(self.low, other.low), min(self.high, other.high))

    def holds(self, bins: Bins) -> Bools:
        """Return the rows in whose bins it holds."""
        return (bins[:, self.column] > self.low) & (bins[:, self.column] <= self.high)


@attrs.frozen(eq=False)
class Cells:
    """Which rows do not satisfy a condition, and the cells of those that do, in order, as codes and as bins.

    There are none where no row does, or all such cells are alike.
    """

    outside: Bools
    codes: Floats
    bins: Bins


@attrs.frozen(eq=False)
class Column:
    """One column's bins: categories one each, numbers between cut points, the last one for missing values."""

    categories: list[Any] | None
    cuts: Floats
    has_missing: bool
    whole: tuple[float, float] | None  # the least and the largest, where all are whole numbers

    @classmethod
    def learn(cls, codes: Floats, categories: list[Any] | None, n_bins: int) -> "Column":
        """Cut numbers at the quantiles of the background."""
        if categories is not None:
            return cls(categories, np.empty(0), bool((codes == len(categories)).any()), None)
        known = codes[np.isfinite(codes)]
        percent = 100 * np.arange(1, n_bins) / n_bins
        cuts = np.unique(np.percentile(known, percent)) if len(known) else np.empty(0)
        is_whole = len(known) > 0 and not np.isinf(codes).any() and bool((known == np.floor(known)).all())
        whole = (float(known.min()), float(known.max())) if is_whole else None
        return cls(None, cuts, bool(np.isnan(codes).any()), whole)

    @property
    def missing(self) -> int:
        """The bin of missing values: they come last."""
        return len(self.cuts) + 1 if self.categories is None else len(self.categories)

    def bins(self, codes: Floats) -> Bins:
        """Return the bin of every value; those of categories are their codes."""
        if self.categories is not None:
            return codes.astype(np.int64)
        return np.where(np.isnan(codes), self.missing, np.searchsorted(self.cuts, codes))

    def strange(self, codes: Floats) -> Bools:
        """Return which values the background's dtype may have no room for: such as NaN among integers."""
        if self.categories is not None:
            return (codes == self.missing) & (not self.has_missing)
        missing = np.isnan(codes)
        strange = missing & (not self.has_missing)
        if self.whole is not None:
            low, high = self.whole
            strange |= ~missing & ((codes < low) | (codes > high) | (codes != np.floor(codes)))
        return strange

    def conditions(self, j: int, own: int) -> list[Condition]:
        """Return what can be said of a value in bin `own`: its category, or its side of each cut."""
        if self.categories is not None or own == self.missing:
            return [Condition(j, own - 1, own)]
        top = len(self.cuts)
        sides = [Condition(j, -1, cut) if own <= cut else Condition(j, cut, top) for cut in range(top)]
        return [*sides, Condition(j, -1, top)] if self.has_missing else sides

    def predicate(self, name: str | int, condition: Condition) -> faithkit.Interval | faithkit.OneOf:
        """Say a condition in the values of the column, cut points as they are."""
        if condition.high == self.missing:
            return faithkit.OneOf(name, [], missing=True)
        if self.categories is not None:
            return faithkit.OneOf(name, [self.categories[condition.high]])
        ends = np.concatenate([[-np.inf], self.cuts, [np.inf]])
        return faithkit.Interval(name, ends[condition.low + 1], ends[condition.high + 1])


@attrs.frozen(eq=False)
class BinnedTable:
    """The rows of a background as codes and as bins.

    Examples
    --------
    >>> table = BinnedTable.learn(np.array([[1.0], [2.0], [3.0], [np.nan]]), {}, "quartile")
    >>> table.bins.ravel().tolist()
    [0, 1, 3, 4]
    >>> own = table.conditions(np.array([2.5]))
    >>> [str(table.columns[0].predicate("age", condition)) for condition in own]
    ['age > 1.5', 'age > 2', 'age ≤ 2.5', 'any value of age']
    """

    codes: Floats
    columns: list[Column]
    bins: Bins = attrs.field(
        init=False, default=attrs.Factory(lambda self: self.binned(self.codes), takes_self=True)
    )
    _cells: dict[Condition, Cells] = attrs.field(init=False, factory=dict)

    @classmethod
    def learn(cls, codes: Floats, categories: dict[int, list[Any]], bins: str) -> "BinnedTable":
        """Learn the bins; rows are sorted, since their order must not change what is drawn."""
        codes = codes[np.lexsort(codes.T)]
        columns = [Column.learn(codes[:, j], categories.get(j), BINS[bins]) for j in range(codes.shape[1])]
        return cls(codes, columns)

    def conditions(self, instance: Floats) -> list[Condition]:
        """Return all that can be said of an instance: categories first, as anchor-exp numbers them."""
        own = self.binned(instance[None, :])[0]
        order = sorted(range(len(own)), key=lambda j: self.columns[j].categories is None)
        return [condition for j in order for condition in self.columns[j].conditions(j, int(own[j]))]

    def strange(self, codes: Floats, columns: Sequence[int]) -> Bools:
        """Return the cells of some columns that the background's dtypes may have no room for."""
        found = np.empty((len(codes), len(columns)), dtype=bool)
        for i, j in enumerate(columns):
            found[:, i] = self.columns[j].strange(codes[:, j])
        return found

    def cells(self, condition: Condition) -> Cells:
        """Return the cells of the background that satisfy a condition on a number."""
        if condition not in self._cells:
            while len(self._cells) * len(self.codes) > CELLS_KEPT:
                del self._cells[next(iter(self._cells))]
            self._cells[condition] = self._found(condition)
        return self._cells[condition]

    def _found(self, condition: Condition) -> Cells:
        j, column = condition.column, self.columns[condition.column]
        inside = condition.holds(self.bins)
        alike = column.categories is not None or condition.high == column.missing
        rows = np.flatnonzero(inside & (not alike))
        return Cells(~inside, self.codes[rows, j], self.bins[rows, j])

    def binned(self, codes: Floats) -> Bins:
        """Return the bins of all cells, in as few bytes as will do."""
        narrow = np.min_scalar_type(-1 - max(column.missing for column in self.columns))
        bins = np.empty(codes.shape, dtype=narrow)
        for j, column in enumerate(self.columns):
            bins[:, j] = column.bins(codes[:, j])
        return bins
