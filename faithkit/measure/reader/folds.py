"""Who reads whom: rows in an order of their content, and turns that are drawn for them.

The order of the rows is nobody's business, so they are first sorted by what they contain. Then turns are
drawn, and folds are cut from these. A shuffled sort is a shuffle: given all contents, each of them
has each turn with the same probability, as if they had been drawn one after the other. Folds in which labels
are balanced would not be such: a label would tell something about the rows that it was read by.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.measure.arrays import sum_by
from faithkit.measure.content_words import Words
from faithkit.measure.grouping import mix
from faithkit.measure.owners import Counts


@attrs.frozen(eq=False)
class Turns:
    """The rows in an order of their content, the turn of each of them there, and how many turns there are.

    Rows of one cluster have one turn, so that nothing separates them.
    """

    order: NDArray[np.intp]
    turn: Counts
    n: int

    @classmethod
    def drawn(cls, explanations: Words, labels: Words, weights: Counts, unit: Counts, seed: int) -> "Turns":
        """Draw turns for the clusters of rows.

        Examples
        --------
        >>> words, unit = np.array([7, 8, 7], dtype=np.uint64), np.array([0, 1, 0])
        >>> turns = Turns.drawn(words, words, np.ones(3, dtype=np.int64), unit, seed=0)
        >>> turns.n, len(set(turns.turn[np.argsort(turns.order)[[0, 2]]].tolist()))
        (2, 1)
        """
        contents = mix(np.column_stack([explanations, labels, weights.astype(np.uint64)]))
        n = int(unit.max()) + 1
        place = np.argsort(np.argsort(sum_by(unit, contents, n), kind="stable"))  # of every cluster
        order = np.lexsort((contents, place[unit]))
        rng = np.random.default_rng([-seed, 1] if seed < 0 else seed)
        return cls(order, rng.permutation(n)[place][unit[order]], n)

    def folds(self, most: int) -> Counts:
        """Return the fold of every row, in the order of contents."""
        return self.turn % min(most, self.n)
