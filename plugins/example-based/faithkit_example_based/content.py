"""A background as a set of rows: each once, in the order of their content.

The order in which a file happens to list its rows must not decide a tie. So rows are numbered by content:
sorted by the first column, then the second, and so on; categories in the Encoder's order, missing last.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit


def distinct_rows(background: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the distinct rows in the order of their content, and the number of every given row among them.

    Examples
    --------
    >>> rows, number = distinct_rows(np.array([[2.0, 1.0], [1.0, 5.0], [2.0, 1.0]]))
    >>> rows.tolist(), number.tolist()
    ([[1.0, 5.0], [2.0, 1.0]], [1, 0, 1])
    """
    codes = faithkit.plugin.Encoder(background).encode(background)
    order = np.lexsort(codes.T[::-1])
    ordered = codes[order]
    same = (ordered[1:] == ordered[:-1]) | (np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    is_new = np.append(True, ~same.all(axis=1))
    number = np.empty(len(codes), dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    return plain_rows(background, order[is_new]), number


def plain_rows(rows: Any, which: Any) -> Any:
    """Take rows; a DataFrame's are numbered from 0, so that nothing of their old place is left."""
    taken = faithkit.plugin.take_rows(rows, which)
    return taken.reset_index(drop=True) if hasattr(taken, "reset_index") else taken


def drawn_rows(rows: Any, size: int, seed: int) -> NDArray[np.int64]:
    """Draw rows by their content: the numbers of those with the lowest seeds, ascending.

    Examples
    --------
    >>> rows = np.arange(10.0)[:, None]
    >>> drawn_rows(rows, 3, seed=0).tolist() == sorted(9 - drawn_rows(rows[::-1], 3, seed=0))
    True
    """
    order = np.argsort(faithkit.plugin.row_seeds(rows, seed), kind="stable")
    return np.sort(order[:size])
