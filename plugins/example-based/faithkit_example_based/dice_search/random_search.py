"""DiCE's random search: copies of a row are changed in a column drawn at random, then in another, and so on.

dice-ml changes a thousand copies once and then again, asks the model about all of them, and takes one at
random of the distinct ones that have the wanted class. Here the model is asked about the copies in a random
order until the first such row is met. The chances of each are the same, and the model is asked about few of
them.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit_example_based.dice_search.goals import Goal
from faithkit_example_based.dice_search.lockstep import Search
from faithkit_example_based.dice_search.neighbors import Find
from faithkit_example_based.dice_search.space import Space
from faithkit_example_based.dice_search.table import Floats

COPIES = 1000  # dice-ml's default
FIRST = 16  # copies that are asked about at first, then twice as many, and so on


class RandomSearch:
    """Change columns at random, at first one or two, then three, until a row of the wanted class is met.

    Parameters
    ----------
    space : Space
    neighbors : callable
        Makes what knows the rows of the table, which it does not need.
    """

    def __init__(self, space: Space, neighbors: Find) -> None:
        self.columns = np.array(space.columns)
        self.cells = Cells.of(space)
        most = len(space.columns)
        self.stages = [range(1, min(most, 2) + 1), *(range(n, n + 1) for n in range(3, most + 1))]

    def find(self, row: Floats, goal: Goal, seed: int) -> Search[Floats | None]:
        """Return a row in which few columns are changed, or None."""
        rng, size = np.random.default_rng(seed), FIRST
        columns, values = np.empty((0, COPIES), dtype=np.intp), np.empty((0, COPIES))
        for changes in self.stages:
            drawn = rng.choice(self.columns, (changes.stop - 1 - len(columns), COPIES))
            columns = np.concatenate([columns, drawn])
            values = np.concatenate([values, self.cells.values(drawn, rng.random(drawn.shape))])
            copies = Copies(row, columns, values, changes.start)
            order = rng.permutation(copies.distinct())
            while len(order):
                rows = copies.rows(order[:size])
                is_found = goal.reached((yield rows))
                if is_found.any():
                    return rows[is_found.argmax()]
                order, size = order[size:], min(2 * size, COPIES)
        return None


@attrs.frozen(eq=False)
class Cells:
    """What the cells of each column may become, every value with the same chance.

    Parameters
    ----------
    low, span : array
        For each column its least number, and how far the others reach; for a column of categories where its
        codes lie in `codes`.
    scale : array
        For each column 10 to the power of its decimals.
    is_category : array
    codes : array
        The codes of all categories, column after column.
    """

    low: Floats
    span: Floats
    scale: Floats
    is_category: NDArray[np.bool_]
    codes: Floats

    @classmethod
    def of(cls, space: Space) -> "Cells":
        """Read a space; as in dice-ml numbers reach one unit beyond the greatest, and are then rounded."""
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
        """Return the values of columns that lie at some shares, of [0, 1), of all that they can have."""
        low, moved, scale = self.low[columns], shares * self.span[columns], self.scale[columns]
        values = np.where(scale == 1, low + np.floor(moved), np.round((low + moved) * scale) / scale)
        at = self.is_category[columns]
        values[at] = self.codes[values[at].astype(np.intp)]
        return values


@attrs.frozen(eq=False)
class Copies:
    """Copies of a row, changed once, then again: copy i + 1000 n is copy i after `fewest` + n changes.

    A column that is drawn twice for a copy keeps its first value.
    """

    row: Floats
    columns: NDArray[np.intp]
    values: Floats
    fewest: int

    def __len__(self) -> int:
        return COPIES * (len(self.columns) - self.fewest + 1)

    def rows(self, which: NDArray[np.intp]) -> Floats:
        """Return some of the changed rows."""
        more, copy = np.divmod(which, COPIES)
        rows = np.repeat(self.row[None, :], len(copy), axis=0)
        for change in reversed(range(len(self.columns))):
            changed = np.flatnonzero(change < self.fewest + more)
            at = change, copy[changed]
            rows[changed, self.columns[at]] = self.values[at]
        return rows

    def distinct(self) -> NDArray[np.intp]:
        """Return the copies without those that are equal to an earlier one."""
        rows = self.rows(np.arange(len(self))) + 0.0  # −0.0 is 0.0
        texts = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()  # hashed faster than sorted
        first = dict(zip(reversed(texts), reversed(range(len(texts))), strict=True))
        return np.fromiter(first.values(), dtype=np.intp)
