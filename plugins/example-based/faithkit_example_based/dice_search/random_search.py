"""DiCE's random search: change random columns of copies of a row, one column after another.

dice-ml changes a thousand copies once and then again, predicts all of them, and draws one of the distinct
copies that reach the goal. This module predicts the copies in a random order, and stops at the first that
reaches the goal. Each copy has the same chance as in dice-ml, and the model predicts far fewer rows.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.dice_search.dice_table import Floats, Space
from faithkit_example_based.dice_search.goals import Goal
from faithkit_example_based.dice_search.lockstep import Search
from faithkit_example_based.dice_search.neighbors import NeighborsFactory

COPIES = 1000  # dice-ml's default
FIRST_BATCH = 16  # copies in the first call of the model; each further call doubles it


class RandomSearch:
    """Change random columns, first one or two, then three and so on, until a row reaches the goal.

    Parameters
    ----------
    space : Space
    neighbors : callable
        Not used; the other searches need it.
    """

    def __init__(self, space: Space, neighbors: NeighborsFactory) -> None:
        self.columns = np.array(space.columns)
        self.sampler = ValueSampler.from_space(space)
        n_columns = len(space.columns)
        self.stages = [range(1, min(n_columns, 2) + 1), *(range(n, n + 1) for n in range(3, n_columns + 1))]

    def find(self, row: Floats, goal: Goal, seed: int) -> Search[Floats | None]:
        """Return a row that reaches the goal with few changed columns, or None."""
        rng, batch_size = np.random.default_rng(seed), FIRST_BATCH
        columns, values = np.empty((0, COPIES), dtype=np.intp), np.empty((0, COPIES))
        for changes in self.stages:
            new_columns = rng.choice(self.columns, (changes.stop - 1 - len(columns), COPIES))
            columns = np.concatenate([columns, new_columns])
            values = np.concatenate([values, self.sampler.values(new_columns, rng.random(new_columns.shape))])
            copies = Copies(row, columns, values, changes.start)
            order = rng.permutation(copies.distinct())
            while len(order):
                rows = copies.rows(order[:batch_size])
                is_reached = goal.is_reached((yield rows))
                if is_reached.any():
                    return rows[is_reached.argmax()]
                order, batch_size = order[batch_size:], min(2 * batch_size, COPIES)
        return None


@attrs.frozen(eq=False)
class ValueSampler:
    """The possible values of each column, with equal probability.

    Parameters
    ----------
    low, span : array
        The smallest value of each numeric column, and the width of its range. For a categorical column: the
        position of its codes in `codes`, and their number.
    scale : array
        10 to the power of the decimals of each column.
    is_category : array
    codes : array
        The codes of all categorical columns, column after column.
    """

    low: Floats
    span: Floats
    scale: Floats
    is_category: NDArray[np.bool_]
    codes: Floats

    @classmethod
    def from_space(cls, space: Space) -> "ValueSampler":
        """Build the sampler of a space; as in dice-ml, rounded numbers reach one unit above the maximum."""
        low, span, scale = np.ones((3, len(space.ranges)))
        codes: list[float] = []
        for j, decimals in space.table.decimals.items():
            low[j], high = space.ranges[j]
            scale[j] = 10.0**decimals
            span[j] = high - low[j] + 1 / scale[j]
        for j in space.table.categories:
            low[j], span[j] = len(codes), len(space.ranges[j])
            codes += space.ranges[j]
        is_category = np.isin(np.arange(len(low)), list(space.table.categories))
        return cls(low, span, scale, is_category, np.array(codes))

    def values(self, columns: NDArray[np.intp], shares: Floats) -> Floats:
        """Return the values of columns at `shares` of their ranges; a share lies in [0, 1)."""
        low, offset, scale = self.low[columns], shares * self.span[columns], self.scale[columns]
        values = np.where(scale == 1, low + np.floor(offset), np.round((low + offset) * scale) / scale)
        at = self.is_category[columns]
        values[at] = self.codes[values[at].astype(np.intp)]
        return values


@attrs.frozen(eq=False)
class Copies:
    """Changed copies of a row: copy i + 1000 n is copy i after `min_changes` + n changes.

    If a column is drawn twice for a copy, its first value stays.
    """

    row: Floats
    columns: NDArray[np.intp]
    values: Floats
    min_changes: int

    def __len__(self) -> int:
        return COPIES * (len(self.columns) - self.min_changes + 1)

    def rows(self, indices: NDArray[np.intp]) -> Floats:
        """Return the copies at `indices`."""
        extra_changes, copy = np.divmod(indices, COPIES)
        rows = np.repeat(self.row[None, :], len(copy), axis=0)
        for change in reversed(range(len(self.columns))):
            changed = np.flatnonzero(change < self.min_changes + extra_changes)
            at = change, copy[changed]
            rows[changed, self.columns[at]] = self.values[at]
        return rows

    def distinct(self) -> NDArray[np.intp]:
        """Return the indices of the distinct copies; of equal copies the first counts."""
        rows = self.rows(np.arange(len(self))) + 0.0  # turns −0.0 into 0.0
        # hashing is faster than sorting
        row_bytes = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()
        first_index = dict(zip(reversed(row_bytes), reversed(range(len(row_bytes))), strict=True))
        return np.fromiter(first_index.values(), dtype=np.intp)
