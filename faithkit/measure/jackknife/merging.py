"""Merging of rows with a unique explanation, so that they are compared with other rows.

The comparisons depend on the identities of the explanations, never on predictions. So the expectation of the
estimate is at most the measure. Groups of several rows stay as they are. Unique explanations that are vectors
of numbers are matched with their nearest, or, where their weights differ, put into blocks of near vectors.
All other unique explanations form one block. The theory page has the proof.

Vectors are matched by content. Columns are replaced by ranks, so that neither scale nor outliers matter. Rows
are halved along their widest column until few are left in a cell, and then matched nearest first. Distances
are whole numbers, exact up to 2⁵³, so the matching does not depend on the machine or on the order of rows.
"""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints
from faithkit.arrays.batches import each_batch
from faithkit.arrays.containers import as_floats
from faithkit.arrays.grouping import hash_rows
from faithkit.explanations.explanations import Explanations, sort_columns_by_name
from faithkit.explanations.relations import Relation, key_of

NOTHING, PAIRS, NEAR_BLOCKS, ONE_BLOCK = "nothing", "pairs", "near blocks", "one block"
# explanations in a near block; (r − 1)/32 is lost if the heaviest weighs r times the mean
MAX_BLOCK_SIZE = 32


@attrs.frozen(eq=False)
class Merging:
    """The key under which each explanation is compared: its own number, or the number of a block.

    Blocks are numbered from `first_block` on. The `method` is "nothing" where fewer than two explanations are
    unique or no two can be matched, or "pairs", "near blocks" or "one block".

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

        `is_unique` marks the distinct explanations that only one unit has, and `unit` is that unit, where
        some units have several rows. All cells weigh the same if they `are_equal`.
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
        if (block < 0).all():  # rows of one cluster are not matched
            return cls(NOTHING, key, m)
        key[unique] = np.where(block < 0, unique, m + block)
        return cls(PAIRS if are_equal else NEAR_BLOCKS, key, m)


CELL_SIZE = 256  # rows whose distances are all computed
RANKED_VALUES = 2**20  # values that are ranked at a time
UNMATCHED = -1


def match_rows(vectors: NDArray[Any], clusters: Ints | None = None) -> Ints:
    """Return the number of every row's pair, from 0 on; −1 for a row without a partner.

    Parameters
    ----------
    vectors : array of shape (rows, columns)
        Booleans, integers or floats. NaN equals NaN and counts as the largest number.
    clusters : int array, optional
        Rows of the same cluster are not matched with each other.

    Examples
    --------
    >>> match_rows(np.array([[0.0, 1.0], [5.0, 9.0], [0.1, 1.0], [5.0, 9.1]]))
    array([0, 1, 0, 1])
    """
    ranks, order = _rank_rows(vectors)
    partner = np.full(len(ranks), UNMATCHED)
    cells = _halve_rows(ranks, CELL_SIZE)
    clusters = None if clusters is None else clusters[order]

    def match(first: int, last: int) -> None:
        for rows in cells[first:last]:
            position = _match_nearest_first(ranks[rows], None if clusters is None else clusters[rows])
            partner[rows] = np.where(position < 0, UNMATCHED, rows[position])

    each_batch(match, len(cells), 1)
    number = np.full(len(ranks), UNMATCHED)
    number[order] = np.where(partner < 0, UNMATCHED, np.minimum(partner, np.arange(len(partner))))
    is_matched = number >= 0
    number[is_matched] = _number_by_first_row(number[is_matched])
    return number


def divide_rows(vectors: NDArray[Any], size: int) -> Ints:
    """Divide similar rows into blocks of more than size/2 and at most `size` rows; return their numbers.

    Examples
    --------
    >>> divide_rows(np.array([[0.1], [0.8], [0.2], [0.9]]), 2)
    array([0, 1, 0, 1])
    """
    ranks, order = _rank_rows(vectors)
    block = np.empty(len(ranks), dtype=np.int64)
    for number, rows in enumerate(_halve_rows(ranks, size)):
        block[order[rows]] = number
    return block


def _rank_rows(vectors: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the ranks of rows in an order of content, and that order."""
    ranks = _rank_columns(vectors)
    order = _content_order(ranks)
    return ranks[order], order


def _number_by_first_row(pairs: Ints) -> Ints:
    """Return numbers of pairs that follow the order of their first rows."""
    _, first, code = np.unique(pairs, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code]


def _rank_columns(vectors: NDArray[Any]) -> Ints:
    """Replace each column by twice its ranks, which are whole numbers even for ties."""
    from scipy.stats import rankdata

    ranks = np.empty(vectors.shape, dtype=np.int64)

    def rank(first: int, last: int) -> None:
        columns = vectors[:, first:last]
        if columns.dtype.kind == "f":
            columns = np.where(np.isnan(columns), np.inf, columns)
        ranks[:, first:last] = 2 * rankdata(columns, axis=0)

    each_batch(rank, vectors.shape[1], RANKED_VALUES // max(1, len(vectors)))
    return ranks


def _content_order(ranks: Ints) -> Ints:
    """Order rows by a hash of their ranks, and by the ranks themselves where two hashes are equal."""
    hashes = hash_rows(ranks.view(np.uint64))
    order = np.argsort(hashes)
    if (np.diff(hashes[order]) == 0).any():
        order = np.lexsort((*ranks.T, hashes))
    return order


def _halve_rows(ranks: Ints, size: int) -> list[Ints]:
    """Divide rows, in order of content, into groups of similar rows; at most one group has odd size."""
    cells, nodes = [], [np.arange(len(ranks))] if len(ranks) else []
    while nodes:
        rows = nodes.pop()
        if len(rows) <= size:
            cells.append(rows)
            continue
        node_ranks = ranks[rows]
        widest = node_ranks[:, np.argmax(np.ptp(node_ranks, axis=0))]
        half = len(rows) // 4 * 2
        order = np.argpartition(widest * len(ranks) + rows, half)  # no two keys are equal
        nodes += [np.sort(rows[order[half:]]), np.sort(rows[order[:half]])]
    return cells


def _match_nearest_first(ranks: Ints, clusters: Ints | None) -> Ints:
    """Return the position of every row's partner; nearest pairs are matched first.

    The nearest pair consists of two rows that are each other's nearest. So all such pairs are matched at
    once. Of several equal distances, the first counts.
    """
    from scipy.spatial.distance import cdist

    distance = cdist(ranks, ranks, "sqeuclidean")
    np.fill_diagonal(distance, np.inf)
    if clusters is not None:
        distance[clusters[:, None] == clusters] = np.inf
    nearest = distance.argmin(axis=1)
    partner = np.full(len(ranks), UNMATCHED)
    unmatched = np.arange(len(ranks))
    while len(unmatched) > 1:
        candidates = nearest[unmatched]
        is_mutual = (nearest[candidates] == unmatched) & np.isfinite(distance[unmatched, candidates])
        if not is_mutual.any():
            break
        matched = unmatched[is_mutual]
        partner[matched] = nearest[matched]
        distance[:, matched] = np.inf
        unmatched = unmatched[~is_mutual]
        stale = unmatched[partner[nearest[unmatched]] != UNMATCHED]
        nearest[stale] = distance[stale].argmin(axis=1)
    return partner
