"""Rows like the background's in which some predicates of an instance hold: what anchors are searched with.

They are anchor-exp's: with one seed it draws the same ones from a table without missing values. But where no
row of the background lies between two cut points it takes bin numbers for values; here the instance's own
value steps in.
"""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_scoped_rules.anchor_bins import BinnedTable, Bins, Bools, Condition, Floats

COVERAGE_ROWS = 10_000  # coverage is a share of the background, or of so many rows drawn from a larger one


class PerturbedRows:
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
    >>> rows = PerturbedRows(table, np.array([3.0]), lambda codes: codes[:, 0] > 2)
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
        self._own = table.binned(instance[None, :])[0]
        self._ask = ask
        self._label = ask(instance[None, :])[0]
        self._columns, self._lows, self._highs = np.array([attrs.astuple(c) for c in self.conditions]).T
        self._options: dict[Condition, Bins] = {}

    def draw(self, present: Sequence[int], n: int) -> tuple[Bools, Floats]:
        """Draw n rows in which the conditions `present` hold; say which of all hold, (n, conditions)."""
        drawn = np.random.randint(0, len(self.table.codes), n)
        codes, bins = self.table.codes[drawn], self.table.bins[drawn]
        for condition in self._united(present):
            self._satisfy(condition, codes, bins)
        return self._holding(bins), codes

    def agrees(self, rows: Floats) -> Bools:
        """Ask the model which rows have the instance's label."""
        return np.asarray(self._ask(rows) == self._label, dtype=bool)

    def coverage(self) -> Bools:
        """Return which conditions hold in the background, or in a sample of a large one."""
        if len(self.table.bins) <= COVERAGE_ROWS:
            return self._holding(self.table.bins)
        return self.draw([], COVERAGE_ROWS)[0]

    def _holding(self, bins: Bins) -> Bools:
        asked = bins[:, self._columns]
        return (asked > self._lows) & (asked <= self._highs)

    def _united(self, present: Sequence[int]) -> list[Condition]:
        """Return one condition per column, those with a lower end first: in this order anchor-exp draws."""
        united: dict[int, Condition] = {}
        for number in present:
            condition = self.conditions[number]
            united[condition.column] = united.get(condition.column, condition).meet(condition)
        return sorted(united.values(), key=lambda condition: condition.low < 0)

    def _satisfy(self, condition: Condition, codes: Floats, bins: Bins) -> None:
        """Replace the cells that do not satisfy the condition by cells of the background that do."""
        j, outside = condition.column, np.flatnonzero(~condition.holds(bins))
        options = self._cells(condition)
        if len(options):
            chosen = options[np.random.randint(0, len(options), len(outside))]
            codes[outside, j], bins[outside, j] = self.table.codes[chosen, j], self.table.bins[chosen, j]
        else:
            codes[outside, j], bins[outside, j] = self._instance[j], self._own[j]

    def _cells(self, condition: Condition) -> Bins:
        """Return the background's rows that satisfy a condition; none where all such cells are alike."""
        if condition not in self._options:
            column = self.table.columns[condition.column]
            alike = column.categories is not None or condition.high == column.missing
            found = np.empty(0) if alike else np.flatnonzero(condition.holds(self.table.bins))
            self._options[condition] = found.astype(np.int64)
        return self._options[condition]
