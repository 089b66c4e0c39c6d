"""Merging of rows with a unique explanation, so that they are compared with other rows.

The comparisons depend on the identities of the explanations, never on predictions. So the expectation of the
estimate is at most the measure. Groups of several rows stay as they are. Unique explanations that are vectors
of numbers are matched with their nearest, or, where their weights differ, put into blocks of near vectors.
All other unique explanations form one block. The theory page has the proof.
"""

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints, sum_by
from faithkit.arrays.containers import as_floats
from faithkit.explanations.explanations import Explanations, sort_columns_by_name
from faithkit.explanations.relations import Relation, key_of
from faithkit.measure.agreement.base import Agreement
from faithkit.measure.counting.owners import Owners, index_codes
from faithkit.measure.counting.tally import grouped_owners
from faithkit.measure.jackknife.matching import divide_rows, match_rows

NOTHING, PAIRS, NEAR_BLOCKS, ONE_BLOCK = "nothing", "pairs", "near blocks", "one block"
MAX_BLOCK_SIZE = (
    32  # explanations in a near block; (r − 1)/32 is lost if the heaviest weighs r times the mean
)


@attrs.frozen(eq=False)
class Merging:
    """The key under which each explanation is compared: its own number, or the number of a block.

    Blocks are numbered from `first_block` on. The `method` is "nothing" where fewer than two explanations are
    unique, or "pairs", "near blocks" or "one block".

    Examples
    --------
    >>> from faithkit.explanations.relations import SameExplanation
    >>> vectors = Explanations.vectors([[0.1], [0.5], [0.2], [0.9]])
    >>> merging = Merging.of(SameExplanation(), vectors, np.array([True, False, True, True]))
    >>> merging.method, merging.key
    ('pairs', array([4, 1, 4, 3]))
    """

    method: str
    key: Ints
    first_block: int

    @classmethod
    def of(
        cls,
        relation: Relation,
        explanations: Explanations,
        is_unique: NDArray[np.bool_],
        unit: Ints | None = None,
        are_equal: bool = True,
    ) -> "Merging":
        """Choose the method, and the key of every explanation.

        Parameters
        ----------
        relation : Relation
            A relation that groups.
        explanations : Explanations
            The distinct explanations.
        is_unique : (m,) bool
            Whether only one unit has the explanation.
        unit : (m,) int, optional
            The unit of each unique explanation, where some units have several rows.
        are_equal : bool
            Whether all cells weigh the same.
        """
        m, unique = len(explanations), np.flatnonzero(is_unique)
        key = np.arange(m)
        if len(unique) < 2:
            return cls(NOTHING, key, m)
        identities = key_of(relation, explanations)
        is_numeric = isinstance(identities, np.ndarray) and identities.dtype.kind in "biuf"
        if not is_numeric or identities.ndim != 2:
            key[unique] = m
            return cls(ONE_BLOCK, key, m)
        vectors = as_floats(sort_columns_by_name(identities, explanations)[unique])
        if are_equal:
            block = match_rows(vectors, None if unit is None else unit[unique])
        else:
            block = divide_rows(vectors, MAX_BLOCK_SIZE)
        key[unique] = np.where(block < 0, unique, m + block)
        return cls(PAIRS if are_equal else NEAR_BLOCKS, key, m)

    @property
    def n_keys(self) -> int:
        """The number of keys."""
        return max(self.first_block, int(self.key.max(initial=-1)) + 1)

    def owners(self, owners: Owners, missing: NDArray[np.bool_], agreement: Agreement) -> tuple[Owners, Ints]:
        """Return the owners of equal rows under these keys, and the new place of each old owner."""
        has_explanation = np.ones(self.n_keys, dtype=bool)
        has_explanation[: len(missing)] = ~missing
        key, label, rows = self.key[owners.explanation], owners.label, owners.rows
        place = np.arange(len(key))
        if agreement.is_binary:  # otherwise every owner may keep an entry of its own
            k = int(label.max(initial=0)) + 1
            codes, _, place = index_codes(key * k + label)
            key, label = np.divmod(codes, k)
            rows = sum_by(place, rows, len(codes))
        return grouped_owners(key, label, rows, has_explanation, agreement), place
