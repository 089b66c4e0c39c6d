"""A table cut into bins, and rows drawn from it in which some predicates of an instance hold.

These are the bins and the draws of anchor-exp: with one seed it draws the same rows from a table without
missing values. It cannot take missing ones, and where no row of the background lies between two cut points
it draws bin numbers for values; here a missing value has a bin of its own, and the instance's value steps in.
"""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BINS = {"quartile": 4, "decile": 10}
COVERAGE_ROWS = 10_000  # coverage is a share of the background, or of so many rows drawn from a larger one


@attrs.frozen
class Condition:
    """The bin of a column is greater than `low` and at most `high`: each predicate of an instance is one."""

    column: int
    low: int
    high: int

    def meet(self, other: "Condition") -> "Condition":
        """Return the condition that holds where both do."""
        return Condition(self.column, max(self.low, other.low), min(self.high, other.high))

    def holds(self, bins: NDArray[np.int64]) -> Bools:
        """Return the rows in whose bins it holds."""
        return (bins[:, self.column] > self.low) & (bins[:, self.column] <= self.high)


@attrs.frozen(eq=False)
class Column:
    """One column's bins: categories one each, numbers between cut points, the last one for missing values."""

    categories: list[Any] | None
    cuts: Floats
    has_missing: bool

    @classmethod
    def learn(cls, codes: Floats, categories: list[Any] | None, n_bins: int) -> "Column":
        """Cut numbers at the quantiles of the background."""
        if categories is not None:
            return cls(categories, np.empty(0), False)
        known = codes[np.isfinite(codes)]
        percent = 100 * np.arange(1, n_bins) / n_bins
        cuts = np.unique(np.percentile(known, percent)) if len(known) else np.empty(0)
        return cls(None, cuts, bool(np.isnan(codes).any()))

    @property
    def missing(self) -> int:
        """The bin of missing values: they come last."""
        return len(self.cuts) + 1 if self.categories is None else len(self.categories)

    def bins(self, codes: Floats) -> NDArray[np.int64]:
        """Return the bin of every value; those of categories are their codes."""
        if self.categories is not None:
            return codes.astype(np.int64)
        return np.where(np.isnan(codes), self.missing, np.searchsorted(self.cuts, codes))

    def conditions(self, j: int, own: int) -> list[Condition]:
        """Return what can be said of a value in bin `own`: its category, its side of each cut, if it is missing."""
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
    bins: NDArray[np.int64]
    columns: list[Column]

    @classmethod
    def learn(cls, codes: Floats, categories: dict[int, list[Any]], bins: str) -> "BinnedTable":
        """Learn the bins; rows are sorted, since their order must not change what is drawn."""
        codes = codes[np.lexsort(codes.T)]
        columns = [Column.learn(codes[:, j], categories.get(j), BINS[bins]) for j in range(codes.shape[1])]
        return cls(codes, _binned(codes, columns), columns)

    def conditions(self, instance: Floats) -> list[Condition]:
        """Return all that can be said of an instance: categories first, as anchor-exp numbers them."""
        own = _binned(instance[None, :], self.columns)[0]
        order = sorted(range(len(own)), key=lambda j: self.columns[j].categories is None)
        return [condition for j in order for condition in self.columns[j].conditions(j, int(own[j]))]


def _binned(codes: Floats, columns: list[Column]) -> NDArray[np.int64]:
    return np.column_stack([column.bins(codes[:, j]) for j, column in enumerate(columns)])


class TablePerturbation:
    """Rows of the background, changed in as few cells as it takes to satisfy predicates of an instance.

    Parameters
    ----------
    table : BinnedTable
    instance : array
        Its codes.
    ask : callable
        Codes of n rows -> their labels.

    Examples
    --------
    >>> table = BinnedTable.learn(np.array([[1.0], [2.0], [3.0], [4.0]]), {}, "quartile")
    >>> rows = TablePerturbation(table, np.array([3.0]), lambda codes: codes[:, 0] > 2)
    >>> rows.conditions[1]
    Condition(column=0, low=1, high=3)
    >>> holds, codes = rows.draw([1], 100)
    >>> bool(holds[:, 1].all()), sorted(set(codes[:, 0].tolist())), bool(rows.agrees(codes).all())
    (True, [3.0, 4.0], True)
    """

    def __init__(self, table: BinnedTable, instance: Floats, ask: Callable[[Floats], NDArray[Any]]) -> None:
        self.table = table
        self.conditions = table.conditions(instance)
        self._instance = instance
        self._own = _binned(instance[None, :], table.columns)[0]
        self._ask = ask
        self._label = ask(instance[None, :])[0]
        self._columns, self._lows, self._highs = (
            np.array([attrs.astuple(condition) for condition in self.conditions], dtype=np.int64)
            .reshape(-1, 3)
            .T
        )
        self._options: dict[Condition, NDArray[np.int64]] = {}
        self._known: dict[bytes, bool] = {}

    def draw(self, present: Sequence[int], n: int) -> tuple[Bools, Floats]:
        """Draw n rows in which the conditions `present` hold; say which of all hold, (n, conditions)."""
        drawn = np.random.randint(0, len(self.table.codes), n)
        codes, bins = self.table.codes[drawn], self.table.bins[drawn]
        for condition in self._united(present):
            self._satisfy(condition, codes, bins)
        return self._holding(bins), codes

    def agrees(self, rows: Floats) -> Bools:
        """Ask the model which rows have the instance's label, about equal rows only once."""
        keys = [row.tobytes() for row in rows]
        new = {key: i for i, key in enumerate(keys) if key not in self._known}
        if new:
            same = self._ask(rows[list(new.values())]) == self._label
            self._known.update(zip(new, same.tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=bool)

    def coverage(self) -> Bools:
        """Return which conditions hold in the background, or in a sample of a large one."""
        if len(self.table.bins) <= COVERAGE_ROWS:
            return self._holding(self.table.bins)
        return self.draw([], COVERAGE_ROWS)[0]

    def _holding(self, bins: NDArray[np.int64]) -> Bools:
        asked = bins[:, self._columns]
        return (asked > self._lows) & (asked <= self._highs)

    def _united(self, present: Sequence[int]) -> list[Condition]:
        """Return one condition per column, those with a lower end first: in this order anchor-exp draws."""
        united: dict[int, Condition] = {}
        for number in present:
            condition = self.conditions[number]
            united[condition.column] = united.get(condition.column, condition).meet(condition)
        return sorted(united.values(), key=lambda condition: condition.low < 0)

    def _satisfy(self, condition: Condition, codes: Floats, bins: NDArray[np.int64]) -> None:
        """Replace the cells that do not satisfy the condition by cells of the background that do."""
        j, outside = condition.column, np.flatnonzero(~condition.holds(bins))
        options = self._cells(condition)
        if len(options):
            chosen = options[np.random.randint(0, len(options), len(outside))]
            codes[outside, j], bins[outside, j] = self.table.codes[chosen, j], self.table.bins[chosen, j]
        else:
            codes[outside, j], bins[outside, j] = self._instance[j], self._own[j]

    def _cells(self, condition: Condition) -> NDArray[np.int64]:
        """Return the background's rows that satisfy a condition; none where all such cells are alike."""
        if condition not in self._options:
            column = self.table.columns[condition.column]
            alike = column.categories is not None or condition.high == column.missing
            found = np.empty(0) if alike else np.flatnonzero(condition.holds(self.table.bins))
            self._options[condition] = found.astype(np.int64)
        return self._options[condition]
