"""Match rows of numbers with near rows, by their contents and nothing else.

Columns are replaced by ranks, so that no scale and no outlier matters. Rows are halved along their widest
column until few are left together, and then matched nearest first. All arithmetic is in whole numbers: no
machine, number of threads or order of rows changes who is matched with whom.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from faithkit.arrays.blocks import each_block
from faithkit.arrays.grouping import mix

Ints = NDArray[np.int64]

TOGETHER = 256  # rows that are compared with each other
RANKED = 2**20  # values that are ranked together
EXACT = 2.0**53  # whole numbers below this are exact as floats
UNMATCHED = -1


def match_rows(vectors: NDArray[Any], clusters: Ints | None = None) -> Ints:
    """Return the number of every row's pair, from 0 on; −1 for a row that has no partner.

    Parameters
    ----------
    vectors : array of shape (rows, columns)
        Booleans, integers or floats. NaN equals NaN and counts as the largest number.
    clusters : int array, optional
        Rows of one cluster are not matched with each other.

    Examples
    --------
    >>> match_rows(np.array([[0.0, 1.0], [5.0, 9.0], [0.1, 1.0], [5.0, 9.1]]))
    array([0, 1, 0, 1])
    """
    ranks, order = _ranked(vectors)
    partner = np.full(len(ranks), UNMATCHED)
    cells = _halved(ranks, TOGETHER)
    names = None if clusters is None else clusters[order]

    def match(first: int, last: int) -> None:
        for rows in cells[first:last]:
            matched = _nearest_first(ranks[rows], None if names is None else names[rows])
            partner[rows] = np.where(matched < 0, UNMATCHED, rows[matched])

    each_block(match, len(cells), 1)
    number = np.full(len(ranks), UNMATCHED)
    number[order] = np.where(partner < 0, UNMATCHED, np.minimum(partner, np.arange(len(partner))))
    matched = number >= 0
    number[matched] = _by_first_row(number[matched])
    return number


def divide_rows(vectors: NDArray[Any], size: int) -> Ints:
    """Return the number of every row's block of near rows, each of more than half of `size` and at most that.

    Examples
    --------
    >>> divide_rows(np.array([[0.1], [0.8], [0.2], [0.9]]), 2)
    array([0, 1, 0, 1])
    """
    ranks, order = _ranked(vectors)
    block = np.empty(len(ranks), dtype=np.int64)
    for number, rows in enumerate(_halved(ranks, size)):
        block[order[rows]] = number
    return block


def _ranked(vectors: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the ranks of rows in an order of content, and that order."""
    ranks = _ranks(vectors)
    order = _content_order(ranks)
    return ranks[order], order


def _by_first_row(names: Ints) -> Ints:
    """Return pair numbers that follow the order in which first rows appear."""
    _, first, code = np.unique(names, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[code]


def _ranks(vectors: NDArray[Any]) -> Ints:
    """Replace each column by twice its ranks, which are whole numbers also where values are tied."""
    ranks = np.empty(vectors.shape, dtype=np.int64)

    def rank(first: int, last: int) -> None:
        columns = vectors[:, first:last]
        if columns.dtype.kind == "f":
            columns = np.where(np.isnan(columns), np.inf, columns)
        ranks[:, first:last] = 2 * rankdata(columns, axis=0)

    each_block(rank, vectors.shape[1], max(1, RANKED // max(1, len(vectors))))
    largest = 4.0 * vectors.shape[1] * max(1, 2 * len(vectors)) ** 2  # of a squared distance and its parts
    if largest >= EXACT:
        ranks //= int(np.ceil(np.sqrt(largest / EXACT)))
    return ranks


def _content_order(ranks: Ints) -> Ints:
    """Order rows by a hash of their ranks; where two hashes are equal, by the ranks themselves."""
    hashes = mix(ranks.view(np.uint64))
    order = np.argsort(hashes)
    if (np.diff(hashes[order]) == 0).any():
        order = np.lexsort((*ranks.T, hashes))
    return order


def _halved(ranks: Ints, size: int) -> list[Ints]:
    """Divide rows, which are in order of content, into cells of near ones; all but one have an even size."""
    cells, nodes = [], [np.arange(len(ranks))]
    while nodes:
        rows = nodes.pop()
        if len(rows) <= size:
            cells.append(rows)
            continue
        mine = ranks[rows]
        column = mine[:, np.argmax(np.ptp(mine, axis=0))]
        half = len(rows) // 4 * 2
        order = np.argpartition(column * len(ranks) + rows, half)  # no two keys are equal
        nodes += [np.sort(order_half) for order_half in (rows[order[half:]], rows[order[:half]])]
    return cells


def _nearest_first(ranks: Ints, clusters: Ints | None) -> Ints:
    """Return the place of every row's partner: of all pairs the nearest is matched first, and so on.

    The nearest of all pairs are each other's nearest, so all rows of which that is true are matched at once.
    Of equal distances the first one counts.
    """
    distance = cdist(ranks, ranks, "sqeuclidean")
    np.fill_diagonal(distance, np.inf)
    if clusters is not None:
        distance[clusters[:, None] == clusters] = np.inf
    partner = np.full(len(ranks), UNMATCHED)
    left = np.arange(len(ranks))
    while len(left) > 1:
        nearest = distance.argmin(axis=1)
        place = np.arange(len(left))
        mutual = (nearest[nearest] == place) & np.isfinite(distance[place, nearest])
        if not mutual.any():
            break
        partner[left[mutual]] = left[nearest[mutual]]
        stay = np.flatnonzero(~mutual)
        left, distance = left[stay], distance[np.ix_(stay, stay)]
    return partner
