"""Rows whose explanation nobody else has, compared with others all the same: under another key.

Who is compared with whom depends on what equality compares of the explanations, never on predictions; then
what is found is at most the measure, in the mean. Groups stay as they are. Of those that are alone, vectors
of numbers are matched with their nearest, or where they weigh differently put into blocks of near ones; all
others form one block. The theory page has the proof.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints, sum_by
from faithkit.arrays.containers import as_floats
from faithkit.explanations.explanations import Explanations, by_name
from faithkit.explanations.relations import Relation, key_of
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.counting.owners import Owners, placed
from faithkit.measure.counting.tally import grouped_owners
from faithkit.measure.jackknife.matching import divide_rows, match_rows

NOTHING, PAIRS, NEAR, BLOCK = "nothing", "pairs", "near blocks", "one block"
SIZE = 32  # explanations in a near block, at most; (r − 1)/32 is lost if the heaviest weighs r times the mean


@attrs.frozen(eq=False)
class Merging:
    """Under which key each explanation is compared: its own number, or from `first` on that of a block.

    `how` is "nothing" where no two are alone, "pairs", "near blocks" or "one block".

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> vectors = Explanations.vectors([[0.1], [0.5], [0.2], [0.9]])
    >>> found = Merging.of(SameExplanation(), vectors, np.array([True, False, True, True]))
    >>> found.how, found.key
    ('pairs', array([4, 1, 4, 3]))
    """

    how: str
    key: Ints
    first: int

    @classmethod
    def of(
        cls,
        relation: Relation,
        explanations: Explanations,
        alone: NDArray[np.bool_],
        unit: Ints | None = None,
        are_equal: bool = True,
    ) -> "Merging":
        """Decide it.

        Parameters
        ----------
        relation : Relation
            One that groups.
        explanations : Explanations
            The distinct ones.
        alone : (m,) bool
            Which of them only one unit has.
        unit : (m,) int, optional
            The unit of each of those, where some units have several rows.
        are_equal : bool
            Whether all cells weigh the same.
        """
        m, some = len(explanations), np.flatnonzero(alone)
        key = np.arange(m)
        if len(some) < 2:
            return cls(NOTHING, key, m)
        identities = key_of(relation, explanations)
        if not (
            isinstance(identities, np.ndarray) and identities.ndim == 2 and identities.dtype.kind in "biuf"
        ):
            key[some] = m
            return cls(BLOCK, key, m)
        vectors = as_floats(by_name(identities, explanations)[some])
        if are_equal:
            block = match_rows(vectors, None if unit is None else unit[some])
        else:
            block = divide_rows(vectors, SIZE)
        key[some] = np.where(block < 0, some, m + block)
        return cls(PAIRS if are_equal else NEAR, key, m)

    @property
    def size(self) -> int:
        """The number of keys."""
        return max(self.first, int(self.key.max(initial=-1)) + 1)

    def owners(self, owners: Owners, missing: NDArray[np.bool_], agreement: Agreement) -> tuple[Owners, Ints]:
        """Return the owners of equal rows under these keys, and where each of the old ones stands."""
        held = np.ones(self.size, dtype=bool)
        held[: len(missing)] = ~missing
        row, label, rows = self.key[owners.explanation], owners.label, owners.rows
        place = np.arange(len(row))
        if agreement.is_whole:  # else each may stand for itself
            k = int(label.max(initial=0)) + 1
            codes, _, place = placed(row * k + label)
            row, label = np.divmod(codes, k)
            rows = sum_by(place, rows, len(codes))
        return grouped_owners(row, label, rows, held, agreement), place
