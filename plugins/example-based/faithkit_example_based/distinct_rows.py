"""Distinct rows of a background, sorted by content.

The order of the rows in a file must not decide a tie. So rows are sorted by their content: by the first
column, then the second, and so on, with categories in the order of the Encoder and missing values last.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit


def distinct_rows(background: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the distinct rows sorted by content, and the position of each row among them.

    Examples
    --------
    >>> rows, positions = distinct_rows(np.array([[2.0, 1.0], [1.0, 5.0], [2.0, 1.0]]))
    >>> rows.tolist(), positions.tolist()
    ([[1.0, 5.0], [2.0, 1.0]], [1, 0, 1])
    """
    codes = faithkit.plugin.Encoder(background).encode(background)
    order = np.lexsort(codes.T[::-1])
    ordered = codes[order]
    same = (ordered[1:] == ordered[:-1]) | (np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    is_new = np.append(True, ~same.all(axis=1))
    positions = np.empty(len(codes), dtype=np.int64)
    positions[order] = np.cumsum(is_new) - 1
    return take_plain_rows(background, order[is_new]), positions


def take_plain_rows(rows: Any, selection: Any) -> Any:
    """Return selected rows; those of a DataFrame get a new index from 0."""
    selected_rows = faithkit.plugin.take_rows(rows, selection)
    return selected_rows.reset_index(drop=True) if hasattr(selected_rows, "reset_index") else selected_rows


def draw_rows(rows: Any, size: int, seed: int) -> NDArray[np.int64]:
    """Draw a sample of rows that depends on their content but not on their order; return their positions.

    Examples
    --------
    >>> rows = np.arange(10.0)[:, None]
    >>> draw_rows(rows, 3, seed=0).tolist() == sorted(9 - draw_rows(rows[::-1], 3, seed=0))
    True
    """
    order = np.argsort(faithkit.plugin.row_seeds(rows, seed), kind="stable")
    return np.sort(order[:size])
