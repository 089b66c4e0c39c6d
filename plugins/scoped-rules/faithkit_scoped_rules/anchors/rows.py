"""Rows like the background's in which some predicates of an instance hold: what anchors are searched with.

They are anchor-exp's: with one seed it draws the same ones from a table without missing values. But where no
row of the background lies between two cut points it takes bin numbers for values; here the instance's own
value steps in.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_scoped_rules.anchors.bins import BinnedTable, Bins, Bools, Condition, Floats

COVERAGE_ROWS = 10_000  # coverage is a share of the background, or of so many rows drawn from a larger one


class PerturbedRows:
    """Rows of the background, changed in as few cells as it takes to satisfy predicates of an instance.

    Parameters
    ----------
    table : BinnedTable
    instance : array
        Its codes.
    seed : int
        Of its own draws.

    Examples
    --------
    >>> table = BinnedTable.learn(np.array([[1.0], [2.0], [3.0], [4.0]]), {}, "quartile")
    >>> rows = PerturbedRows(table, np.array([3.0]), seed=0)
    >>> rows.conditions[1]
    Condition(column=0, low=1, high=3)
    >>> drawn, asked = rows.draw([1], 100)
    >>> bool(rows.holds(drawn)[:, 1].all()), sorted(set(codes_of(asked)[:, 0].tolist()))
    (True, [3.0, 4.0])
    """

    def __init__(self, table: BinnedTable, instance: Floats, seed: int) -> None:
        self.table = table
        self.conditions = table.conditions(instance)
        self.own = as_bytes(instance[None, :])[0]
        self._instance = instance
        self._bins = table.binned(instance[None, :])[0]
        self._random = np.random.RandomState(seed % 2**32)  # the kind that anchor-exp draws from
        ends = np.array([attrs.astuple(condition) for condition in self.conditions])
        self._columns, self._lows, self._highs = ends[:, 0], *ends[:, 1:].T.astype(self._bins.dtype)
        self._known: dict[tuple[int, ...], list[Condition]] = {}

    def draw(self, present: Sequence[int], n: int) -> tuple[Bins, list[bytes]]:
        """Draw n rows in which the conditions `present` hold: their bins, and what to ask the model about."""
        drawn = self._random.randint(0, len(self.table.codes), n)
        codes, bins = self.table.codes.take(drawn, axis=0), self.table.bins.take(drawn, axis=0)
        for condition in self._united(tuple(present)):
            self._satisfy(condition, drawn, codes, bins)
        return bins, as_bytes(codes)

    def holds(self, drawn: Bins) -> Bools:
        """Return which conditions hold in rows that were drawn, (rows, conditions)."""
        asked = drawn.take(self._columns, axis=1)
        return (asked > self._lows) & (asked <= self._highs)

    def coverage(self) -> Bools:
        """Return which conditions hold in the background, or in a sample of a large one."""
        n, bins = len(self.table.bins), self.table.bins
        return self.holds(bins if n <= COVERAGE_ROWS else bins[self._random.randint(0, n, COVERAGE_ROWS)])

    def _united(self, present: tuple[int, ...]) -> list[Condition]:
        """Return one condition per column, those with a lower end first: in this order anchor-exp draws."""
        if present not in self._known:
            united: dict[int, Condition] = {}
            for number in present:
                condition = self.conditions[number]
                united[condition.column] = united.get(condition.column, condition).meet(condition)
            self._known[present] = sorted(united.values(), key=lambda condition: condition.low < 0)
        return self._known[present]

    def _satisfy(self, condition: Condition, drawn: NDArray[np.int64], codes: Floats, bins: Bins) -> None:
        """Replace the cells that do not satisfy the condition by cells of the background that do."""
        j, cells = condition.column, self.table.cells(condition)
        if len(cells.codes):
            outside = cells.outside.take(drawn).nonzero()[0]
            chosen = self._random.randint(0, len(cells.codes), len(outside))
            codes[outside, j], bins[outside, j] = cells.codes.take(chosen), cells.bins.take(chosen)
        else:
            codes[:, j], bins[:, j] = self._instance[j], self._bins[j]


def as_bytes(codes: Floats) -> list[bytes]:
    """Return rows as bytes, which can be looked up.

    Examples
    --------
    >>> codes_of(as_bytes(np.array([[1.0, np.nan], [0.0, 2.0]])))
    array([[ 1., nan],
           [ 0.,  2.]])
    """
    whole: list[bytes] = np.ascontiguousarray(codes).view(f"V{8 * codes.shape[1]}").ravel().tolist()
    return whole


def codes_of(rows: Sequence[bytes]) -> Floats:
    """Return the codes of rows that were written as bytes."""
    return np.frombuffer(b"".join(rows)).reshape(len(rows), -1)
