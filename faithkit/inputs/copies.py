"""Copies: rows of one table that are also in another, and rows of a table that repeat each other."""

from collections.abc import Iterable

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from faithkit.arrays import Ints
from faithkit.arrays.containers import Rows
from faithkit.arrays.row_random import GAMMA, create_generator, mix
from faithkit.errors import FaithkitError
from faithkit.inputs.seeds import column_words, row_words

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


MANY_REPEATS = 0.2  # share of rows that repeat another one
MIN_ROWS = 20  # of which repeats are taken for cases
FEW_BY_CHANCE = 0.05  # the same share after each column was permuted
FIRST_ROWS = 1_000  # a column with equal values among these is not all distinct


@attrs.frozen(eq=False)
class Repeats:
    """Rows of a table that repeat each other, but for at most one column of distinct values.

    Attributes
    ----------
    group : (n,) int
        Rows that repeat each other have the same number.
    share : float
        The share of rows that repeat another one.
    share_by_chance : float
        The same share if columns were unrelated: after each was permuted.
    """

    group: Ints
    share: float
    share_by_chance: float

    @property
    def are_cases(self) -> bool:
        """Whether so many rows repeat that they are cases seen again, and no coincidence of few values."""
        is_large = len(self.group) >= MIN_ROWS  # of fewer rows, chance is not known well
        return is_large and self.share >= MANY_REPEATS and self.share_by_chance < FEW_BY_CHANCE


def find_repeats(X: Rows) -> Repeats | None:
    """Find the rows that repeat others; None if the rows are neither texts nor tables of several columns.

    A column in which all values are distinct, such as a time stamp or a number of the entry, may differ.

    Examples
    --------
    Four cases with five entries each, and a number of the entry:

    >>> case, entry = np.repeat(np.arange(4), 5), np.arange(20)
    >>> repeats = find_repeats(np.column_stack([case, case**2, entry]))
    >>> repeats.share, len(np.unique(repeats.group))
    (1.0, 4)
    """
    is_text = isinstance(X, list)
    if not is_text and (getattr(X, "ndim", 0) != 2 or issparse(X) or X.shape[1] < 2):
        return None  # values of a single column repeat by chance
    try:
        words = list(column_words(X))
    except (FaithkitError, TypeError, ValueError):  # values without a hash
        return None
    if not len(words[0]):
        return None
    terms = [mix(column + _column_salt(j)) for j, column in enumerate(words)]
    total = _add_up(terms)
    candidates = [total, *(total - term for term in terms if not is_text and _is_all_distinct(term))]
    shares = [_share_repeated(rows) for rows in candidates]
    best = int(np.argmax(shares))
    by_chance = 0.0
    if shares[best] >= MANY_REPEATS and not is_text:
        kept = [term for term in terms if best == 0 or not np.array_equal(total - term, candidates[best])]
        rng = create_generator(0)
        by_chance = _share_repeated(_add_up([rng.permutation(np.sort(term)) for term in kept]))
    return Repeats(pd.factorize(candidates[best])[0].astype(np.int64), shares[best], by_chance)


def _add_up(terms: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return np.asarray(np.sum(terms, axis=0, dtype=np.uint64))  # modulo 2**64


def _column_salt(column: int) -> np.uint64:
    return np.uint64(int(GAMMA) * (2 * column + 1) % 2**64)


def _is_all_distinct(words: NDArray[np.uint64]) -> bool:
    first = words[:FIRST_ROWS]
    return len(np.unique(first)) == len(first) and len(pd.unique(words)) == len(words)


def _share_repeated(rows: NDArray[np.uint64]) -> float:
    """Return the share of rows that equal another one."""
    codes = pd.factorize(rows)[0]
    return float((np.bincount(codes)[codes] > 1).mean())
