"""Perturbed rows: rows like the background's in which chosen predicates of an instance hold.

With the same seed, anchor-exp draws the same rows from a table without missing values. There is one
difference. If no row of the background lies between two cut points, anchor-exp uses bin numbers as values.
This module uses the instance's value.
"""

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_scoped_rules.anchors.binned_table import BinnedTable, Bins, Bools, Condition, Floats

COVERAGE_ROWS = 10_000  # the largest sample of the background that coverage is computed on


class PerturbedRows:
    """Rows of the background, changed as little as the predicates of an instance require.

    Parameters
    ----------
    table : BinnedTable
    instance : array
        The codes of the instance.
    seed : int
        The seed of the draws.

    Examples
    --------
    >>> table = BinnedTable.learn(np.array([[1.0], [2.0], [3.0], [4.0]]), {}, "quartile")
    >>> rows = PerturbedRows(table, np.array([3.0]), seed=0)
    >>> rows.conditions[1]
    Condition(column=0, low=1, high=3)
    >>> drawn, model_rows = rows.draw([1], 100)
    >>> bool(rows.holds(drawn)[:, 1].all()), sorted(set(from_bytes(model_rows)[:, 0].tolist()))
    (True, [3.0, 4.0])
    """

    def __init__(self, table: BinnedTable, instance: Floats, seed: int) -> None:
        self.table = table
        self.conditions = table.conditions(instance)
        self.instance_row = to_bytes(instance[None, :])[0]
        self._instance = instance
        self._bins = table.to_bins(instance[None, :])[0]
        self._random = np.random.RandomState(seed % 2**32)  # the generator of anchor-exp
        bounds = np.array(self.conditions)
        self._columns, self._lows, self._highs = bounds[:, 0], *bounds[:, 1:].T.astype(self._bins.dtype)
        self._scopes: dict[tuple[int, ...], _Scope] = {}

    def draw(self, present: Sequence[int], n: int) -> tuple[Bins, list[bytes]]:
        """Draw n rows in which the conditions `present` hold; return their bins and their bytes."""
        background_rows = self._random.randint(0, len(self.table.codes), n)
        codes = self.table.codes.take(background_rows, axis=0)
        bins = self.table.bins.take(background_rows, axis=0)
        scope = self._scope(tuple(present))
        for j in scope.fixed:
            codes[:, j], bins[:, j] = self._instance[j], self._bins[j]
        # a violated value is replaced with a background value that satisfies its condition
        drawn_bins = bins.take(scope.columns, axis=1)
        is_outside = (drawn_bins <= scope.lows) | (drawn_bins > scope.highs)
        numbers, rows = is_outside.T.nonzero()
        n_outside = np.bincount(numbers, minlength=len(scope.columns))
        positions = self._random.randint(0, scope.n_candidates.repeat(n_outside))
        ends = n_outside.cumsum()
        chosen = np.empty(len(rows), dtype=np.int64)
        for condition, start, end in zip(scope.conditions, ends - n_outside, ends, strict=True):
            if start < end:
                chosen[start:end] = self.table.rows_with_values(condition)[positions[start:end]]
        columns = scope.columns[numbers]
        codes[rows, columns] = self.table.codes[chosen, columns]
        bins[rows, columns] = self.table.bins[chosen, columns]
        return bins, to_bytes(codes)

    def holds(self, draws: Bins) -> Bools:
        """Return which conditions hold in drawn rows, (rows, conditions)."""
        bins = draws.take(self._columns, axis=1)
        return (bins > self._lows) & (bins <= self._highs)

    def coverage(self) -> Bools:
        """Return which conditions hold in the background, or in a sample of a large background."""
        n, bins = len(self.table.bins), self.table.bins
        return self.holds(bins if n <= COVERAGE_ROWS else bins[self._random.randint(0, n, COVERAGE_ROWS)])

    def _scope(self, present: tuple[int, ...]) -> "_Scope":
        if present not in self._scopes:
            self._scopes[present] = _Scope.of([self.conditions[number] for number in present], self.table)
        return self._scopes[present]


@attrs.frozen(eq=False)
class _Scope:
    """Conditions that hold together: one per column, those with a lower end first, as in anchor-exp.

    Columns of which a single value is allowed are `fixed`. For others, `n_candidates` background rows have
    a value that satisfies the condition.
    """

    fixed: list[int]
    conditions: list[Condition]
    columns: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    n_candidates: NDArray[np.int64]

    @classmethod
    def of(cls, conditions: Sequence[Condition], table: BinnedTable) -> "_Scope":
        by_column: dict[int, Condition] = {}
        for condition in conditions:
            by_column[condition.column] = by_column.get(condition.column, condition).intersect(condition)
        ordered = sorted(by_column.values(), key=lambda condition: condition.low < 0)
        n_candidates = {condition: len(table.rows_with_values(condition)) for condition in ordered}
        fixed = [condition.column for condition in ordered if not n_candidates[condition]]
        free = [condition for condition in ordered if n_candidates[condition]]
        numbers = [(*condition, n_candidates[condition]) for condition in free]
        return cls(fixed, free, *np.array(numbers, dtype=np.int64).reshape(-1, 4).T)


def to_bytes(codes: Floats) -> list[bytes]:
    """Return rows as bytes, which are hashable.

    Examples
    --------
    >>> from_bytes(to_bytes(np.array([[1.0, np.nan], [0.0, 2.0]])))
    array([[ 1., nan],
           [ 0.,  2.]])
    """
    row_bytes: list[bytes] = np.ascontiguousarray(codes).view(f"V{8 * codes.shape[1]}").ravel().tolist()
    return row_bytes


def from_bytes(rows: Sequence[bytes]) -> Floats:
    """Return the codes of rows that `to_bytes` wrote."""
    return np.frombuffer(b"".join(rows)).reshape(len(rows), -1)
