"""The reference rows of SHAP: all of the background, or a few rows that represent it."""

from collections.abc import Collection

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit

Codes = NDArray[np.float64]


@attrs.frozen
class Reference:
    """The choice of reference rows, which replace the features outside a coalition.

    Rows are chosen by content, never by position.

    Parameters
    ----------
    kind : str
        "rows" (all), "median" (one row), "kmeans" (real rows near cluster centres) or "sample".
    count : int
        The number of rows of "kmeans" and "sample"; 0 for other kinds.

    Examples
    --------
    >>> codes = np.array([[1.0, 0.0], [2.0, 1.0], [9.0, 1.0]])
    >>> Reference.parse("median").rows(codes, categorical=[1])
    array([[2., 1.]])
    >>> Reference.parse("kmeans:2").rows(codes, categorical=[1]).shape
    (2, 2)
    """

    kind: str
    count: int = 0

    @classmethod
    def parse(cls, text: str) -> "Reference":
        """Parse the parameter `background`: rows, median, kmeans:k or sample:n."""
        kind, _, count = str(text).partition(":")
        if text in ("rows", "median"):
            return cls(kind)
        if kind in ("kmeans", "sample") and count.isdecimal() and int(count) > 0:
            return cls(kind, int(count))
        raise faithkit.errors.ParameterError(
            f"shap: background must be rows, median, kmeans:k or sample:n, got {text!r}."
        )

    def rows(self, codes: Codes, categorical: Collection[int]) -> Codes:
        """Return the reference rows of a background, both as codes of an Encoder."""
        if self.kind == "median":
            return np.array([[_middle_value(column, j in categorical) for j, column in enumerate(codes.T)]])
        ordered = codes[_content_order(codes)]
        if self.kind == "kmeans":
            return _rows_near_centres(ordered, categorical, self.count)
        return ordered[: self.count] if self.kind == "sample" else ordered


def _content_order(codes: Codes) -> NDArray[np.int64]:
    """Return a pseudo-random order of the rows that depends only on their content.

    Copies of a row are numbered, so that they are spread over the order: a sample gets its share of each row.
    """
    hashes = _row_hashes(codes)
    copy_numbers = pd.DataFrame(hashes).groupby([0, 1]).cumcount()
    return np.lexsort(_row_hashes(np.column_stack([hashes, copy_numbers])).T)


def _row_hashes(codes: Codes) -> NDArray[np.uint32]:
    """Return two hashes of the content of each row."""
    return np.column_stack([faithkit.plugin.row_seeds(codes, seed=seed) for seed in (0, 1)])


def _middle_value(column: Codes, is_category: bool) -> float:
    """Return the lower median, or the most frequent category: a value that occurs in the column."""
    present = np.sort(column[~np.isnan(column)])
    if not len(present):
        return np.nan
    if is_category:
        return float(np.bincount(present.astype(np.int64)).argmax())
    return float(present[(len(present) - 1) // 2])


def _rows_near_centres(codes: Codes, categorical: Collection[int], k: int) -> Codes:
    """Return the row nearest to each of k centres. Centres themselves are not valid rows of categories."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    _, first, copies = np.unique(_row_hashes(codes), axis=0, return_index=True, return_counts=True)
    rows = codes[first]
    if len(rows) <= k:
        return rows
    points = np.hstack([_coordinates(column, j in categorical) for j, column in enumerate(rows.T)])
    centres = KMeans(k, n_init=1, random_state=0).fit(points, sample_weight=copies).cluster_centers_
    return rows[np.unique(pairwise_distances_argmin(centres, points))]


def _coordinates(column: Codes, is_category: bool) -> Codes:
    """Return coordinates in which two categories are one standard deviation apart."""
    if is_category:
        return (column[:, None] == np.unique(column)) / np.sqrt(2)
    filled = np.nan_to_num(column, nan=np.nan_to_num(_middle_value(column, False)))
    return filled[:, None] / (filled.std() or 1.0)
