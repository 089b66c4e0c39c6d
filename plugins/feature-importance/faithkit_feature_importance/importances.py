"""Read and check feature importances, order them, and find the largest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit

DEFAULT_RELATION = "near-in-top-features"
ROWS_PER_BATCH = 16_384  # so that a batch stays in the processor's cache


def default_relation(X: Any) -> str | None:
    """Return the default relation of importances of these rows. Only tables have one.

    Examples
    --------
    >>> default_relation(np.zeros((5, 3))), default_relation(np.zeros((5, 8, 8))), default_relation(["a"])
    ('near-in-top-features', None, None)
    """
    is_table = getattr(X, "ndim", None) == 2 and not hasattr(X, "tocsr")
    return DEFAULT_RELATION if is_table else None


def read_importances(
    component: str, explanations: faithkit.Explanations, *, offsets: bool = True
) -> NDArray[np.float64]:
    """Check explanations and return their importances as float64, with or without the trailing offsets.

    Examples
    --------
    >>> phi = faithkit.Explanations.vectors([[1, 2, 9]], shared={"offsets": 1})
    >>> read_importances("rank", phi, offsets=False)
    array([[1., 2.]])
    """
    if explanations.kind != "vector":
        raise faithkit.errors.InputError(
            f"{component} reads feature importances (kind 'vector'), and these explanations are of kind "
            f"{explanations.kind!r}: leave it out, or choose an explainer such as shap or lime."
        )
    values = np.asarray(explanations.values, dtype=np.float64)
    if not offsets:
        values = values[:, : values.shape[1] - explanations.shared.get("offsets", 0)]
    return values


def argsort_rows(values: NDArray[np.float64]) -> NDArray[np.unsignedinteger]:
    """Return the columns of every row, ordered from the smallest value to the largest: a stable argsort.

    Equal values keep the order of their columns, −0.0 equals 0.0, and NaN comes last.

    Examples
    --------
    >>> argsort_rows(np.array([[0.3, np.nan, -0.2, 0.3]]))
    array([[2, 0, 3, 1]], dtype=uint8)
    """
    order = np.empty(values.shape, dtype=np.min_scalar_type(max(values.shape[1] - 1, 0)))
    for start in range(0, len(values), ROWS_PER_BATCH):
        batch = slice(start, start + ROWS_PER_BATCH)
        order[batch] = np.argsort(values[batch], axis=1, kind="stable")
    return order


def mark_largest(values: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    """Mark the k values of largest absolute value in every row. Zeros and NaN are never marked.

    Absolute values are ranked by `argsort_rows`, so of equal values the later columns are marked.

    Examples
    --------
    >>> mark_largest(np.array([[0.1, -0.3, np.nan, 0.1], [0.0, 0.2, 0.0, 0.0]]), k=2)
    array([[False,  True, False,  True],
           [False,  True, False, False]])
    """
    marked = np.empty(values.shape, dtype=bool)
    for start in range(0, len(values), ROWS_PER_BATCH):
        batch = slice(start, start + ROWS_PER_BATCH)
        marked[batch] = _mark_largest_in_batch(np.abs(values[batch]), k)
    return marked


def mark_top_share(sizes: NDArray[np.float64], share: float, most: int) -> NDArray[np.bool_]:
    """Mark, in every row, the fewest values that carry a share of the row's sum, at most `most`.

    Values must not be negative. Of equal values the earlier columns are marked; zeros never are.

    Examples
    --------
    >>> mark_top_share(np.array([[0.1, 0.6, 0.2, 0.1], [0.0, 0.0, 0.0, 0.0]]), share=0.8, most=5)
    array([[False,  True,  True, False],
           [False, False, False, False]])
    """
    order = argsort_rows(-sizes)[:, :most]
    largest = np.take_along_axis(sizes, order, axis=1)
    sum_before = largest.cumsum(axis=1) - largest
    enough = share * sizes.sum(axis=1, keepdims=True) * (1 - 1e-9)  # rounding must not ask for one more
    marked = np.zeros(sizes.shape, dtype=bool)
    np.put_along_axis(marked, order, sum_before < enough, axis=1)
    return marked


def _mark_largest_in_batch(sizes: NDArray[np.float64], k: int) -> NDArray[np.bool_]:
    sizes[np.isnan(sizes)] = 0.0
    edge = sizes.shape[1] - k
    marked = (sizes >= np.partition(sizes, edge, axis=1)[:, edge, None]) & (sizes > 0)
    # np.partition is twice as fast as sorting, but does not order equal values
    tied_rows = np.flatnonzero(np.count_nonzero(marked, axis=1) > k)
    if len(tied_rows):
        marked[tied_rows] = False
        marked[tied_rows[:, None], argsort_rows(sizes[tied_rows])[:, edge:]] = True
    return marked
