"""Copies: rows of one table that are also in another, where they do not count as other rows."""

from collections.abc import Iterable

import numpy as np

from faithkit.arrays.containers import Rows
from faithkit.errors import FaithkitError
from faithkit.inputs.seeds import row_words

MAX_COPIES = 0.1  # the largest share of rows that may also be in another table without a warning
_MIN_DISTINCT = 0.9  # with fewer distinct rows, equal rows may be different cases


def share_of_copies(pieces: Iterable[Rows], other_pieces: Iterable[Rows]) -> float:
    """Return the share of rows that are also in another table. Both tables may come in pieces.

    If many rows are equal, different cases look the same: then it is 0, unless both have the same rows.

    Examples
    --------
    >>> share_of_copies([np.arange(8.0).reshape(4, 2)], [np.arange(4.0).reshape(2, 2)])
    0.5
    """
    try:
        rows, others = (
            np.concatenate([row_words(piece, seed=0) for piece in table]) for table in (pieces, other_pieces)
        )
    except (FaithkitError, TypeError, ValueError):  # values without a hash
        return 0.0
    if np.array_equal(np.sort(rows), np.sort(others)):
        return 1.0
    if len(np.unique(rows)) < _MIN_DISTINCT * len(rows):
        return 0.0
    return float(np.isin(rows, others).mean())
