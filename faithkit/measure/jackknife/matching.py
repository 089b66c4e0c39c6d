"""Matching of near vectors, by their contents alone.

Columns are replaced by ranks, so that neither scale nor outliers matter. Rows are halved along their widest
column until few are left in a cell, and then matched nearest first. All arithmetic is in whole numbers, so
the matching does not depend on the machine, the number of threads or the order of rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from faithkit.arrays.batches import each_batch
from faithkit.arrays.grouping import hash_rows

Ints = NDArray[np.int64]

CELL_SIZE = 256  # rows whose distances are all computed
RANKED_VALUES = 2**20  # values that are ranked at a time
EXACT = 2.0**53  # whole numbers below this are exact as floats
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
            place = _match_nearest_first(ranks[rows], None if clusters is None else clusters[rows])
            partner[rows] = np.where(place < 0, UNMATCHED, rows[place])

    each_batch(match, len(cells), 1)
    number = np.full(len(ranks), UNMATCHED)
    number[order] = np.where(partner < 0, UNMATCHED, np.minimum(partner, np.arange(len(partner))))
    is_matched = number >= 0
    number[is_matched] = _number_by_first_row(number[is_matched])
    return number


def divide_rows(vectors: NDArray[Any], size: int) -> Ints:
    """Return the number of every row's block of near rows; each has more than size/2 and at most `size` rows.

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
    ranks = np.empty(vectors.shape, dtype=np.int64)

    def rank(first: int, last: int) -> None:
        columns = vectors[:, first:last]
        if columns.dtype.kind == "f":
            columns = np.where(np.isnan(columns), np.inf, columns)
        ranks[:, first:last] = 2 * rankdata(columns, axis=0)

    each_batch(rank, vectors.shape[1], max(1, RANKED_VALUES // max(1, len(vectors))))
    max_distance = 4.0 * vectors.shape[1] * max(1, 2 * len(vectors)) ** 2  # squared, while it is computed
    if max_distance >= EXACT:
        ranks //= int(np.ceil(np.sqrt(max_distance / EXACT)))
    return ranks


def _content_order(ranks: Ints) -> Ints:
    """Order rows by a hash of their ranks, and by the ranks themselves where two hashes are equal."""
    hashes = hash_rows(ranks.view(np.uint64))
    order = np.argsort(hashes)
    if (np.diff(hashes[order]) == 0).any():
        order = np.lexsort((*ranks.T, hashes))
    return order


def _halve_rows(ranks: Ints, size: int) -> list[Ints]:
    """Divide rows in order of content into cells of near rows; all cells but one have an even size."""
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
    """Return the place of every row's partner: the nearest of all pairs is matched first, and so on.

    The nearest pair consists of two rows that are each other's nearest. So all such pairs are matched at
    once. Of several equal distances, the first counts.
    """
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
