"""The rows that SHAP compares an instance with: all of the background, or a few that stand for it."""

from collections.abc import Collection

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit

Codes = NDArray[np.float64]


@attrs.frozen
class Reference:
    """Which rows of the background fill in a feature that is taken away.

    They are chosen by what they hold, never by where they stand.

    Parameters
    ----------
    kind : str
        "rows" (all), "median" (one row), "kmeans" (real rows near so many centres) or "sample".
    count : int
        How many rows; 0 where the kind says it.

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
        """Read the parameter `background`: rows, median, kmeans:k or sample:n."""
        kind, _, count = str(text).partition(":")
        if text in ("rows", "median"):
            return cls(kind)
        if kind in ("kmeans", "sample") and count.isdecimal() and int(count) > 0:
            return cls(kind, int(count))
        raise faithkit.errors.ParameterError(
            f"shap: background must be rows, median, kmeans:k or sample:n, got {text!r}."
        )

    def rows(self, codes: Codes, categorical: Collection[int]) -> Codes:
        """Return the reference rows of a background, both as an Encoder's codes."""
        if self.kind == "median":
            return np.array([[_middle(column, j in categorical) for j, column in enumerate(codes.T)]])
        ordered = codes[_order(codes)]
        if self.kind == "kmeans":
            return _near_centres(ordered, categorical, self.count)
        return ordered[: self.count] if self.kind == "sample" else ordered


def _order(codes: Codes) -> NDArray[np.int64]:
    """Return an order of the rows that depends on what they hold: always the same, and as good as random.

    Copies of a row are numbered, so that they do not stand together: a sample has its share of each row.
    """
    words = _words(codes)
    copy = pd.DataFrame(words).groupby([0, 1]).cumcount()
    return np.lexsort(_words(np.column_stack([words, copy])).T)


def _words(codes: Codes) -> NDArray[np.uint32]:
    """Return two numbers per row that name its content."""
    return np.column_stack([faithkit.plugin.row_seeds(codes, seed=seed) for seed in (0, 1)])


def _middle(column: Codes, is_category: bool) -> float:
    """Return a value that occurs: the middle one, the lower of two, and of categories the most frequent."""
    present = np.sort(column[~np.isnan(column)])
    if not len(present):
        return np.nan
    if is_category:
        return float(np.bincount(present.astype(np.int64)).argmax())
    return float(present[(len(present) - 1) // 2])


def _near_centres(codes: Codes, categorical: Collection[int], k: int) -> Codes:
    """Return the row nearest to each of k centres: real rows, since no category lies between two others."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    _, first, copies = np.unique(_words(codes), axis=0, return_index=True, return_counts=True)
    rows = codes[first]
    if len(rows) <= k:
        return rows
    points = np.hstack([_points(column, j in categorical) for j, column in enumerate(rows.T)])
    centres = KMeans(k, n_init=1, random_state=0).fit(points, sample_weight=copies).cluster_centers_
    return rows[np.unique(pairwise_distances_argmin(centres, points))]


def _points(column: Codes, is_category: bool) -> Codes:
    """Return coordinates in which another category is as far away as a standard deviation."""
    if is_category:
        return (column[:, None] == np.unique(column)) / np.sqrt(2)
    filled = np.nan_to_num(column, nan=np.nan_to_num(_middle(column, False)))
    return filled[:, None] / (filled.std() or 1.0)
